"""Confidence intervals of shares."""

from __future__ import annotations


def wilson(successes: int, n: int) -> tuple[float, float]:
    """95% Wilson interval of a share of n; all of [0, 1] if n is 0.

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    if n == 0:
        return 0.0, 1.0
    from scipy.stats import binomtest  # takes half a second to import, and deciding does not need it

    low, high = binomtest(successes, n).proportion_ci(0.95, method="wilson")
    return float(low), float(high)
