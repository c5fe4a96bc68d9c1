"""Whether weights prove a bound, in integer arithmetic without rounding.

Doubles are whole numbers over powers of two, so R = zz' - sum lambda zz' + sum mu zz' and the sum of the squared
gaps are computed exactly, and R is eliminated without fractions (Bareiss).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from evenhand.records.decision import PROBABILITY_TOLERANCE

Numbers = Sequence[float]
Whole = list[int]


def leaves_semidefinite(z: Numbers, rows: Sequence[Numbers], signed: Numbers, *, diagonal: bool) -> bool:
    """Whether zz' - sum signed_j z_j z_j' is positive semidefinite, or its diagonal not negative.

    >>> leaves_semidefinite([1.0, 0.0], [[2.0, 0.0]], [0.25], diagonal=False)
    True
    >>> leaves_semidefinite([1.0, 0.0], [[2.0, 1e-9]], [0.25], diagonal=False)
    False
    """
    vectors = _whole([number for vector in (z, *rows) for number in vector])[0]
    d = len(z)
    weights, unit = _whole([1.0, *(-weight for weight in signed)])
    del unit  # a common factor changes no sign
    table = [vectors[start : start + d] for start in range(0, len(vectors), d)]
    scaled = [[weight * x for x in vector] for weight, vector in zip(weights, table, strict=True)]
    if diagonal:
        return all(sum(s[i] * v[i] for s, v in zip(scaled, table, strict=True)) >= 0 for i in range(d))
    return _is_semidefinite(
        [[sum(s[i] * v[j] for s, v in zip(scaled, table, strict=True)) for j in range(d)] for i in range(d)]
    )


def _is_semidefinite(matrix: list[Whole]) -> bool:
    """Symmetric elimination; a zero on the diagonal is allowed only in a row of zeros."""
    last = 1
    for p in range(len(matrix)):
        pivot = matrix[p][p]
        if pivot < 0 or (pivot == 0 and any(matrix[p][p + 1 :])):
            return False
        if pivot > 0:
            for i in range(p + 1, len(matrix)):
                for j in range(i, len(matrix)):
                    matrix[i][j] = (matrix[i][j] * pivot - matrix[p][i] * matrix[p][j]) // last
            last = pivot
    return True


def proved_square(gaps: Numbers, unfair: Sequence[bool], signed: Numbers) -> Fraction:
    """sum signed_j threshold_j: what z'Gz is at least, if the weights leave a semidefinite rest.

    >>> round(float(proved_square([0.5, 0.3], [False, True], [2.0, -1.0])), 6)  # 2 * 0.5^2 - 0.3^2
    0.41
    """
    whole, unit = _whole([*gaps, PROBABILITY_TOLERANCE])
    tolerance = whole.pop()
    weights, weight_unit = _whole(signed)
    ends = (gap + tolerance if flagged else gap - tolerance for gap, flagged in zip(whole, unfair, strict=True))
    return Fraction(sum(w * end * end for w, end in zip(weights, ends, strict=True)), weight_unit * unit * unit)


def covers(square: Fraction, gap: float) -> bool:
    """Whether a squared distance of at least `square` makes this gap fair: gap <= d + PROBABILITY_TOLERANCE."""
    beyond = Fraction(gap) - Fraction(PROBABILITY_TOLERANCE)
    return beyond <= 0 or beyond**2 <= square


def rounded_down(value: Fraction) -> float:
    """The largest double that is not larger; below zero counts as zero.

    >>> rounded_down(Fraction(1, 3)) <= Fraction(1, 3) < math.nextafter(rounded_down(Fraction(1, 3)), 1)
    True
    """
    near = max(float(value), 0.0)
    return near if near <= value or near == 0.0 else math.nextafter(near, 0.0)


def root_rounded_down(square: Fraction) -> float:
    """A double whose square is not larger, and which is the root but for the last digits.

    >>> root_rounded_down(Fraction(1, 4))
    0.5
    """
    root = math.sqrt(max(float(square), 0.0))
    while Fraction(root) ** 2 > max(square, Fraction(0)):
        root = math.nextafter(root, 0.0)
    return root


def _whole(numbers: Numbers) -> tuple[Whole, int]:
    """Doubles as whole numbers over one power of two."""
    ratios = [float(number).as_integer_ratio() for number in numbers]
    unit = max((below for _, below in ratios), default=1)
    return [above * (unit // below) for above, below in ratios], unit
