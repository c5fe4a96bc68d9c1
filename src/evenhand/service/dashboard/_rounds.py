"""Flagged rounds and rewards over time, with the target and the bound: what the charts show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.bandit.safeguards import STEP
from evenhand.desk.projection.projection import SPANS

if TYPE_CHECKING:
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.settings import DeskSettings

Floats = NDArray[np.float64]

POINTS = 120
"""Maximum points of the chart of flagged rounds."""
MEANS = 30
"""Maximum points of the chart of rewards: a mean of few rewards says little."""

BEYOND_TARGET = 1.0 / STEP + 1.0
"""Flags beyond the target before all probabilities are equal: 1/step + 1, see `Margin`."""

CONFIDENCE = 0.95


def rounds_part(projection: Projection, settings: DeskSettings) -> dict[str, Any]:
    """What the charts show. Takes as long for a million decisions as for a thousand."""
    return {
        "decisions": projection.bandit.rounds,
        "flagged": _flagged(projection, settings, _edges(projection, POINTS)),
        "reward": _rewards(projection, _edges(projection, MEANS)),
    }


def _edges(projection: Projection, most: int) -> NDArray[np.int64]:
    """Where the spans of the charts end, in decisions; the last one at the number of decisions."""
    decisions, width = projection.bandit.rounds, projection.history.width
    spans = -(-decisions // width)
    together = max(1, -(-spans // most)) * width
    return np.minimum(np.arange(together, decisions + together, together), decisions)


def _flagged(projection: Projection, settings: DeskSettings, edges: NDArray[np.int64]) -> dict[str, Any]:
    """The number of flags by each edge, the target, and the proved bound, whoever flags: see `Margin`.

    With an estimated target there is no bound on flags; `counted` is what the target limits.
    """
    safeguards = projection.bandit.safeguards
    came, unpromised = _by_edge(projection.history.flags, projection.history.width, edges).T
    target, allowed = projection.history.target_by(edges), BEYOND_TARGET + unpromised
    is_bounded = settings.target_unfair_share is not None and settings.target == "flagged"
    return {
        "total": len(safeguards.flagged_rounds),
        "edges": edges.tolist(),
        "came": came.astype(int).tolist(),
        "target": settings.target_unfair_share,
        "target_by": np.round(target, 6).tolist(),
        "counts": settings.target,
        "counted": round(safeguards.counted, 6),
        "bound_by": np.round(target + allowed, 6).tolist() if is_bounded else None,
        "start": BEYOND_TARGET,
        "late": int(unpromised[-1]) if len(edges) else 0,
        "cap": settings.max_unfair_rounds,
        "is_capped": safeguards.is_capped,
        "scale": safeguards.margin.scale,
    }


def _by_edge(spans: Floats, width: int, edges: NDArray[np.int64]) -> Floats:
    """Sums over all spans up to each edge."""
    ends = np.minimum(-(-edges // width), SPANS)
    summed: Floats = np.cumsum(np.vstack([np.zeros(spans.shape[1]), spans]), axis=0)[ends]
    return summed


def _rewards(projection: Projection, edges: NDArray[np.int64]) -> dict[str, Any]:
    """The mean reward of each span with its 95% confidence interval, and the mean of all up to each edge."""
    history = projection.history
    if not len(edges):
        return {"outcomes": 0, "mean": None, "edges": [], "by_span": [], "low": [], "high": [], "so_far": []}
    edges = _whole_spans(edges, _by_edge(history.rewards, history.width, edges)[:, 0])
    up_to = _by_edge(history.rewards, history.width, edges)
    sums = np.diff(up_to, axis=0, prepend=np.zeros((1, 3)))
    mean, half = _mean_and_half(sums)
    so_far, _ = _mean_and_half(up_to)
    return {
        "outcomes": int(sums[:, 0].sum()),
        "mean": _plain(so_far)[-1],
        "edges": edges.tolist(),
        "by_span": _plain(mean),
        "low": _plain(mean - half),
        "high": _plain(mean + half),
        "so_far": _plain(so_far),
    }


def _whole_spans(edges: NDArray[np.int64], outcomes: Floats) -> NDArray[np.int64]:
    """The edges, with a last span that has hardly begun merged into the one before.

    outcomes: by each edge. A last span is whole if it has as many decisions as the first, and half as many outcomes as
    spans have on average: the mean of a single outcome would look as if everything had changed.
    """
    while len(edges) > 1:
        width, few = edges[-1] - edges[-2], outcomes[-1] - outcomes[-2] < outcomes[-1] / len(edges) / 2
        if width >= edges[0] and not few:
            break
        edges, outcomes = np.delete(edges, -2), np.delete(outcomes, -2)
    return edges


def _mean_and_half(sums: Floats) -> tuple[Floats, Floats]:
    """Means, NaN without rewards, and half the widths of Student's intervals, NaN for fewer than two rewards."""
    from scipy.special import stdtrit  # slow to import

    count = sums[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums[:, 1] / count
        variance = np.maximum(sums[:, 2] / count - mean**2, 0.0) * count / (count - 1)
        quantile = stdtrit(np.maximum(count - 1, 1), (1 + CONFIDENCE) / 2)
        half = np.where(count > 1, quantile * np.sqrt(variance / count), np.nan)
    return mean, half


def _plain(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 6) for value in values]
