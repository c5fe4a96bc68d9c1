"""The limits on what is played under a Gaussian belief.

While a distance is not known, what is played under N(mean, s^2) is s g(mean/s), where g(t) = t - h(t) is the quantile
of N(t, 1) truncated at zero, and Phi(h(t)) = keep Phi(t). docs/mathematics.md proves the bounds.
"""

from __future__ import annotations

import math
from functools import lru_cache

from evenhand.metrics.gaussian.caution import Caution
from evenhand.metrics.gaussian.truncated_normal import score_exceeded, truncated_quantile
from evenhand.metrics.guess_bounds import Limits


def gaussian_limits(widest: float, caution: Caution) -> Limits:
    """The limits at this caution; widest: no standard deviation along a u with ||u|| = 1 exceeds it."""
    shape, drop = shape_of(caution.keep), caution.softness * max(caution.untruncated, 0.0)
    near = max((caution.known + drop) ** 2, drop**2 / shape[2])
    return Limits(widest, caution.known, drop, near, *shape)


@lru_cache(maxsize=16)
def shape_of(keep: float) -> tuple[float, float, float, float]:
    """The shape of g for one probability `keep`: e with g(e) = e, g(0), min g(t)/t over t > 0 and max(h(inf), 0).

    e is infinite if there is none; the minimum is rounded down.
    """
    top = score_exceeded(keep)
    at_zero = truncated_quantile(0.0, 1.0, keep, top)
    equal = score_exceeded(0.5 / keep) if keep > 0.5 else math.inf
    low, high = math.log(1e-6), math.log(1e6)
    for _ in range(200):  # ternary search: g(t)/t falls, then rises
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        if _share(math.exp(left), keep, top) < _share(math.exp(right), keep, top):
            high = right
        else:
            low = left
    least = min(_share(math.exp(low), keep, top), 1.0)
    return equal, at_zero, least * (1.0 - 1e-9), max(top, 0.0)


def _share(t: float, keep: float, untruncated: float) -> float:
    return truncated_quantile(t, 1.0, keep, untruncated) / t
