"""Error rates of reviewers: a setting, or learned while running and reported."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand._internal.checks import is_number
from evenhand.errors import InvalidInput


@dataclass(frozen=True)
class ReviewerReport:
    """What is known of one reviewer's errors."""

    name: str | None
    answers: int
    """Number of answers on pairs."""
    error_rate: float
    """Estimated share of wrong answers."""
    lower: float
    upper: float
    """The 95% credible interval of the error rate."""

    @property
    def misleads(self) -> bool:
        """Whether the reviewer is surely wrong more often than right; such answers count for nothing."""
        return self.lower >= 0.5


def check_error_rate(error_rate: float | None, name: str = "error_rate") -> float | None:
    """`error_rate` itself if it is None or a number from 0 to below 0.5; `name` is what an error calls it."""
    if error_rate is None:
        return None
    if not is_number(error_rate) or not 0 <= error_rate < 0.5:
        raise InvalidInput(f"{name} must be a number >= 0 and < 0.5, or None to learn it, got {error_rate!r}")
    return float(error_rate)
