"""What a bandit is given, checked at its edge: parts, outcomes and reviews; and the warnings it gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.checks import is_number, is_whole
from evenhand.errors import InconsistentReviews, InvalidInput, MisleadingReviewer, NotChosen
from evenhand.metrics import MetricLearner, ReviewerReport
from evenhand.records.decision import Decision, Review
from evenhand.rewards import RewardModel

Floats = NDArray[np.float64]


INCONSISTENT = InconsistentReviews(
    "verdicts contradict what was said before; they were left out, and learn() returned them as conflicts "
    "(a reviewer's slip, or a likeness that no metric of this structure has)"
)


def misleading(report: ReviewerReport) -> MisleadingReviewer:
    """The warning that a reviewer was found out."""
    name = "the reviewer without a name" if report.name is None else f"reviewer {report.name!r}"
    return MisleadingReviewer(
        f"{name} is wrong more often than right, in {report.lower:.0%} to {report.upper:.0%} of answers after "
        f"{report.answers} of them; they count for nothing as long as that is so"
    )


def check_capacity(capacity: int | None) -> int | None:
    """How many may be chosen, or None for everybody."""
    if capacity is None:
        return None
    if not is_whole(capacity) or capacity < 1:
        raise InvalidInput(f"capacity is {capacity!r}; allowed is a whole number >= 1, or None for everybody")
    return int(capacity)


def check_yes_or_no(value: bool, name: str) -> None:
    """Refuse what is neither True nor False: any text would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(f"{name} is {value!r}; allowed are True and False")


def check_part(part: object, kind: type[MetricLearner] | type[RewardModel], name: str, n_features: int) -> None:
    """Refuse a part of another kind, or for another number of features."""
    if not isinstance(part, kind):
        raise InvalidInput(f"{name} is {part!r}; allowed is an object of a {kind.__name__} class")
    if part.n_features != n_features:
        raise InvalidInput(f"the {name} was made for {part.n_features} features, the bandit for {n_features}")


def check_rewards(decision: Decision, rewards: Mapping[int, float]) -> tuple[list[int], Floats]:
    """The chosen candidates whose outcome is given, and their rewards, (n,)."""
    if type(rewards) is not dict and not isinstance(rewards, Mapping):  # an ABC takes its time
        raise InvalidInput(f"rewards is {rewards!r}; allowed is a dict from a chosen candidate's index to a number")
    for candidate, reward in rewards.items():
        if isinstance(candidate, (bool, np.bool_)) or candidate not in decision.chosen:
            raise NotChosen(f"candidate {candidate!r} was not chosen; outcomes are known only of {decision.chosen}")
        if not is_number(reward):
            raise InvalidInput(f"the reward of candidate {candidate} is {reward!r}; allowed is a finite number")
    return [int(i) for i in rewards], np.array([float(r) for r in rewards.values()], dtype=np.float64)


def check_review(decision: Decision, review: Review) -> None:
    """Refuse what is no review, or names a candidate that the decision has not."""
    if not isinstance(review, Review):
        raise InvalidInput(f"review is {review!r}; allowed are Review.complete, Review.partial and Review.one_bit")
    review.check_fits(decision.n_candidates)
