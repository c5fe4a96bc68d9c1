"""FairBandit: decide round by round, learn from outcomes and reviews. Start reading here.

contexts --> decide: rewards (optimistic) + metric (distances) --> allocation --> draw --> Decision
outcome | review, with its Decision --> learn
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from evenhand._internal.archive import load_archive, write_archive
from evenhand._internal.checks import check_bool, check_share, check_whole, refusal
from evenhand._internal.randomness import Seed, as_generator, generator_from
from evenhand.allocation import draw_from
from evenhand.bandit.explain_metric import explain_metric
from evenhand.bandit.fit_check import FitCheck
from evenhand.bandit.fit_report import MODELLED, FitReport, protection, report_on_fit
from evenhand.bandit.pairs_to_review import PairToReview, pairs_to_review
from evenhand.bandit.parts import (
    check_capacity,
    check_learns_in,
    check_mode,
    check_names,
    check_part,
    metric_or_default,
)
from evenhand.bandit.safeguards import Margin, Safeguards, Target
from evenhand.certificates import Certificate, certify_from_log
from evenhand.errors import ForeignDecision, InconsistentReviews, MisleadingReviewer, NoMetricFits
from evenhand.metrics import (
    Comparisons,
    Distances,
    Learned,
    MetricLearner,
    Ratings,
    ReviewerReport,
    Verdicts,
)
from evenhand.metrics.features import Structure
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Mode, Review, check_reviewer
from evenhand.records.signatures import key_for, sign
from evenhand.rewards import RewardModel, RidgeUCB
from evenhand.schema import MetricExplanation, Schema

FORMAT = 3  # The version of the file format, raised whenever an older evenhand could not read the file.


class FairBandit:
    """Plays the most rewarding probabilities that fairness allows, and learns rewards and distances from feedback.

    n_features: the length d of a context. capacity: how many candidates may be chosen at most, or None for
    everybody. epsilon: unfairness up to this does not matter; None lowers it as rounds go by. structure: "diagonal"
    if features count separately, "full" if all may interact, "auto" if few of them do. seed: an int, a Generator or
    None. reviewer_error: the share of wrong verdicts, or None to learn from the answers what the reviewers are
    like, how often each of them errs above all; verdicts of a reviewer who is wrong more often than right are then
    ignored (`reviewers()`, a MisleadingReviewer warning). mode: "lottery" draws candidates with their probabilities;
    "shares" draws nobody, each gets that share of what was asked: the capacity may be any number > 0, and outcomes are
    learned as those of a share (`RewardModel.learn_shares`). metric, reward: parts that replace the default ones;
    `epsilon`, `structure` and `reviewer_error` are settings of the default metric, and must not contradict another one.

    The default parts, and what each guarantees:

    - allocation: exact. No probabilities of higher optimistic reward keep to the distances played.
    - metrics.default_learner: depends on the reviewers. With up to five features (15 unknowns) metrics.VersionSpace
      plays while their answers follow a metric: at most m log(4 bound / set_back) / log(1 / quantile) rounds are ever
      flagged, m = d(d+1)/2, whatever the contexts, if each decision is reviewed before the next; each wrong answer adds
      about two. `flags_left` is what remains, `promise` says under which conditions. When reviewers err, VersionSpace
      with learned error rates plays; when they hesitate, or with more features, metrics.BayesPoint. Both have no
      worst-case guarantee, and `flags_left` is None. With a number as reviewer_error it is BayesPoint with that rate.
    - rewards.RidgeUCB: regret O(d sqrt(T) log T) from learning the rewards, with probability 0.95 once its estimate of
      the noise scale has settled; pass `noise` to have that from the start.

    Whether the answers follow any metric is checked all the time. When they do not, `fit()` reports it and a
    NoMetricFits warning comes. The default learner becomes metrics.Score when that predicts the answers far better than
    a metric does: it plays gaps that reviewers are predicted to flag one time in ten.

    Two more promises hold for any reviewer, even one who follows no metric:

    - target_unfair_share: the share of flagged rounds stays at or below it in the long run; `Margin` has the proof.
      Mistaken flags use it up, so with reviewers who err pass target="estimated": each flag counts by the probability
      that it is right, given the metric learned so far and the error rate, and the sum of these probabilities keeps to
      the share. That limits truly unfair rounds only as far as the belief is calibrated.
    - max_unfair_rounds: after this many flagged rounds only gaps that earlier reviews prove fair are played, or equal
      probabilities where nothing is proved. If somebody flags even those, no metric fits, and probabilities are equal
      from then on: at most one flagged round more. Decisions made before a flag came in may still be flagged late. The
      search for proofs is limited; beyond it probabilities are equal, and the decision's `unproved_pairs` is not 0.

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
        capacity: float | None = 1,
        mode: Mode = "lottery",
        epsilon: float | None = None,
        structure: Structure = "auto",
        seed: Seed = None,
        metric: MetricLearner | None = None,
        reward: RewardModel | None = None,
        reviewer_error: float | None = None,
        target_unfair_share: float | None = None,
        target: Target = "flagged",
        max_unfair_rounds: int | None = None,
    ) -> None:
        self.mode = check_mode(mode)
        self.capacity = check_capacity(mode, capacity)
        self._rng = as_generator(seed)
        self.metric = metric_or_default(
            metric, n_features, structure=structure, epsilon=epsilon, reviewer_error=reviewer_error, rng=self._rng
        )
        self.reward = RidgeUCB(n_features) if reward is None else reward
        check_part("reward", self.reward, RewardModel, n_features)
        check_learns_in(self.mode, self.reward)
        self.n_features = int(n_features)
        self.rounds = 0
        self.conflicts = 0
        self.misleading: frozenset[str | None] = frozenset()
        """The reviewers found to be wrong more often than right, at some time."""
        margin = Margin.counting(target, target_unfair_share)
        self.safeguards = Safeguards(self.metric.space, margin, max_unfair_rounds, target)
        self.fit_check = FitCheck.of(self.metric)
        self._has_warned_of_misfit = False
        # Bandits with the same seed and settings share a key; any difference between them gives another key.
        self._key = key_for(self._rng.bytes(16), self._parts())

    def __repr__(self) -> str:
        return f"FairBandit({self.n_features}, capacity={self.capacity}, metric={self.metric}, rounds={self.rounds})"

    def decide(self, contexts: Any, *, lower: Any = None, upper: Any = None) -> Decision:
        """Choose among the candidates with these contexts (k, d), an array or a data frame; k may change each round.

        lower, upper: floors and ceilings on probabilities, (k,) or one number for all. CollidingBounds if no fair
        probabilities keep to them; the error names the pairs and what each way out costs.
        """
        decision = self.propose(contexts, number=self.rounds, rng=self._rng, lower=lower, upper=upper)
        self.count_decisions()
        return decision

    def propose(
        self, contexts: Any, *, number: int, rng: np.random.Generator, lower: Any = None, upper: Any = None
    ) -> Decision:
        """The decision of round `number`, drawn with `rng`; the bandit does not change.

        For callers that number their rounds and seed their draws themselves, as a desk does. Call `count_decisions`
        once the decision is made, before learning from it.
        """
        contexts = as_contexts(contexts, self.n_features)
        rewards = self.reward.optimistic(contexts)
        best, tight, unproved = self.safeguards.allocate(self.metric, contexts, rewards, self.capacity, lower, upper)
        program, probabilities = best.program, best.probabilities
        if self.mode == "lottery":
            chosen = draw_from(probabilities, program.capacity, rng)
        else:  # a share of PROBABILITY_TOLERANCE or less is rounding
            chosen = tuple(np.flatnonzero(probabilities > PROBABILITY_TOLERANCE).tolist())
        bounds = None if program.lower is None or program.upper is None else (program.lower, program.upper)
        id = sign(self._key, number, contexts, probabilities, chosen, tight, self.mode, bounds)
        played = (self.capacity, rewards, tight, best.worst_residual, unproved, program.lower, program.upper, self.mode)
        return Decision(id, number, contexts, probabilities, chosen, *played)

    def count_decisions(self, n: int = 1) -> None:
        """Count n proposals as made."""
        self.rounds += n
        self.safeguards.decided(n)

    def learn(
        self, decision: Decision, *, rewards: Mapping[int, float] | None = None, review: Review | None = None
    ) -> Learned:
        """Learn from outcomes of chosen candidates, from a review, or both; at any time after the decision.

        Rewards are expected to lie in [-1, 1] unless the reward model says otherwise. A verdict that contradicts
        earlier ones is left out; the result names its pair, and an InconsistentReviews warning follows. After an error
        nothing has changed. Pass each outcome and each review once: only a desk recognises repetitions.
        """
        self._check_own(decision)
        candidates, outcomes = decision.check_rewards({} if rewards is None else rewards)
        if review is not None:
            if not isinstance(review, Review):
                raise refusal(
                    "review", "a Review, made with Review.complete, Review.partial, Review.ratings, ...", review
                )
            review.check_fits(decision.n_candidates)
        reward_before = self.reward.copied()
        try:
            chosen = decision.contexts.take(candidates, axis=0)
            if decision.mode == "lottery":
                self.reward.learn(chosen, outcomes)
            else:
                self.reward.learn_shares(chosen, outcomes, decision.probabilities.take(candidates))
            learned = Learned() if review is None else self._learn_review(decision, review)
        except BaseException:
            self.reward = reward_before
            raise
        if review is not None:
            self._report(learned)
        return learned

    def _learn_review(self, decision: Decision, review: Review) -> Learned:
        """Update metric, safeguards and check, or none. Pairs with equal probabilities carry no information."""
        verdicts = Verdicts.of(decision, review)
        safeguards = self.safeguards.after_review(decision, review, verdicts, self.metric)
        learned = self._learn_distances(decision, review, verdicts)
        self.safeguards = safeguards
        return learned

    def _learn_distances(self, decision: Decision, review: Review, verdicts: Verdicts) -> Learned:
        """Update metric and check, or neither; verdicts: those in the review, or implied by it."""
        metric = self.metric.reconsidered(self.fit_check)
        check = self.fit_check if review.any_unfair else self.fit_check.after(verdicts, self.metric)
        if review.kind == "ratings":
            learned = metric.learn_ratings(Ratings.of(decision, review, verdicts))
        elif review.kind == "comparisons":
            learned = metric.learn_comparisons(Comparisons.of(decision, review, verdicts))
        elif review.any_unfair is None:
            learned = metric.learn(verdicts)
        else:
            learned = metric.learn_bit(verdicts, any_unfair=review.any_unfair) if len(verdicts) else Learned()
        self.metric, self.fit_check = metric, check.with_learner(metric)
        return learned

    def learn_pair(self, x: Any, y: Any, *, gap: float, unfair: bool, reviewer: str | None = None) -> Learned:
        """Learn that a gap between two contexts would be unfair, or would not: a verdict without a decision.

        Such verdicts prove as much as those of reviews; they flag no round.
        """
        check_reviewer(reviewer)
        both = as_contexts([x, y], self.n_features)
        unfair, gap = check_bool("unfair", unfair), check_share("gap", gap)
        verdicts = Verdicts.between(both[0], both[1], gap=gap, unfair=unfair, reviewer=reviewer)
        metric, check = self.metric.reconsidered(self.fit_check), self.fit_check.after(verdicts, self.metric)
        learned = metric.learn_pair(x, y, gap=gap, unfair=unfair, reviewer=reviewer)
        # Nothing below can fail: the arguments have been checked, and evidence is computed when it is needed.
        self.safeguards.add_evidence(verdicts)
        self.metric, self.fit_check = metric, check.with_learner(metric)
        self._report(learned)
        return learned

    def _report(self, learned: Learned) -> None:
        """Count conflicts and misleading reviewers, then warn of new ones, and once if no metric fits."""
        self.conflicts += len(learned.conflicts)
        new = self.metric.misleading() - self.misleading
        self.misleading |= new
        if learned.conflicts:
            text = "verdicts contradict earlier ones and were left out; learn() returned their pairs as conflicts"
            self._warn(InconsistentReviews(text))
        reports = self.reviewers() if new else {}
        for name in new:
            who = "the reviewer without a name" if name is None else f"reviewer {name!r}"
            share = f"{reports[name].lower:.0%} to {reports[name].upper:.0%} of {reports[name].answers} verdicts"
            text = f"{who} is wrong more often than right, in {share}; their verdicts are ignored while that is so"
            self._warn(MisleadingReviewer(text))
        if self.fit_check.speaks_up and not self._has_warned_of_misfit:
            self._has_warned_of_misfit = True
            self._warn(NoMetricFits(self.fit().explain()))

    def _warn(self, warning: Warning) -> None:
        """Warn the caller of `learn` or `learn_pair`."""
        warnings.warn(warning, stacklevel=4)

    # Queries.

    def pairs_to_review(self, decision: Decision, n: int) -> tuple[PairToReview, ...]:
        """The n pairs of a decision that a reviewer should look at first, with reasons, most informative first."""
        self._check_own(decision)
        return pairs_to_review(self.metric, decision, check_whole("n", n, least=1))

    def certify(self, decision: Decision, *, seconds: float | None = None) -> Certificate:
        """What the reviews so far say about each pair of a decision: proved fair, likely fair, or unproven.

        A proof quotes the earlier verdicts it rests on; `evenhand.certificates.check` checks it independently.
        seconds: stop looking for proofs after about that time; the pairs that are left are "not attempted".
        """
        self._check_own(decision)
        promised = {"flags_left": self.flags_left, "promise": self.promise}
        return certify_from_log(decision, self.safeguards.log, self.metric.chance_unfair, seconds=seconds, **promised)

    def reviewers(self) -> dict[str | None, ReviewerReport]:
        """The estimated error rate of each reviewer, by name; empty unless reviewer_error is None."""
        return self.metric.reviewers()

    @property
    def flags_left(self) -> int | None:
        """A proved number of rounds that can still be flagged at most; None without a theorem, or if no metric fits.

        `promise` says it in a sentence, and under which conditions.
        """
        if self.fit_check.spoke_at is not None or not self.metric.plays_metric:
            return None
        return self.metric.flags_left

    @property
    def promise(self) -> str | None:
        """What the metric learner promises, in a sentence; None for learners without a theorem.

        Withdrawn when the answers turn out to follow no metric, or a model of the reviewers is played in its place:
        every theorem is about a metric.
        """
        promise, report = self.metric.promise, self.fit() if self.fit_check.speaks_up else None
        limit = protection(self.safeguards.margin.target)
        if not self.metric.plays_metric:
            return f"{MODELLED} {limit}"
        if promise is None or report is None:
            return promise
        return f"Withdrawn: {report.sentence[0].lower()}{report.sentence[1:]} {limit}"

    def fit(self, features: Schema | Sequence[str] | None = None) -> FitReport:
        """Whether the answers follow a metric, and what is left where they do not.

        features: a schema or the names of the coordinates, for the words; without, coordinates are numbered from 0.
        """
        check_names(features, self.n_features)
        target = self.safeguards.margin.target
        learner: dict[str, Any] = {"error_rate": self.metric.error_rate, "plays_metric": self.metric.plays_metric}
        return report_on_fit(self.fit_check, target=target, features=features, **learner)

    def explain(self, schema: Schema) -> MetricExplanation:
        """The learned metric in words: what each feature makes, within which bounds, and which count together."""
        if not isinstance(schema, Schema) or schema.n_features != self.n_features:
            raise refusal("schema", f"a Schema of {self.n_features} coordinates", schema)
        return explain_metric(self.metric, schema)

    def distances(self, contexts: Any) -> Distances:
        """The distances between candidates: estimate, lower and upper end, each (k, k)."""
        return self.metric.distances(contexts)

    def reseed(self, seed: Seed) -> None:
        """Draw from another random stream from now on."""
        self._rng = as_generator(seed)

    def _check_own(self, decision: Decision) -> None:
        if not isinstance(decision, Decision):
            raise refusal("decision", "a Decision that decide() returned", decision)
        if not 0 <= decision.round < self.rounds or not decision.is_signed(self._key):
            raise ForeignDecision(f"decision {decision.id!r} was not made by this bandit, or was changed since")

    # Saving.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bandit to a file, without pickle; an interrupted save leaves an older file intact."""
        write_archive(path, kind="FairBandit", version=FORMAT, content=self.state())

    def state(self) -> dict[str, Any]:
        """Everything the bandit consists of, as arrays, numbers, strings and dicts of them."""
        return {
            "rounds": self.rounds,
            "conflicts": self.conflicts,
            "found_out": sorted(self.misleading, key=str),
            "key": self._key.hex(),
            "rng": self._rng.bit_generator.state,
            "safeguards": self.safeguards.state(),
            "fit": self.fit_check.state(),
            **self._parts(),
        }

    def _parts(self) -> dict[str, Any]:
        return {
            "n_features": self.n_features,
            "capacity": self.capacity,
            "metric": self.metric.saved(),
            "reward": self.reward.saved(),
            **self.safeguards.settings(),
            **({} if self.mode == "lottery" else {"mode": self.mode}),  # bandits keep the keys they had without it
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The bandit that was saved: it continues as if it had never stopped, to the bit.

        Files of version 0.1 are read as well. What 0.1 kept for `withdraw` is dropped: withdrawals need a desk.
        """
        return load_archive(path, kind="FairBandit", version=FORMAT, restore=cls.from_state)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The bandit with this `state`, to the bit."""
        metric, reward = MetricLearner.restored(state["metric"]), RewardModel.restored(state["reward"])
        parts = {"mode": state.get("mode", "lottery"), "metric": metric, "reward": reward}
        bandit = cls(state["n_features"], capacity=state["capacity"], **parts)
        bandit.safeguards = Safeguards.from_state(state["safeguards"])
        bandit.rounds, bandit.conflicts = int(state["rounds"]), int(state["conflicts"])
        bandit.misleading = frozenset(state["found_out"])
        if "fit" in state:  # not in states of version 0.1
            bandit.fit_check = FitCheck.from_state(state["fit"])
        bandit._has_warned_of_misfit = bandit.fit_check.speaks_up
        bandit._key = bytes.fromhex(state["key"])
        bandit._rng = generator_from(state["rng"])
        return bandit
