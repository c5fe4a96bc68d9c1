"""play: the ten lines in which a policy, a world and a reviewer meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evenhand.auditors import MahalanobisAuditor
from evenhand.baselines import Policy
from evenhand.decision import Decision
from evenhand.environments import FairEnvironment
from evenhand.lab.account import Account
from evenhand.randomness import Seed


def decisions(
    policy: Policy, world: FairEnvironment, auditor: MahalanobisAuditor, *, rounds: int, seed: Seed = None
) -> Iterator[Decision]:
    """The decisions of so many rounds, the policy learning from every outcome and a review of every decision.

    `seed` is the world's: policies played with the same one meet the same candidates and the same luck. The world may
    watch the policy, and draws the next candidates when the policy has learned: an adversary in it sees all that the
    policy knows.
    """
    world.watch(policy)
    contexts, _ = world.reset(seed=seed)
    for _ in range(rounds):
        decision = policy.decide(contexts)
        policy.learn(decision, rewards=world.settle(decision.chosen), review=auditor.review(decision))
        yield decision
        contexts = world.advance()


def play(
    policy: Policy,
    world: FairEnvironment,
    auditor: MahalanobisAuditor,
    *,
    rounds: int,
    epsilon: float,
    seed: Seed = None,
    each: Callable[[], object] = lambda: None,
) -> Account:
    """Let `policy` decide for so many rounds and hold it to account; `each` is called after every round.

    >>> from evenhand import FairBandit
    >>> from evenhand.environments import LinearEnvironment
    >>> world = LinearEnvironment([0.6, 0.8], n_candidates=3)
    >>> account = play(FairBandit(2, seed=0), world, MahalanobisAuditor([[0.5, 0.0]]), rounds=5, epsilon=0.01, seed=1)
    >>> account.rounds
    5
    """
    account = Account(epsilon)
    for decision in decisions(policy, world, auditor, rounds=rounds, seed=seed):
        account.add(decision, world.expected_rewards(decision.contexts), auditor)
        each()
    return account
