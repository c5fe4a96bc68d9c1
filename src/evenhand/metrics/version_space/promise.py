"""What a version space promises: how many more rounds can be flagged, as a number and in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from evenhand.metrics.version_space.density import Density
from evenhand.theory.promise import flagged_rounds_per_wrong_answer, flags_in_words, flags_left

CONFIDENCE = 0.95
"""The confidence of the promised number, which points only estimate."""
CREDIBLE = 0.005  # The share of the density that a credible number leaves out, on each side.


@dataclass(frozen=True, eq=False, kw_only=True)
class Promise:
    """The promise of a density, and of how it is played. docs/mathematics.md has the theorems."""

    density: Density
    error_rate: float | None
    quantile: float
    set_back: float
    pairs_per_flag: int
    """How many pairs a flag may have been about at most: more than one after one-bit reviews."""
    is_refuted: bool
    """Whether some answer, never wrong, fits no metric together with earlier ones."""
    is_soft: bool
    """Whether thresholds may be soft."""

    @cached_property
    def flags_left(self) -> int | None:
        """How many more rounds can be flagged at most; None where nothing is promised."""
        if self.error_rate is None or self.is_soft or self.is_refuted:
            return None
        if self._rate_is_refuted or self._flag_share >= 1.0:
            return None
        return flags_left(
            self.density.space.n_unknowns,
            bound=self.density.bound,
            set_back=self.set_back,
            quantile=self._flag_share,
            error_rate=self.error_rate,
            n_wrong=self.density.n_wrong(CREDIBLE),
            log_mass=self.density.log_mass,
            variance=self.density.variance,
            confidence=CONFIDENCE,
        )

    @property
    def _rate_is_refuted(self) -> bool:
        return self.error_rate is not None and self.density.refutes(self.error_rate)

    @property
    def _flag_share(self) -> float:
        """The share of the density that a flag leaves at most, on average over the walk."""
        of_points = 0.0 if self.error_rate == 0.0 else 1.0 / self.density.n_points
        return self.pairs_per_flag * (self.quantile + of_points)

    @property
    def sentence(self) -> str:
        """The promise in words, or why there is none."""
        left = self.flags_left
        if self.is_refuted:
            return "No metric fits all answers: no number of flags can be promised any more."
        if self.error_rate is None:
            return "With error rates that are learned, no number of flags is proved."
        if self.is_soft:
            return "With thresholds that may be soft, no number of flags is proved."
        if self._rate_is_refuted:
            return f"More answers are wrong than an error rate of {self.error_rate:g} explains: no number is promised."
        if self._flag_share >= 1.0:
            return "After reviews that do not say which of many pairs was unfair, no number of flags is proved."
        if left is None:
            return "The answers leave less than any metric would keep: no number of flags can be promised any more."
        if self.error_rate == 0.0:
            return flags_in_words(left)
        cost = flagged_rounds_per_wrong_answer(self._flag_share, self.error_rate)
        return flags_in_words(left, self.density.n_wrong(CREDIBLE), cost)
