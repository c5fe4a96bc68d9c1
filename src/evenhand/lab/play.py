"""play: the ten lines in which a policy, a world and a reviewer meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from evenhand._internal.randomness import Seed
from evenhand.auditors import Arrival, Auditor, Truth, arriving
from evenhand.baselines import Policy
from evenhand.environments import FairEnvironment
from evenhand.errors import InvalidInput
from evenhand.lab.account import Account
from evenhand.records.decision import Decision


class Played(NamedTuple):
    """One round: the decision that was made, and the reviews that then came in, each with its own decision."""

    decision: Decision
    reviews: tuple[Arrival, ...]


def decisions(
    policy: Policy, world: FairEnvironment, auditor: Auditor, *, rounds: int, seed: Seed = None
) -> Iterator[Played]:
    """The decisions of so many rounds, the policy learning from every outcome and from every review that comes in.

    `seed` is the world's: policies played with the same one meet the same candidates and the same luck. The world may
    watch the policy, and draws the next candidates when the policy has learned: an adversary in it sees all that the
    policy knows. Reviews that are out when the rounds are over are not waited for.
    """
    world.watch(policy)
    contexts, _ = world.reset(seed=seed)
    for _ in range(rounds):
        decision = policy.decide(contexts)
        played = Played(decision, tuple(arriving(auditor, decision)))
        _teach(policy, decision, world.settle(decision.chosen), played.reviews)
        yield played
        contexts = world.advance()


def _teach(policy: Policy, decision: Decision, rewards: Mapping[int, float], reviews: Sequence[Arrival]) -> None:
    """Outcomes together with the first review of the same decision, if there is one; late and further ones alone."""
    own = next((i for i, (seen, _) in enumerate(reviews) if seen is decision), None)
    policy.learn(decision, rewards=rewards, review=None if own is None else reviews[own][1])
    for i, (seen, review) in enumerate(reviews):
        if i != own:
            policy.learn(seen, review=review)


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
    """Let `policy` decide for so many rounds and hold it to account; `each` is called after every round.

    The policy hears the auditor and is judged by the truth: who knows the true distances, unless said otherwise the
    auditor. One who errs, or looks at a few pairs only, does not know them, and the truth must be given.

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
    known, account = _truth(auditor, truth), Account(epsilon)
    for decision, reviews in decisions(policy, world, auditor, rounds=rounds, seed=seed):
        account.add(decision, world.expected_rewards(decision.contexts), known, reviews)
        each()
    return account


def _truth(auditor: Auditor, truth: Truth | None) -> Truth:
    if truth is None and isinstance(auditor, Truth):
        return auditor
    if isinstance(truth, Truth):
        return truth
    raise InvalidInput(
        f"truth is {truth!r} and the auditor a {type(auditor).__name__}, who does not know it; allowed is an object "
        "with distances(contexts) and excess(decision), such as truth=MahalanobisAuditor(A)"
    )
