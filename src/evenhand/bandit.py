"""FairBandit: decide round by round, learn from outcomes and reviews. Start reading here.

contexts --> decide: rewards (optimistic) + metric (distances) --> allocation --> draw --> Decision
outcome | review, with its Decision --> learn
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from evenhand.allocation import draw, fair_distribution
from evenhand.archive import UNREADABLE, read_archive, write_archive
from evenhand.checks import is_number, is_whole
from evenhand.contexts import as_contexts
from evenhand.decision import Decision, Review
from evenhand.errors import DamagedFile, EvenhandError, ForeignDecision, InconsistentReviews, InvalidInput, NotChosen
from evenhand.metrics import BayesPoint, Distances, Learned, MetricLearner, Verdicts
from evenhand.metrics.features import Floats, Structure
from evenhand.randomness import Seed, as_generator, generator_from
from evenhand.rewards import RewardModel, RidgeUCB
from evenhand.seal import is_sealed, key_for, sealed

FORMAT = 1
"""The version of the file format; raised whenever an older evenhand could not read the file."""


INCONSISTENT = InconsistentReviews(
    "verdicts contradict what was said before; they were left out, and learn() returned them as conflicts "
    "(a reviewer's slip, or a likeness that no metric of this structure has)"
)


class FairBandit:
    """Plays the most rewarding odds that similarity allows, and learns both from what comes back.

    n_features: the length d of a context. capacity: how many candidates may be chosen at most, a whole number, or
    None for everybody. epsilon: unfairness up to this does not matter; None sharpens it with the rounds. structure:
    "full", or "diagonal" if features are known to count separately. seed: an int, a Generator, or None. metric,
    reward: parts to use instead of the default ones; `epsilon` and `structure` speak of the default metric.

    What the default is made of, and what each part guarantees:

    - allocation, water-filling with ropes: exact. No odds of higher (optimistic) value keep to the distances played.
    - metrics.BayesPoint: no worst-case guarantee; the fewest unfair pairs of all learners in measurement, none of
      them late. For certainty in the worst case pass metrics.ProjectedVolume: unfair beyond epsilon in O(m log(m/
      epsilon)) rounds, m = d(d+1)/2, whatever the contexts, and ends that hold the truth once ||G||_F <= its bound.
    - rewards.RidgeUCB, self-normalised widths: regret O(d sqrt(T) log T) from not knowing the rewards, with
      probability 0.95 once its estimate of the noise scale has settled; pass `noise` to have that from the start.

    >>> bandit = FairBandit(n_features=2, epsilon=0.05, seed=0)
    >>> decision = bandit.decide([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> learned = bandit.learn(decision, rewards={i: 0.7 for i in decision.chosen}, review=Review.complete(unfair=[]))
    >>> bandit.rounds
    1
    """

    def __init__(
        self,
        n_features: int,
        *,
        capacity: int | None = 1,
        epsilon: float | None = None,
        structure: Structure = "full",
        seed: Seed = None,
        metric: MetricLearner | None = None,
        reward: RewardModel | None = None,
    ) -> None:
        self.capacity = _check_capacity(capacity)
        self.metric = metric if metric is not None else BayesPoint(n_features, structure=structure, epsilon=epsilon)
        self.reward = reward if reward is not None else RidgeUCB(n_features)
        for part, kind, name in ((self.metric, MetricLearner, "metric"), (self.reward, RewardModel, "reward")):
            if not isinstance(part, kind):
                raise InvalidInput(f"{name} is {part!r}; allowed is an object of a {kind.__name__} class")
            if part.n_features != n_features:
                raise InvalidInput(f"the {name} was made for {part.n_features} features, the bandit for {n_features}")
        self.n_features = int(n_features)
        self.rounds = 0
        self.conflicts = 0
        self._rng = as_generator(seed)
        # Two bandits made alike, from one seed, count as one; any difference between them makes another key.
        self._key = key_for(self._rng.bytes(16), self._parts())

    def __repr__(self) -> str:
        return f"FairBandit({self.n_features}, capacity={self.capacity}, metric={self.metric}, rounds={self.rounds})"

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d), an array or a data frame; k may change each round."""
        contexts = as_contexts(contexts, self.n_features)
        rewards = self.reward.optimistic(contexts)
        distances = self.metric.playable_distances(contexts)
        best = fair_distribution(rewards, distances, self.capacity)
        chosen = draw(best.probabilities, self.capacity, self._rng)
        decision = Decision(
            id="",
            round=self.rounds,
            contexts=contexts,
            probabilities=best.probabilities,
            chosen=chosen,
            capacity=self.capacity,
            optimistic_rewards=rewards,
            tight_pairs=best.tight_pairs,
        )
        self.rounds += 1
        return sealed(decision, self._key)

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Learn from what came back of a decision, at any time, in any order: outcomes of chosen candidates, a review.

        Rewards are expected to lie in [-1, 1] unless the reward model says otherwise. Says what became of the review: a
        verdict that contradicts what was said before is left out and reported, in the answer and by an
        InconsistentReviews warning once all else is learned. After an error nothing has changed. The same outcome or
        review must not be given twice: nothing remembers that it was.
        """
        self._check_own(decision)
        candidates, outcomes = _check_rewards(decision, rewards if rewards is not None else {})
        if review is not None:
            _check_review(decision, review)
        before = copy.deepcopy(self.reward)
        try:
            self.reward.learn(decision.contexts[candidates], outcomes)
            learned = self._hear(decision, review) if review is not None else Learned()
        except BaseException:
            self.reward = before
            raise
        self.conflicts += len(learned.conflicts)
        if learned.conflicts:
            warnings.warn(INCONSISTENT, stacklevel=2)
        return learned

    def _hear(self, decision: Decision, review: Review) -> Learned:
        verdicts = Verdicts.of(decision, review)
        if not review.any_unfair:
            return self.metric.learn(verdicts)
        # With equal odds for all, that something was unfair is no flag.
        return self.metric.learn_some_unfair(verdicts) if len(verdicts) else Learned()

    def learn_pair(self, x: Any, y: Any, *, gap: float, unfair: bool, reviewer: str | None = None) -> Learned:
        """Learn that two contexts treated with this gap would be unfair, or would not: an answer without a decision."""
        return self.metric.learn_pair(x, y, gap=gap, unfair=unfair, reviewer=reviewer)

    def distances(self, contexts: Any) -> Distances:
        """What is known of the distances between candidates: estimate, lower and upper end, each (k, k)."""
        return self.metric.distances(contexts)

    def reseed(self, seed: Seed) -> None:
        """Draw from another stream from now on, so that a copy of this bandit does not draw the same lots."""
        self._rng = as_generator(seed)

    # Saving.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of the bandit to a file, without pickle; an interrupted save leaves an older file as it was."""
        write_archive(path, kind="FairBandit", version=FORMAT, content=self.state())

    def state(self) -> dict[str, Any]:
        """All that the bandit is, in arrays, numbers, strings and dicts of them."""
        return {
            "rounds": self.rounds,
            "conflicts": self.conflicts,
            "key": self._key.hex(),
            "rng": self._rng.bit_generator.state,
            **self._parts(),
        }

    def _parts(self) -> dict[str, Any]:
        return {
            "n_features": self.n_features,
            "capacity": self.capacity,
            "metric": self.metric.saved(),
            "reward": self.reward.saved(),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The bandit that was saved: it decides and learns on as if it had never stopped, to the bit."""
        content = read_archive(path, kind="FairBandit", version=FORMAT)
        try:
            return cls.from_state(content)
        except (EvenhandError, *UNREADABLE, AttributeError, IndexError, np.linalg.LinAlgError) as error:
            raise DamagedFile(f"{path} cannot be read as a bandit: {error}") from None

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The bandit whose `state` this was, to the bit."""
        metric, reward = MetricLearner.restored(state["metric"]), RewardModel.restored(state["reward"])
        bandit = cls(state["n_features"], capacity=state["capacity"], metric=metric, reward=reward)
        bandit.rounds, bandit.conflicts = int(state["rounds"]), int(state["conflicts"])
        bandit._key = bytes.fromhex(state["key"])
        bandit._rng = generator_from(state["rng"])
        return bandit

    # Checking.

    def _check_own(self, decision: Decision) -> None:
        if not isinstance(decision, Decision):
            raise InvalidInput(f"decision is {decision!r}; allowed is what decide() returned")
        if not 0 <= decision.round < self.rounds or not is_sealed(decision, self._key):
            raise ForeignDecision(
                f"decision {decision.id!r} was not made by this bandit, or was changed since; "
                "allowed are decisions of its own, as decide() returned them"
            )


def _check_capacity(capacity: int | None) -> int | None:
    if capacity is None:
        return None
    if not is_whole(capacity) or capacity < 1:
        raise InvalidInput(f"capacity is {capacity!r}; allowed is a whole number >= 1, or None for everybody")
    return int(capacity)


def _check_rewards(decision: Decision, rewards: Mapping[int, float]) -> tuple[list[int], Floats]:
    if not isinstance(rewards, Mapping):
        raise InvalidInput(f"rewards is {rewards!r}; allowed is a dict from a chosen candidate's index to a number")
    for candidate, reward in rewards.items():
        if isinstance(candidate, (bool, np.bool_)) or candidate not in decision.chosen:
            raise NotChosen(f"candidate {candidate!r} was not chosen; outcomes are known only of {decision.chosen}")
        if not is_number(reward):
            raise InvalidInput(f"the reward of candidate {candidate} is {reward!r}; allowed is a finite number")
    return [int(i) for i in rewards], np.array([float(r) for r in rewards.values()], dtype=np.float64)


def _check_review(decision: Decision, review: Review) -> None:
    if not isinstance(review, Review):
        raise InvalidInput(f"review is {review!r}; allowed are Review.complete, Review.partial and Review.one_bit")
    review.check_fits(decision.n_candidates)
