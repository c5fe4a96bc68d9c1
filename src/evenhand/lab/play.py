"""play: the ten lines in which a policy, a world and a reviewer meet."""

from __future__ import annotations

from collections.abc import Callable

from evenhand.auditors import MahalanobisAuditor
from evenhand.baselines import Policy
from evenhand.environments import LinearEnvironment
from evenhand.lab.account import Account
from evenhand.randomness import Seed


def play(
    policy: Policy,
    world: LinearEnvironment,
    auditor: MahalanobisAuditor,
    *,
    rounds: int,
    epsilon: float,
    seed: Seed = None,
    each: Callable[[], object] = lambda: None,
) -> Account:
    """Let `policy` decide for so many rounds, learning from every outcome and a review of every decision.

    `seed` is the world's: policies played with the same one meet the same candidates and the same luck. `each` is
    called after every round, for a progress bar.

    >>> from evenhand import FairBandit
    >>> world = LinearEnvironment([0.6, 0.8], n_candidates=3)
    >>> account = play(FairBandit(2, seed=0), world, MahalanobisAuditor([[0.5, 0.0]]), rounds=5, epsilon=0.01, seed=1)
    >>> account.rounds
    5
    """
    account = Account(epsilon)
    contexts, _ = world.reset(seed=seed)
    for _ in range(rounds):
        decision = policy.decide(contexts)
        contexts, _, _, _, info = world.step(decision.chosen)
        policy.learn(decision, rewards=info["rewards"], review=auditor.review(decision))
        account.add(decision, world.expected_rewards(decision.contexts), auditor)
        each()
    return account
