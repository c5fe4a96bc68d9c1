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

from evenhand._internal.archive import UNREADABLE, read_archive, write_archive
from evenhand._internal.checks import is_whole
from evenhand._internal.randomness import Seed, as_generator, generator_from
from evenhand.allocation import draw_from, fair_distribution_within
from evenhand.bandit._history import Given, History
from evenhand.bandit._inputs import (
    INCONSISTENT,
    check_capacity,
    check_part,
    check_review,
    check_rewards,
    check_yes_or_no,
    misleading,
)
from evenhand.bandit.margin import Margin
from evenhand.bandit.pairs_to_review import PairToReview, pairs_to_review
from evenhand.bandit.safeguards import Safeguards
from evenhand.certificates import Certificate, certify
from evenhand.errors import DamagedFile, EvenhandError, ForeignDecision, InvalidInput
from evenhand.metrics import BayesPoint, Distances, Learned, MetricLearner, ReviewerReport, Verdicts
from evenhand.metrics.features import Structure
from evenhand.metrics.reviewer_errors import check_error_rate
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Decision, Review, check_reviewer
from evenhand.records.signature import is_sealed, key_for, seal
from evenhand.rewards import RewardModel, RidgeUCB

FORMAT = 2
"""The version of the file format; raised whenever an older evenhand could not read the file."""


class FairBandit:
    """Plays the most rewarding odds that similarity allows, and learns both from what comes back.

    n_features: the length d of a context. capacity: how many candidates may be chosen at most, a whole number, or
    None for everybody. epsilon: unfairness up to this does not matter; None sharpens it with the rounds. structure:
    "full", or "diagonal" if features are known to count separately. seed: an int, a Generator, or None. metric,
    reward: parts to use instead of the default ones; `epsilon`, `structure` and `reviewer_error` speak of the default
    metric. reviewer_error: how often an answer on a pair is wrong, or None to learn it while running, for each reviewer
    by name; then a reviewer who is wrong more often than right is found out (`reviewers()`, a MisleadingReviewer
    warning) and not listened to.

    Promises for reviewers who follow no metric of the known class:

    - target_unfair_share: the share of rounds with a flag stays at or below it in the long run, whoever flags; see
      `Margin` for the exact statement and its proof.
    - max_unfair_rounds: after so many rounds with a flag only what the reviews so far prove to be fair is played, for
      ever, or equal odds where nothing is proved. A reviewer who keeps to a metric of the structure then never flags
      again. Should anybody do so nevertheless, no metric fits, and equal odds are played from then on: one flagged
      round more than the cap at most, whoever flags. Decisions made before a flag came in may still be flagged late.

    keep_reviews: keep every answer, so that one can be taken back (`withdraw`) and one that is given twice counts
    once. Memory then grows with every review; a desk keeps a ledger instead.

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
        reviewer_error: float | None = 1e-3,
        target_unfair_share: float | None = None,
        max_unfair_rounds: int | None = None,
        keep_reviews: bool = False,
    ) -> None:
        self.capacity = check_capacity(capacity)
        check_error_rate(reviewer_error, "reviewer_error")
        check_yes_or_no(keep_reviews, "keep_reviews")
        self.metric = (
            metric
            if metric is not None
            else BayesPoint(n_features, structure=structure, epsilon=epsilon, error_rate=reviewer_error)
        )
        self.reward = reward if reward is not None else RidgeUCB(n_features)
        check_part(self.metric, MetricLearner, "metric", n_features)
        check_part(self.reward, RewardModel, "reward", n_features)
        self.n_features = int(n_features)
        self.rounds = 0
        self.conflicts = 0
        self.found_out: frozenset[str | None] = frozenset()
        self.safeguards = Safeguards(self.metric.space, Margin(target_unfair_share), max_unfair_rounds)
        self.history = History() if keep_reviews else None
        self._first_metric = self.metric.saved() if keep_reviews else None
        self._rng = as_generator(seed)
        # Two bandits made alike, from one seed, count as one; any difference between them makes another key.
        self._key = key_for(self._rng.bytes(16), self._parts())

    def __repr__(self) -> str:
        return f"FairBandit({self.n_features}, capacity={self.capacity}, metric={self.metric}, rounds={self.rounds})"

    def decide(self, contexts: Any) -> Decision:
        """Choose among the candidates with these contexts (k, d), an array or a data frame; k may change each round."""
        decision = self.propose(contexts, number=self.rounds, lots=self._rng)
        self.count_decisions()
        return decision

    def propose(self, contexts: Any, *, number: int, lots: np.random.Generator) -> Decision:
        """What would be decided in round `number`, drawn with `lots`; nothing changes.

        For whoever counts rounds and draws lots outside, as a desk does whose decisions are numbered by its ledger. A
        proposal that was carried out is to be counted before anything is learned from it.
        """
        contexts = as_contexts(contexts, self.n_features)
        rewards = self.reward.optimistic(contexts)
        distances = self.safeguards.distances_that_matter(self.metric, contexts)
        best = fair_distribution_within(rewards, distances, self.capacity)
        odds, tight = best.probabilities, best.tight_pairs
        chosen = draw_from(odds, best.programme.capacity, lots)
        name = seal(self._key, number, contexts, odds, chosen, tight)
        return Decision(name, number, contexts, odds, chosen, self.capacity, rewards, tight, best.worst_residual)

    def count_decisions(self, n: int = 1) -> None:
        """So many proposals more were carried out."""
        self.rounds += n
        self.safeguards.decided(n)

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Learn from what came back of a decision, at any time, in any order: outcomes of chosen candidates, a review.

        Rewards are expected to lie in [-1, 1] unless the reward model says otherwise. Says what became of the review: a
        verdict that contradicts what was said before is left out and reported, in the answer and by an
        InconsistentReviews warning once all else is learned. After an error nothing has changed. The same outcome must
        not be given twice, nor the same review unless reviews are kept: nothing remembers that it was.
        """
        self._check_own(decision)
        candidates, outcomes = check_rewards(decision, rewards if rewards is not None else {})
        if review is not None:
            check_review(decision, review)
        before, found_out = self.reward.copied(), self.found_out
        try:
            self.reward.learn(decision.contexts[candidates], outcomes)
            learned = self._hear(decision, review) if review is not None else Learned()
        except BaseException:
            self.reward = before
            raise
        if learned.conflicts or self.found_out is not found_out:
            self._warn(learned, self.found_out - found_out)
        return learned

    def _hear(self, decision: Decision, review: Review) -> Learned:
        """One review, unless it is kept already."""
        if self.history is None:
            return self._take_in(decision, review)
        if self.history.has(decision, review):
            return Learned()
        learned = self._take_in(decision, review)
        self.history.add(Given(self.rounds, decision, review))
        return learned

    def _take_in(self, decision: Decision, review: Review) -> Learned:
        """What the metric and the safeguards learn from a review; of pairs with equal odds nothing can be learned."""
        verdicts, safeguards = Verdicts.of(decision, review), self.safeguards.copied()
        safeguards.hear(decision, review, verdicts)
        if review.any_unfair is None:
            learned = self.metric.learn(verdicts)
        elif len(verdicts):
            learned = self.metric.learn_bit(verdicts, any_unfair=review.any_unfair)
        else:
            learned = Learned()
        self.safeguards = safeguards
        self._notice(learned)
        return learned

    def _notice(self, learned: Learned) -> None:
        """Count conflicts, and who was found out."""
        self.conflicts += len(learned.conflicts)
        reports = self.metric.reviewers()
        if reports:
            self.found_out = self.found_out | {name for name, report in reports.items() if report.misleads}

    def _warn(self, learned: Learned, found_out: frozenset[str | None]) -> None:
        if learned.conflicts:
            warnings.warn(INCONSISTENT, stacklevel=3)
        for name in found_out:
            warnings.warn(misleading(self.reviewers()[name]), stacklevel=3)

    def learn_pair(self, x: Any, y: Any, *, gap: float, unfair: bool, reviewer: str | None = None) -> Learned:
        """Learn that two contexts treated with this gap would be unfair, or would not: an answer without a decision.

        Such answers prove as much as reviews do; they flag no round.
        """
        found_out, learned = self.found_out, self._take_in_pair(x, y, gap, unfair, reviewer)
        if self.history is not None:
            x, y = np.asarray(x, dtype=np.float64).tolist(), np.asarray(y, dtype=np.float64).tolist()
            pair = {"x": x, "y": y, "gap": float(gap), "unfair": bool(unfair), "reviewer": reviewer}
            self.history.add(Given(self.rounds, None, None, pair))
        self._warn(learned, self.found_out - found_out)
        return learned

    def _take_in_pair(self, x: Any, y: Any, gap: float, unfair: bool, reviewer: str | None) -> Learned:
        check_reviewer(reviewer)
        learned = self.metric.learn_pair(x, y, gap=gap, unfair=unfair, reviewer=reviewer)
        self.safeguards.hear_answer(Verdicts.between(x, y, gap=gap, unfair=bool(unfair), reviewer=reviewer))
        self._notice(learned)
        return learned

    def withdraw(self, decision: Decision, review: Review) -> None:
        """Take a review back: all that was learned becomes what it would be, had it never been given.

        Odds that were played in the meantime stay as they were; every other answer is heard again, in its order. Needs
        keep_reviews. O(number of answers).
        """
        self._check_own(decision)
        if self.history is None:
            raise InvalidInput("this bandit keeps no reviews; make it with keep_reviews=True to withdraw one later")
        check_review(decision, review)
        if not self.history.has(decision, review):
            raise InvalidInput(f"no such review of decision {decision.id!r} was given: {review}")
        self._learn_anew(self.history.without(decision, review))

    def _learn_anew(self, history: History) -> None:
        """Forget everything reviewers said, and hear what is in this history."""
        fresh = copy.copy(self)
        fresh.metric = MetricLearner.restored(copy.deepcopy(self._first_metric or {}))
        fresh.safeguards, fresh.conflicts, fresh.found_out = self.safeguards.anew(), 0, frozenset()
        decided = 0
        for answer in history:
            fresh.safeguards.decided(answer.at - decided)
            decided = answer.at
            if answer.decision is not None and answer.review is not None:
                fresh._take_in(answer.decision, answer.review)
            elif answer.pair is not None:
                fresh._take_in_pair(**answer.pair)
        fresh.safeguards.decided(self.rounds - decided)
        self.metric, self.safeguards = fresh.metric, fresh.safeguards
        self.conflicts, self.found_out, self.history = fresh.conflicts, fresh.found_out, history

    # Asking.

    def pairs_to_review(self, decision: Decision, n: int) -> tuple[PairToReview, ...]:
        """The n pairs of a decision whose answer teaches most, with the reason for each, the most telling first."""
        self._check_own(decision)
        if not is_whole(n) or n < 1:
            raise InvalidInput(f"n is {n!r}; allowed is a whole number of pairs >= 1")
        return pairs_to_review(self.metric, decision, int(n))

    def certify(self, decision: Decision) -> Certificate:
        """What can be said of each pair of a decision, given the reviews so far: proved fair, likely fair, or unproven.

        A proof names the earlier verdicts it rests on; `evenhand.certificates.check` checks it without this library.
        """
        self._check_own(decision)
        flagged = self.safeguards.flagged_pairs(decision)
        return certify(decision, self.safeguards.evidence, self.metric.chance_unfair, flagged)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """What is known of each reviewer's errors, by name; nothing unless reviewer_error is None."""
        return self.metric.reviewers()

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
            "found_out": sorted(self.found_out, key=str),
            "key": self._key.hex(),
            "rng": self._rng.bit_generator.state,
            "safeguards": self.safeguards.state(),
            "history": None if self.history is None else self.history.state(),
            "first_metric": self._first_metric,
            **self._parts(),
        }

    def _parts(self) -> dict[str, Any]:
        return {
            "n_features": self.n_features,
            "capacity": self.capacity,
            "metric": self.metric.saved(),
            "reward": self.reward.saved(),
            **self.safeguards.settings(),
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
        bandit.safeguards = Safeguards.from_state(state["safeguards"])
        bandit.history = None if state["history"] is None else History.from_state(state["history"])
        bandit._first_metric = state["first_metric"]
        bandit.rounds, bandit.conflicts = int(state["rounds"]), int(state["conflicts"])
        bandit.found_out = frozenset(state["found_out"])
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
