"""Online conformal widths: how far outcomes lie from what was predicted, whatever the model and the outcomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.factorisations import cholesky, inverse_of_lower

STEP = 0.05
"""How far the quantile moves after an outcome beyond it, times the share that is not missed."""

FIRST = 1.0
"""The first quantile: rewards are between -1 and 1."""


@dataclass(frozen=True, eq=False)
class OnlineConformal:
    """A quantile q of scores |r - estimate| / s(x), moved after each outcome: up by STEP (1 - a) if it was missed.

    The width of x is q s(x), s(x)^2 = 1 + x' V^-1 x with V = I + sum x x': larger for people unlike those seen so far.
    For any sequence of outcomes, chosen by whatever rule, the share of T outcomes missed differs from a by at most
    (B + STEP) / (STEP T), B the largest score or 1 if that is larger (Gibbs and Candes 2021; Angelopoulos, Barber and
    Bates 2024, with constant steps). These are intervals for outcomes, not for their mean: noise stays in them.

    >>> OnlineConformal.first(2, 0.1).widths(np.zeros((1, 2))).tolist()
    [1.0]
    """

    missing: float
    """a: the share of outcomes to be missed."""
    quantile: float
    V: Floats

    @classmethod
    def first(cls, n_features: int, missing: float) -> OnlineConformal:
        """Before the first outcome."""
        return cls(missing, FIRST, np.eye(n_features))

    @cached_property
    def _half(self) -> Floats:
        return inverse_of_lower(cholesky(self.V))

    def difficulty(self, contexts: Floats) -> Floats:
        """s(x) of each row, (k,)."""
        return np.asarray(np.sqrt(1.0 + np.sum((contexts @ self._half.T) ** 2, axis=1)))

    def widths(self, contexts: Floats) -> Floats:
        """q s(x) of each row, (k,)."""
        return max(self.quantile, 0.0) * self.difficulty(contexts)

    def after(self, contexts: Floats, rewards: Floats, estimates: Floats) -> OnlineConformal:
        """After these outcomes, in order; the difficulty of all is that before the first."""
        quantile = self.quantile
        for score in (np.abs(rewards - estimates) / self.difficulty(contexts)).tolist():
            quantile += STEP * ((score > quantile) - self.missing)
        return replace(self, quantile=quantile, V=self.V + contexts.T @ contexts)

    def state(self) -> dict[str, Any]:
        """What `from_state` reads."""
        return {"quantile": self.quantile, "V": self.V}
