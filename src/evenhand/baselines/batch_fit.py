"""A Mahalanobis matrix from a batch of verdicts, by metric-learn's ITML, with its scale set on held-out pairs."""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import MissingExtra
from evenhand.metrics import Verdicts

Floats = NDArray[np.float64]
Use = Literal["over_gap", "plain"]

ROUNDS_OF_ITML = 50
"""Passes over the pairs; more change the agreement on held-out pairs by less than the choice of the pairs does."""

MOST_PAIRS = 2000
"""Training pairs given to ITML, which visits each in every pass: about a second."""

LEAST_LENGTH = 1e-9
"""Pairs of contexts closer than this are left out: ITML divides by their squared distance."""


def itml() -> Any:
    """metric-learn's ITML class, or a sentence that says how to get it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("metric_learn").ITML
    except ImportError:
        raise MissingExtra("the offline metric needs metric-learn: pip install 'evenhand[peers]'") from None


def fit_batch(
    verdicts: Verdicts, *, use: Use, held_out: float, default: Floats, rng: np.random.Generator
) -> tuple[Floats, str]:
    """A (d, d) with d(x, y) = ||A (x - y)||, and how it was come by.

    Trained on a random share of the verdicts, scaled on the `held_out` rest, or on all if the rest holds no flag or
    nothing but flags. If the training pairs do, or ITML fails, the shape is that of `default` (d, d) and only the
    scale is learned; without any verdict A is `default`.
    """
    usable = verdicts.take(np.linalg.norm(verdicts.pairs.differences, axis=1) > LEAST_LENGTH)
    if len(usable) == 0:
        return default, "default: no verdict was heard"
    order = rng.permutation(len(usable))
    n_held = round(held_out * len(usable))
    held, training = usable.take(order[:n_held]), usable.take(order[n_held:][:MOST_PAIRS])
    shape, source = _shape(training, use, default)
    judges = held if 0 < np.sum(held.unfair) < len(held) else usable
    lengths = np.linalg.norm(judges.pairs.differences @ shape.T, axis=1)
    return best_scale(lengths, judges.gaps, judges.unfair) * shape, source


def best_scale(lengths: Floats, gaps: Floats, unfair: NDArray[np.bool_]) -> float:
    """The s for which "flagged" and "gap > s length" agree on the most pairs; lengths, gaps, unfair: (n,), n >= 1.

    The agreement changes only at the ratios gap / length: the middle of the best stretch between two of them, the
    lowest such stretch if several are equally good, and the largest ratio itself if no scale is too large.

    >>> best_scale(np.ones(4), np.array([0.1, 0.2, 0.4, 0.6]), np.array([False, False, True, True]))
    0.30000000000000004
    """
    ratios = gaps / np.maximum(lengths, np.finfo(float).tiny)
    order = np.argsort(ratios, kind="stable")
    edges, flagged = ratios[order], unfair[order]
    # With s between edges i - 1 and i, wrong are the flags among the first i and the rest's that are none.
    wrong = np.concatenate([[0], np.cumsum(flagged)]) + np.sum(~flagged) - np.concatenate([[0], np.cumsum(~flagged)])
    wrong[1:-1][edges[1:] == edges[:-1]] = len(edges) + 1  # no s lies between equal ratios
    best = int(np.argmin(wrong))
    if best == len(edges):
        return float(edges[-1])
    return float((edges[best - 1] if best > 0 else 0.0) + edges[best]) / 2.0


def _shape(training: Verdicts, use: Use, default: Floats) -> tuple[Floats, str]:
    chosen = training if use == "over_gap" else _telling(training)
    n_flagged = int(np.sum(chosen.unfair))
    if n_flagged in (0, len(chosen)):
        kind = "no pair was flagged" if n_flagged == 0 else "every pair was flagged"
        return default, f"scaled default: {kind}"
    z = chosen.pairs.differences
    ends = z / chosen.gaps[:, None] if use == "over_gap" else z
    pairs = np.stack([ends, np.zeros_like(ends)], axis=1)
    try:
        A = _fit_itml(pairs, np.where(chosen.unfair, 1, -1), bounds=[1.0, 1.0] if use == "over_gap" else None)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        return default, f"scaled default: ITML failed ({error})"
    if not np.all(np.isfinite(A)) or not np.any(A):
        return default, "scaled default: ITML gave no metric"
    return A, "ITML"


def _telling(verdicts: Verdicts) -> Verdicts:
    """The flagged pairs, and of the others those with a gap of the median at least: a small gap is never flagged."""
    return verdicts.take(verdicts.unfair | (verdicts.gaps >= np.median(verdicts.gaps)))


def _fit_itml(pairs: Floats, y: NDArray[np.int64], *, bounds: list[float] | None) -> Floats:
    """The square root A (d, d) of what ITML learns from pairs (n, 2, d), y = 1 for alike and -1 for not."""
    model = itml()(max_iter=ROUNDS_OF_ITML, random_state=0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # deprecations between metric-learn and scikit-learn are not our users' matter
        model.fit(pairs, y, bounds=bounds)
        return np.asarray(model.components_, dtype=np.float64)
