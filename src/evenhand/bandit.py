"""FairBandit: decide round by round, learn from outcomes and reviews. Start reading here.

contexts --> decide: rewards (optimistic) + metric (distances) --> allocation --> draw --> Decision
outcome | review, with its Decision --> learn
"""

from __future__ import annotations

import copy
import numbers
import os
import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from evenhand.allocation import draw, fair_distribution
from evenhand.archive import read_archive, write_archive
from evenhand.contexts import as_contexts
from evenhand.decision import Decision, Review
from evenhand.errors import DamagedFile, EvenhandError, ForeignDecision, InconsistentReviews, InvalidInput, NotChosen
from evenhand.metrics import BayesPoint, Distances, Learned, MetricLearner, Verdicts
from evenhand.metrics.features import Floats, Structure
from evenhand.randomness import Seed, as_generator, generator_from
from evenhand.rewards import RewardModel, RidgeUCB
from evenhand.seal import is_sealed, sealed

FORMAT = 1
"""The version of the file format; raised whenever an older evenhand could not read the file."""


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
      epsilon)) rounds, m = d(d+1)/2, whatever the contexts, and lower and upper ends that always hold the truth.
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
        for part, name in ((self.metric, "metric"), (self.reward, "reward")):
            if part.n_features != n_features:
                raise InvalidInput(f"the {name} was made for {part.n_features} features, the bandit for {n_features}")
        self.n_features = int(n_features)
        self.rounds = 0
        self.conflicts = 0
        self._rng = as_generator(seed)
        self._key = self._rng.bytes(16)

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

        Says what became of the review. A verdict that no metric fits together with what was said before is left out and
        reported, in the answer and as an InconsistentReviews warning. After an error nothing has changed.
        """
        self._check_own(decision)
        candidates, outcomes = _check_rewards(decision, rewards if rewards is not None else {})
        if review is not None:
            _check_review(decision, review)
        before = copy.deepcopy(self.reward)
        self.reward.learn(decision.contexts[candidates], outcomes)
        try:
            learned = self._hear(decision, review) if review is not None else Learned()
        except Exception:
            self.reward = before
            raise
        self.conflicts += len(learned.conflicts)
        if learned.conflicts:
            warnings.warn(_inconsistency(decision, learned), stacklevel=2)
        return learned

    def _hear(self, decision: Decision, review: Review) -> Learned:
        verdicts = Verdicts.of(decision, review)
        if review.any_unfair and len(verdicts) == 0:
            return Learned()  # all odds were equal: that something was unfair is no flag
        if review.any_unfair:
            return self.metric.learn_some_unfair(verdicts)
        return self.metric.learn(verdicts)

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
            "n_features": self.n_features,
            "capacity": self.capacity,
            "rounds": self.rounds,
            "conflicts": self.conflicts,
            "key": self._key.hex(),
            "rng": self._rng.bit_generator.state,
            "metric": self.metric.saved(),
            "reward": self.reward.saved(),
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The bandit that was saved: it decides and learns on as if it had never stopped, to the bit."""
        content = read_archive(path, kind="FairBandit", version=FORMAT)
        try:
            return cls.from_state(content)
        except EvenhandError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedFile(f"{path} was damaged: it lacks or garbles a part of the bandit ({error!r})") from None

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
    if isinstance(capacity, bool) or not isinstance(capacity, (int, np.integer)) or capacity < 1:
        raise InvalidInput(f"capacity is {capacity!r}; allowed is a whole number >= 1, or None for everybody")
    return int(capacity)


def _check_rewards(decision: Decision, rewards: Mapping[int, float]) -> tuple[list[int], Floats]:
    if not isinstance(rewards, Mapping):
        raise InvalidInput(f"rewards is {rewards!r}; allowed is a dict from a chosen candidate's index to a number")
    for candidate, reward in rewards.items():
        if candidate not in decision.chosen:
            raise NotChosen(f"candidate {candidate!r} was not chosen; outcomes are known only of {decision.chosen}")
        if isinstance(reward, (bool, str)) or not isinstance(reward, numbers.Real) or not np.isfinite(reward):
            raise InvalidInput(f"the reward of candidate {candidate} is {reward!r}; allowed is a finite number")
    return [int(i) for i in rewards], np.array([float(r) for r in rewards.values()], dtype=np.float64)


def _check_review(decision: Decision, review: Review) -> None:
    if not isinstance(review, Review):
        raise InvalidInput(f"review is {review!r}; allowed are Review.complete, Review.partial and Review.one_bit")
    review.check_fits(decision.n_candidates)


def _inconsistency(decision: Decision, learned: Learned) -> InconsistentReviews:
    pairs = ", ".join(str(pair) for pair in learned.conflicts)
    return InconsistentReviews(
        f"no metric fits the verdict on {pairs} of decision {decision.id} together with what was said before; "
        "it was left out, and all that was learned before stays"
    )
