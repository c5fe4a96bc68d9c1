"""evaluate: what policies would have earned on a log of past decisions, with intervals, or why nobody can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.checks import check_number, check_share, refusal
from evenhand._internal.text_table import aligned
from evenhand.bandit import FairBandit
from evenhand.errors import InvalidInput
from evenhand.history.intervals import CONFIDENCE, FEWEST_ROUNDS, RESAMPLES, Interval
from evenhand.history.log_columns import check_outcome_range
from evenhand.history.outcome_model import ExpectedOutcomes, expected_outcomes
from evenhand.history.overlap import Overlap, overlap_of
from evenhand.history.pair_counts import TOLERANCE, PairCount, unfair_pairs
from evenhand.history.past_log import PastLog
from evenhand.history.policies import played_by
from evenhand.history.policy_result import (
    LEAST_EFFECTIVE,
    MOST_UNSUPPORTED,
    EstimateLimits,
    OffPolicyEstimate,
    PolicyResult,
    observed_value,
    result_of,
)
from evenhand.history.propensities import Propensities, propensities_of
from evenhand.metrics import MetricLearner
from evenhand.metrics.played_by_another import PlayedByAnother

if TYPE_CHECKING:
    import os

AS_DECIDED = "as decided"
CHANCES = "chances of the past"
BY_CHANCES = " (chances)"
"""Stands at pairs of the past that are counted by its chances, beside lotteries."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Policies on a log of past decisions. `print` shows a table; `save_report` writes a page with figures."""

    log: PastLog
    """The rounds that were used."""
    left_out: int
    """Rounds left out, because the outcome of somebody who was chosen is not known yet."""
    propensities: Propensities
    expected: ExpectedOutcomes
    overlap: Overlap
    decided: OffPolicyEstimate
    """What was earned per round as decided: observed, no model."""
    results: tuple[PolicyResult, ...]
    past_pairs: dict[str, PairCount] = field(default_factory=dict)
    """Pairs of the past: "as decided", yes or no, and by "chances of the past"; empty without a metric."""
    confidence: float = CONFIDENCE
    tolerance: float = TOLERANCE
    metric: str | None = None

    def __getitem__(self, name: str) -> PolicyResult:
        for result in self.results:
            if result.name == name:
                return result
        raise InvalidInput(f"unknown policy {name!r}; there are {', '.join(r.name for r in self.results)}")

    def to_rows(self) -> list[dict[str, Any]]:
        """A dict for each policy and estimator, as in `pandas.DataFrame(evaluation.to_rows())`."""
        rows = [{"policy": AS_DECIDED, "method": "observed", **_columns(self.decided), "refusal": None}]
        for result in self.results:
            about = {"refusal": result.refusal, "effective": result.effective, "unsupported": result.unsupported}
            about |= {"unfair_pairs": None if result.pairs is None else result.pairs.unfair}
            for method, estimate in result.estimates.items():
                rows.append({"policy": result.name, "method": method, **_columns(estimate), **about})
            if result.refusal:
                rows.append({"policy": result.name, "method": None, **about})
        return rows

    def __str__(self) -> str:
        table = [("policy", "doubly robust", "SNIPS", "effective", "unfair pairs")]
        past = self.past_pairs.get(CHANCES)
        table.append((AS_DECIDED, str(self.decided), "", "", "" if past is None else f"{past.share:.1%}{BY_CHANCES}"))
        for result in self.results:
            unfair = "" if result.pairs is None else f"{result.pairs.share:.1%}"
            if result.refusal:
                table.append((result.name, "not estimated", "", f"{result.effective:.0f}", unfair))
                continue
            shown = (str(result.estimates["dr"]), str(result.estimates["snips"]), f"{result.effective:.0f}")
            table.append((result.name, *shown, unfair))
        said = [f"{result.name}: {text}" for result in self.results for text in result.said]
        return "\n".join([*aligned(table), *said, *self.statements])

    @property
    def statements(self) -> tuple[str, ...]:
        """What cannot be estimated, and what estimates rest on, in sentences."""
        said = [*self.overlap.statements]
        if most := max((result.unsupported for result in self.results if not result.refusal), default=0.0):
            said.append(
                f"Up to {most:.1%} of a policy's choices go to people whom past decisions hardly ever chose: doubly "
                "robust takes their outcomes from the model, SNIPS from the others, and IPS leaves them out."
            )
        if again := sum(count > 1 for count in Counter(self.log.people).values()):
            said.append(
                f"{again} people were in several rounds. Intervals take rounds as independent, so they are too narrow "
                "if outcomes of the same person are alike."
            )
        return tuple(said)

    def save_report(self, path: str | os.PathLike[str], *, title: str = "Past decisions, evaluated") -> None:
        """Write one HTML page: the table, figures, the worst pairs, what cannot be estimated, and refused rows."""
        from evenhand.history.report import write_evaluation

        write_evaluation(self, path, title)


def _columns(estimate: OffPolicyEstimate) -> dict[str, Any]:
    low, high = estimate.bootstrap or (None, None)
    least, most = estimate.bernstein or (None, None)
    return {"value": estimate.value, "lower": low, "upper": high, "bernstein_lower": least, "bernstein_upper": most}


def evaluate(
    log: PastLog,
    policies: Mapping[str, Any],
    *,
    propensities: Propensities | None = None,
    expected: ExpectedOutcomes | None = None,
    metric: MetricLearner | FairBandit | None = None,
    outcome_range: Interval | None = None,
    tolerance: float = TOLERANCE,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    most_unsupported: float = MOST_UNSUPPORTED,
    least_effective: float = LEAST_EFFECTIVE,
    seed: int = 0,
) -> Evaluation:
    """What policies would have earned per round on the log, frozen as they are, and how they treat pairs.

    policies: by name, each as `played_by` takes it; they must not have learned from these rounds (`PastLog.split`).
    propensities, expected: None takes the recorded or estimated chances, and a default model of outcomes; pass those of
    the whole log. metric: to count unfair pairs by. outcome_range: the lowest and the highest possible outcome, for
    Bernstein's interval and for bounds; None takes that of the log, or else what was seen. The rest are limits.
    """
    if not isinstance(policies, Mapping) or not policies:
        raise refusal("policies", "a dict of at least one policy by name", policies)
    check_share("most_unsupported", most_unsupported)
    check_number("least_effective", least_effective, least=0)
    chances = propensities_of(log, seed=seed) if propensities is None else propensities
    outcomes = expected_outcomes(log, seed=seed) if expected is None else expected
    if len(chances.values) != log.n_candidates or len(outcomes.values) != log.n_candidates:
        raise InvalidInput(
            f"propensities and expected outcomes must be of the {log.n_candidates} candidates of the log, "
            f"got {len(chances.values)} and {len(outcomes.values)}"
        )
    used, chances, outcomes, left_out = _complete(log, chances, outcomes)
    played = {name: played_by(policy, used, f"policy {name!r}") for name, policy in policies.items()}
    if outcome_range is not None:
        check_outcome_range(outcome_range)
    low, high = outcome_range or used.outcome_range or _seen_range(used)
    limits = EstimateLimits(confidence, resamples, seed, low, high, most_unsupported, least_effective)
    decided = observed_value(used, limits)
    counts: dict[str, PairCount] = {}
    if metric is not None:
        past = {AS_DECIDED: used.chosen.astype(np.float64), CHANCES: chances.values}
        counts = unfair_pairs(
            used, {**past, **{f"policy {name}": p for name, p in played.items()}}, metric, tolerance=tolerance
        )
    results = [
        result_of(name, used, p, chances, outcomes, limits, counts.get(f"policy {name}")) for name, p in played.items()
    ]
    return Evaluation(
        used,
        left_out,
        chances,
        outcomes,
        overlap_of(used, chances),
        decided,
        tuple(results),
        {name: counts[name] for name in (AS_DECIDED, CHANCES) if name in counts},
        confidence,
        tolerance,
        None if metric is None else _named(metric, policies),
    )


def _named(metric: MetricLearner | FairBandit, policies: Mapping[str, Any]) -> str:
    """What the report calls a metric: that of a policy, or else by its learner."""
    for name, policy in policies.items():
        if policy is metric:
            return f"the metric of {name!r}"
    learner = metric.metric if isinstance(metric, FairBandit) else metric
    while isinstance(learner, PlayedByAnother):
        learner = learner.playing
    return type(learner).__name__


def _complete(
    log: PastLog, chances: Propensities, outcomes: ExpectedOutcomes
) -> tuple[PastLog, Propensities, ExpectedOutcomes, int]:
    """The rounds of which all outcomes are known, with their chances and expected outcomes, and how many are not."""
    complete = log.is_complete
    if complete.sum() < FEWEST_ROUNDS:
        raise InvalidInput(
            f"an evaluation needs at least {FEWEST_ROUNDS} rounds with all outcomes of the chosen known, "
            f"got {int(complete.sum())} of {len(log)}"
        )
    if complete.all():
        return log, chances, outcomes, 0
    rows = np.repeat(complete, log.sizes)
    part = Propensities(chances.values[rows], chances.floors[rows], chances.model, chances.is_recorded, chances.choice)
    return log.take(complete), part, ExpectedOutcomes(outcomes.values[rows], outcomes.model), int((~complete).sum())


def _seen_range(log: PastLog) -> Interval:
    seen = log.outcomes[log.is_observed]
    if len(seen) == 0:
        raise InvalidInput("an evaluation needs outcomes, got none")
    return float(seen.min()), float(seen.max())
