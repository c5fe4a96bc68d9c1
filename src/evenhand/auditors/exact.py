"""Exact auditors: they flag the pairs whose gap exceeds a distance, fixed or moving, and know the truth."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_matrix, check_number, check_share, check_whole, is_number, refusal
from evenhand._internal.randomness import Seed, as_generator
from evenhand.auditors.pairs import flagging, gaps
from evenhand.errors import InvalidInput
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Review

FREQUENCY = 4 * math.pi
"""Frequency of the wobble: one period when the sum of two contexts moves by half a unit."""


class DistanceAuditor(ABC):
    """Flags exactly the pairs whose gap exceeds their distance; a subclass defines the distance.

    Probabilities are exact only to a tolerance, so a gap that exceeds its distance by less is no violation.

    >>> class Everybody(DistanceAuditor):
    ...     def distances(self, contexts):
    ...         return 0.3 * (1.0 - np.eye(len(contexts)))
    >>> decision = Decision("", 0, np.eye(3), np.array([0.6, 0.4, 0.0]), (0,), 1, np.zeros(3))
    >>> Everybody().review(decision).unfair
    ((0, 2), (1, 2))
    """

    @abstractmethod
    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k): symmetric, >= 0, 0 on the diagonal."""

    def excess(self, decision: Decision) -> Floats:
        """By how much each pair's gap exceeds its distance, (k, k); negative where it does not."""
        return np.asarray(gaps(decision) - self.distances(decision.contexts))

    def review(self, decision: Decision) -> Review:
        """A complete review."""
        return flagging(self.excess(decision) > PROBABILITY_TOLERANCE)


class NormAuditor(DistanceAuditor):
    """Distances ||A (x - y)||_p, A any (r, d) matrix, p >= 1 or math.inf; p = 2 is MahalanobisAuditor.

    For other p it is a distance outside the learned class, unless r = 1.

    >>> contexts = np.array([[0.3, 0.4], [0.0, 0.0]])
    >>> [round(float(NormAuditor(np.eye(2), p).distances(contexts)[0, 1]), 3) for p in (1, 2, math.inf)]
    [0.7, 0.5, 0.4]
    """

    def __init__(self, A: ArrayLike, p: float) -> None:
        self.A = check_matrix("A", A)
        if not (p == math.inf or (is_number(p) and p >= 1)):
            raise refusal("p", "a number >= 1 or math.inf", p)
        self.p = float(p)

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        if contexts.shape[-1] != self.A.shape[1]:
            raise InvalidInput(f"A must have a column for each of {contexts.shape[-1]} features, got {self.A.shape[1]}")
        images = contexts @ self.A.T
        return np.asarray(np.linalg.norm(images[:, None, :] - images[None, :, :], ord=self.p, axis=2))


class MahalanobisAuditor(NormAuditor):
    """The paper's exact fairness oracle, d(x, y) = ||A (x - y)||; A is any (r, d) matrix.

    >>> from evenhand import FairBandit
    >>> decision = FairBandit(n_features=2, seed=0).decide([[1.0, 0.0], [0.0, 1.0]])
    >>> MahalanobisAuditor([[0.0, 0.0]]).review(decision).kind
    'complete'
    """

    def __init__(self, A: ArrayLike) -> None:
        super().__init__(A, 2)


class WobblingAuditor(NormAuditor):
    """Distances ||A (x - y)|| (1 + w s(x, y)): `wobble` w from 0 to 1, s(x, y) = sin(<v, x + y> + phase) in [-1, 1].

    A is any (r, d) matrix. The seed fixes v, a random direction times FREQUENCY, and the phase. So a pair always has
    the same distance, in either order, and similar pairs are off by similar amounts.

    >>> contexts = np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> distance = WobblingAuditor(np.eye(2), 0.1, seed=0).distances(contexts)[0, 1]
    >>> bool(0.9 <= distance <= 1.1 and distance != 1.0)
    True
    """

    def __init__(self, A: ArrayLike, wobble: float, *, seed: Seed = None) -> None:
        super().__init__(A, 2)
        self.wobble = check_share("wobble", wobble)
        rng = as_generator(seed)
        direction = rng.normal(size=self.A.shape[1])
        self._waves = FREQUENCY * direction / np.linalg.norm(direction)
        self._phase = rng.uniform(0.0, math.pi)  # half of it for each of the two

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        angles = contexts @ self._waves + self._phase
        wobbles = self.wobble * np.sin(angles[:, None] + angles[None, :])
        return np.asarray(super().distances(contexts) * (1.0 + wobbles))


class GroupAuditor(DistanceAuditor):
    """||A_within (x - y)|| within a group, ||A_across (x - y)|| across groups; matrices (r, d) and (s, d).

    A candidate belongs to the first group if `feature`, counted from 0, is above `threshold`, else to the second. No
    single matrix has these distances, and the triangle inequality need not hold.

    >>> auditor = GroupAuditor([[1.0, 0.0]], [[0.2, 0.0]], feature=1)
    >>> contexts = np.array([[0.5, 0.1], [0.0, 0.1], [0.0, -0.1]])
    >>> auditor.distances(contexts).tolist()
    [[0.0, 0.5, 0.1], [0.5, 0.0, 0.0], [0.1, 0.0, 0.0]]
    """

    def __init__(self, A_within: ArrayLike, A_across: ArrayLike, *, feature: int, threshold: float = 0.0) -> None:
        self.A_within = check_matrix("A_within", A_within)
        d = self.A_within.shape[1]
        self.A_across = check_matrix("A_across", A_across, columns=d)
        self.feature = check_whole("feature", feature, least=0, most=d - 1)
        self.threshold = check_number("threshold", threshold)

    def groups(self, contexts: Floats) -> NDArray[np.bool_]:
        """Which rows of `contexts` (k, d) are above the threshold, (k,)."""
        return np.asarray(contexts[:, self.feature] > self.threshold)

    def distances(self, contexts: Floats) -> Floats:
        """The true distances between the rows of `contexts` (k, d), (k, k)."""
        group = self.groups(contexts)
        within, across = (MahalanobisAuditor(A).distances(contexts) for A in (self.A_within, self.A_across))
        return np.where(group[:, None] == group[None, :], within, across)


class MovingAuditor(DistanceAuditor):
    """Judges each decision by the distances of the decision's own round; a subclass defines them in `at`.

    So a late review equals a prompt one.
    """

    @abstractmethod
    def at(self, round: int) -> DistanceAuditor:
        """The fixed auditor with the distances of that round, counted from 0."""

    def distances(self, contexts: Floats) -> Floats:
        """The distances of round 0 between the rows of `contexts` (k, d), (k, k); see `at` for other rounds."""
        return self.at(0).distances(contexts)

    def excess(self, decision: Decision) -> Floats:
        """By how much each pair's gap exceeds its distance in the decision's round, (k, k)."""
        return self.at(decision.round).excess(decision)


class DriftingAuditor(MovingAuditor):
    """G = A'A moves in a straight line from that of `A_first` (r, d) to that of `A_last` (s, d), then stays.

    In round t < rounds it has gone t / rounds of the way.

    >>> auditor = DriftingAuditor([[0.0]], [[1.0]], rounds=100)
    >>> contexts = np.array([[1.0], [0.0]])
    >>> [float(auditor.at(t).distances(contexts)[0, 1]) for t in (0, 25, 100, 1000)]
    [0.0, 0.5, 1.0, 1.0]
    """

    def __init__(self, A_first: ArrayLike, A_last: ArrayLike, rounds: int) -> None:
        self.A_first = check_matrix("A_first", A_first)
        self.A_last = check_matrix("A_last", A_last, columns=self.A_first.shape[1])
        self.rounds = check_whole("rounds", rounds, least=1)

    def at(self, round: int) -> MahalanobisAuditor:
        """The fixed auditor of that round."""
        gone = min(max(round / self.rounds, 0.0), 1.0)
        # The weighted rows of both, stacked: their A'A is the weighted sum of the two.
        return MahalanobisAuditor(np.vstack([math.sqrt(1.0 - gone) * self.A_first, math.sqrt(gone) * self.A_last]))


class RotatingAuditor(MovingAuditor):
    """In round t distances are ||A R_t (x - y)||, R_t a rotation by t times `turns_per_round`.

    A is any (r, d) matrix, d >= 2. Features rotate in pairs, the first with the second, the third with the fourth; the
    last of an odd number stays. G = A'A keeps its norm; a multiple of the identity does not move.

    >>> auditor = RotatingAuditor([[1.0, 0.0]], turns_per_round=0.25)
    >>> contexts = np.array([[0.5, 0.0], [0.0, 0.0]])
    >>> [round(float(auditor.at(t).distances(contexts)[0, 1]), 6) for t in (0, 1, 2)]
    [0.5, 0.0, 0.5]
    """

    def __init__(self, A: ArrayLike, turns_per_round: float) -> None:
        self.A = check_matrix("A", A)
        if self.A.shape[1] < 2:
            raise InvalidInput(f"A must have at least 2 columns to rotate, got shape {self.A.shape}")
        self.turns_per_round = check_number("turns_per_round", turns_per_round)

    def at(self, round: int) -> MahalanobisAuditor:
        """The fixed auditor of that round."""
        angle = 2 * math.pi * math.fmod(self.turns_per_round * round, 1.0)
        d = self.A.shape[1]
        R = np.eye(d)
        for i in range(0, d - 1, 2):
            R[i, i] = R[i + 1, i + 1] = math.cos(angle)
            R[i, i + 1], R[i + 1, i] = -math.sin(angle), math.sin(angle)
        return MahalanobisAuditor(self.A @ R)
