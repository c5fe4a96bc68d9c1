"""Proofs of a lower bound on the distance of two candidates, from verdicts on others.

    z'Gz >= sum lambda_j g_j^2 - sum mu_j g_j^2     (fair verdicts j, unfair ones)

whenever all weights are >= 0 and R = zz' - sum lambda_j z_j z_j' + sum mu_j z_j z_j' is positive semidefinite: then
<G, R> >= 0, and that is the inequality, since z_j'Gz_j >= g_j^2 for the fair and <= g_j^2 for the unfair. With the
diagonal structure it is enough that R's diagonal is not negative. Any weights do; they are taken from a linear program,
corrected until R is certainly semidefinite, and checked in integer arithmetic without rounding: doubles are whole
numbers over powers of two, so R and the sum of the squared gaps are computed exactly, and R is eliminated without
fractions (Bareiss).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from evenhand._internal.arrays import Floats, Indices
from evenhand._internal.factorisations import eigvalsh
from evenhand.certificates._budget import BIG, UNLIMITED, OutOfBudget, SearchBudget
from evenhand.certificates._consistent_set import SHORTEST, ConsistentSet
from evenhand.certificates._descent import Descent
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE

if TYPE_CHECKING:
    from evenhand.certificates.evidence import Evidence

Numbers = Sequence[float]
Whole = list[int]

NEGLIGIBLE = 1e-13  # Weights that add less than this share to R are left out.

MARGIN = 64 * float(np.finfo(np.float64).eps)
"""R is lifted by this share of its terms, and by STRONGER times as much after each failed attempt."""

STRONGER = 64.0
ATTEMPTS = 4

SHAVED = 1e-6  # Relative reduction of lower bounds: proofs of one bound found in different ways differ by less.

WORK_BESIDE = 1e6  # What comes with each proof: parallel differences, correction, calls.

PARALLEL = 1e-12
"""Two differences are parallel if the squared sine of their angle is at most this; the exact check decides."""


@dataclass(frozen=True, eq=False)
class Proof:
    """Weights of verdicts that prove z'Gz >= square; without any, that it is >= 0."""

    z: Floats
    rows: Indices
    """Which verdicts of the evidence."""
    weights: Floats
    """lambda of the fair ones, mu of the unfair ones."""
    square: Fraction
    """Exact."""

    @property
    def bound(self) -> float:
        """The proved lower bound of the squared distance, rounded down."""
        return rounded_down(self.square)

    @property
    def shaved_bound(self) -> float:
        """A little below what is proved: the same evidence, collected in another order, proves nearly the same."""
        return self.bound * (1.0 - SHAVED)

    def covers(self, gap: float) -> bool:
        """Whether the proof shows that this gap is fair: gap <= d + PROBABILITY_TOLERANCE."""
        beyond = Fraction(gap) - Fraction(PROBABILITY_TOLERANCE)
        return beyond <= 0 or beyond**2 <= self.square


def lower_bounds(evidence: Evidence, pairs: Pairs) -> Floats:
    """Proved lower bounds of the squared distances, (n,); 0 where nothing is proved. Cost: O(m (rows + m)) a step."""
    proofs = proofs_of(evidence, pairs.differences)
    return np.array([0.0 if proof is None else proof.shaved_bound for proof in proofs], dtype=np.float64)


def proof_of(evidence: Evidence, z: Floats) -> Proof:
    """The best proof found for one difference z (d,)."""
    return ProofSearch(evidence).proof(np.asarray(z, dtype=np.float64))


def proofs_of(evidence: Evidence, differences: Floats, budget: SearchBudget = UNLIMITED) -> list[Proof | None]:
    """The best proof found for each difference (n, d), in order; None for those that the budget was too small for.

    Contradictory evidence proves nothing.
    """
    search, found = ProofSearch(evidence, budget), list[Proof | None]()
    try:
        for z in differences:
            found.append(search.proof(z))
    except OutOfBudget:
        found += [None] * (len(differences) - len(found))
    return found if search.is_consistent else [no_proof(z) for z in differences]


class ProofSearch:
    """Finds proofs from one body of evidence. Each depends on the evidence and the difference alone.

    Whoever certifies a decision later must find what was proved when it was made. A search that started where another
    one ended would find something else, and would not be faster.
    """

    def __init__(self, evidence: Evidence, budget: SearchBudget = UNLIMITED) -> None:
        self._evidence, self._budget = evidence, budget
        self.is_consistent = evidence.contradiction is None
        """Whether some metric fits the evidence, as far as is known; otherwise nothing is proved."""
        self.witness: Floats | None = None
        """alpha of the metric, (m,), that the last search ended at: it fits the evidence, and brings the two close."""

    def proof(self, z: Floats) -> Proof:
        """The best proof found for one difference z (d,); OutOfBudget if the budget does not suffice."""
        self._budget.spend(WORK_BESIDE)
        best, self.witness = no_proof(z), None
        if not self.is_consistent:
            return best
        verdicts, known = self._evidence.verdicts, self._evidence.consistent_set
        row = _parallel(verdicts, z)
        if row is not None:
            best = _by_parallel(self._evidence.space, verdicts, z, row)
        if known is None or not known.holds(z[None, :])[0]:
            return best
        proof = self._by_descent(known, z)
        return max(best, proof, key=lambda proof: proof.square) if self.is_consistent else no_proof(z)

    def _by_descent(self, known: ConsistentSet, z: Floats) -> Proof:
        hint = Descent(known, self._budget).lowest(z) if z @ z > SHORTEST else None
        if hint is None:
            return no_proof(z)
        if hint.empty:
            self.is_consistent = refuted(known, hint.rows, hint.weights, self._budget) is None
            return no_proof(z)
        self.witness = hint.metric
        return corrected(known, z, hint.rows, hint.weights, self._budget)


def refuted(known: ConsistentSet, rows: Indices, weights: Floats, budget: SearchBudget = UNLIMITED) -> Proof | None:
    """The proof that verdicts contradict each other, 0 = z'Gz >= square > 0 for z = 0; None if it is none."""
    proof = corrected(known, np.zeros(known.space.n_features), rows, weights, budget)
    return proof if proof.square > 0 else None


def corrected(
    known: ConsistentSet, z: Floats, rows: Indices, weights: Floats, budget: SearchBudget = UNLIMITED
) -> Proof:
    """A proof with nearly these weights, corrected so that R is certainly semidefinite."""
    diagonal = known.space.structure == "diagonal"
    sizes = weights * known.verdicts.squared_lengths[rows]
    size = float(z @ z + np.sum(sizes))
    kept = sizes > NEGLIGIBLE * size
    rows, weights = rows[kept], weights[kept]
    margin = MARGIN * z.shape[0]
    for _ in range(ATTEMPTS):
        if diagonal:
            new_rows, new_weights = rows, _shrunk(known.verdicts, z, rows, weights, margin)
        else:
            new_rows, new_weights = _lifted(known, z, rows, weights, margin * size)
        proof = checked(known.space, known.verdicts, z, new_rows, new_weights, budget)
        if proof is not None:
            return proof
        margin *= STRONGER
    return no_proof(z)


def _lifted(known: ConsistentSet, z: Floats, rows: Indices, weights: Floats, margin: float) -> tuple[Indices, Floats]:
    """More weight on a few unfair verdicts, so that R's smallest eigenvalue is about `margin`."""
    rest = _rest(known.verdicts, z, rows, weights)
    inner = rest if known.frame is None else known.frame.T @ rest @ known.frame
    lift = max(-float(eigvalsh(inner)[0]), 0.0) + margin
    total = np.zeros(len(known.verdicts))
    total[rows] = weights
    total[known.spread.rows] += lift * known.spread.weights
    used = np.flatnonzero(total)
    return used, total[used]


def _shrunk(verdicts: SourcedVerdicts, z: Floats, rows: Indices, weights: Floats, margin: float) -> Floats:
    """Less weight on all fair verdicts, so that no entry of R's diagonal is negative."""
    squares = verdicts.differences[rows] ** 2
    fair = np.where(verdicts.unfair[rows], 0.0, weights)
    minus, plus = fair @ squares, z**2 + (weights - fair) @ squares
    used = minus > 0.0
    share = float(np.max((minus - plus + margin * (minus + plus))[used] / minus[used], initial=0.0))
    return np.where(verdicts.unfair[rows], weights, weights * max(1.0 - share, 0.0))


def _rest(verdicts: SourcedVerdicts, z: Floats, rows: Indices, weights: Floats) -> Floats:
    """R, (d, d)."""
    used = verdicts.differences[rows]
    return np.outer(z, z) - (used.T * np.where(verdicts.unfair[rows], -weights, weights)) @ used


def checked(
    space: MetricSpace,
    verdicts: SourcedVerdicts,
    z: Floats,
    rows: Indices,
    weights: Floats,
    budget: SearchBudget = UNLIMITED,
) -> Proof | None:
    """The proof with these weights, or None if they prove nothing."""
    rows, weights = rows[weights > 0.0], weights[weights > 0.0]
    unfair = verdicts.unfair[rows]
    signed = np.where(unfair, -weights, weights).tolist()
    square = proved_square(verdicts.gaps[rows].tolist(), unfair.tolist(), signed)
    if square <= 0:
        return no_proof(z)
    used = verdicts.differences[rows].tolist()
    if not leaves_semidefinite(z.tolist(), used, signed, diagonal=space.structure == "diagonal", budget=budget):
        return None
    return Proof(z, rows, weights, square)


def _parallel(verdicts: SourcedVerdicts, z: Floats) -> int | None:
    """The strongest fair verdict on a difference that is parallel to z, if there is any."""
    usable = ~verdicts.unfair & (verdicts.squared_lengths > SHORTEST)
    if not np.any(usable):
        return None
    lengths = np.where(usable, verdicts.squared_lengths, 1.0)
    shares = (verdicts.differences @ z) ** 2 / lengths
    parallel = usable & (shares >= (1.0 - PARALLEL) * (z @ z))
    bounds = np.where(parallel, shares / lengths * verdicts.thresholds, 0.0)
    best = int(np.argmax(bounds))
    return best if bounds[best] > 0.0 else None


def _by_parallel(space: MetricSpace, verdicts: SourcedVerdicts, z: Floats, row: int) -> Proof:
    """d(c z_j) = |c| d(z_j)."""
    other = verdicts.differences[row]
    same = np.array_equal(z, other) or np.array_equal(z, -other)
    squared = 1.0 if same else float(z @ other / (other @ other)) ** 2
    for weight in (squared, squared * (1.0 - MARGIN)):
        proof = checked(space, verdicts, z, np.array([row]), np.array([weight]))
        if proof is not None:
            return proof
    return no_proof(z)


def no_proof(z: Floats) -> Proof:
    """That z'Gz >= 0."""
    return Proof(z, np.zeros(0, np.int64), np.zeros(0), Fraction(0))


# Exact arithmetic.


def leaves_semidefinite(
    z: Numbers, rows: Sequence[Numbers], signed: Numbers, *, diagonal: bool, budget: SearchBudget = UNLIMITED
) -> bool:
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
    matrix = []
    for i in range(d):
        budget.spend(BIG * d * len(table))
        matrix.append([sum(s[i] * v[j] for s, v in zip(scaled, table, strict=True)) for j in range(d)])
    return _is_semidefinite(matrix, budget)


def _is_semidefinite(matrix: list[Whole], budget: SearchBudget) -> bool:
    """Symmetric elimination; a zero on the diagonal is allowed only in a row of zeros."""
    last = 1
    for p in range(len(matrix)):
        budget.spend(BIG * (p + 1) * (len(matrix) - p) ** 2)  # numbers grow with every pivot
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
