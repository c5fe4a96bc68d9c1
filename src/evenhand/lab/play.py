"""play: the ten lines in which a policy, a world and a reviewer meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evenhand._internal.randomness import Seed
from evenhand.auditors import Arrival, Auditor, Truth, arriving
from evenhand.bandit import FairBandit
from evenhand.baselines import Policy
from evenhand.environments import FairEnvironment
from evenhand.errors import InvalidInput
from evenhand.lab.account import Account
from evenhand.records.decision import Decision


def decisions(
    policy: Policy, world: FairEnvironment, auditor: Auditor, *, rounds: int, seed: Seed = None
) -> Iterator[tuple[Decision, Sequence[Arrival]]]:
    """The decision of each round, and the reviews that arrived after it, from which the policy has learned.

    `seed` is the world's: policies played with the same seed meet the same candidates and outcomes. The world watches
    the policy and draws the next candidates after the policy has learned, so an adversary sees everything the policy
    knows. Reviews still pending at the end are dropped.
    """
    world.watch(policy)
    contexts, _ = world.reset(seed=seed)
    for _ in range(rounds):
        decision = policy.decide(contexts)
        reviews = tuple(arriving(auditor, decision))
        _learn(policy, decision, world.settle(decision.chosen), reviews)
        yield decision, reviews
        contexts = world.advance()


def _learn(policy: Policy, decision: Decision, rewards: Mapping[int, float], reviews: Sequence[Arrival]) -> None:
    """Outcomes together with the first review of the same decision, if there is one; late and further ones alone."""
    own = next((i for i, (about, _) in enumerate(reviews) if about is decision), None)
    policy.learn(decision, rewards=rewards, review=None if own is None else reviews[own][1])
    for i, (about, review) in enumerate(reviews):
        if i != own:
            policy.learn(about, review=review)


def _flags_left(policy: Policy) -> int | None:
    return policy.flags_left if isinstance(policy, FairBandit) else None


def play(
    policy: Policy,
    world: FairEnvironment,
    auditor: Auditor,
    *,
    rounds: int,
    epsilon: float,
    seed: Seed = None,
    truth: Truth | None = None,
    each: Callable[[], object] = lambda: None,
) -> Account:
    """Let `policy` decide for this many rounds and keep its account; `each` is called after every round.

    The policy learns from the auditor and is scored by the truth, which by default is the auditor. An auditor that
    errs, or reviews a few pairs only, does not know the true distances; then pass `truth`.

    >>> from evenhand import FairBandit
    >>> from evenhand.auditors import MahalanobisAuditor, NoisyAuditor
    >>> from evenhand.environments import LinearEnvironment
    >>> world, exact = LinearEnvironment([0.6, 0.8], n_candidates=3), MahalanobisAuditor([[0.5, 0.0]])
    >>> play(FairBandit(2, seed=0), world, exact, rounds=5, epsilon=0.01, seed=1).rounds
    5
    >>> noisy = NoisyAuditor(exact, 0.1, seed=2)
    >>> play(FairBandit(2, seed=0), world, noisy, rounds=5, epsilon=0.01, seed=1, truth=exact).rounds
    5
    """
    known, account = auditor if truth is None else truth, Account(epsilon)
    if not isinstance(known, Truth):
        raise InvalidInput(
            "truth must have distances(contexts) and excess(decision), as truth=MahalanobisAuditor(A) does, "
            f"got {truth!r} with a {type(auditor).__name__}"
        )
    account.promised(_flags_left(policy))
    for decision, reviews in decisions(policy, world, auditor, rounds=rounds, seed=seed):
        account.add(decision, world.expected_rewards(decision.contexts), known, reviews)
        account.promised(_flags_left(policy))
        each()
    return account
