"""A metric learned offline, from one batch of flags, by metric-learn's ITML, rescaled.

BatchMetric collects verdicts and learns from them once; OfflineMetric plays random probabilities until then.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_one_of, check_whole
from evenhand._internal.randomness import Seed, as_generator
from evenhand.baselines.assembled import HALF
from evenhand.baselines.lottery import Lottery, Play, phase_length
from evenhand.errors import MissingExtra
from evenhand.metrics import Learned, MetricLearner, Pairs, Verdicts
from evenhand.rewards import RewardModel

Use = Literal["over_gap", "plain"]

COLLECTING = "default: still gathering"
"""`source` before the fit; also its value in files of version 0.1."""

ROUNDS_OF_ITML = 50
"""Passes over the pairs; more change held-out agreement less than the choice of pairs does."""

MOST_PAIRS = 2000
"""Maximum number of training pairs: ITML visits each in every pass, about a second."""

LEAST_LENGTH = 1e-9
"""Minimum distance of a pair of contexts: ITML divides by its square."""


class BatchMetric(MetricLearner):
    """Standard metric learning on the flags: ITML (Davis, Kulis, Jain, Sra, Dhillon 2007).

    For the first `reviews` reviews the distance is ||x - y|| / 2. Then metric-learn's ITML is trained on a random share
    of the verdicts, flagged pairs as similar and the others as dissimilar, and the distance is multiplied by the factor
    under which "gap > distance" agrees with the most flags of the `held_out` share. After that nothing changes.
    `source` says where the metric comes from: without both kinds of verdict only the scale of ||x - y|| is learned,
    without any verdict not even that.

    use: "over_gap" divides the difference of two contexts by their gap, so that ITML's single bound for all pairs, at
    1, says exactly what a flag says, d < gap. "plain" passes the pairs unchanged, without the unflagged ones of small
    gap, and gaps enter only through the scale: what a user of metric-learn would try first, and less accurate.

    Needs metric-learn (pip install 'evenhand[peers]'). Cost: at most 50 passes over 2000 pairs, O(d^2) a pair, once.

    >>> learner = BatchMetric(1, reviews=2)
    >>> for gap, unfair in ((0.2, False), (0.4, True)):
    ...     learned = learner.learn_pair([1.0], [0.0], gap=gap, unfair=unfair)
    >>> learner.fitted, 0.2 < learner.get_metric()([1.0], [0.0]) < 0.4
    (True, True)
    """

    def __init__(
        self, n_features: int, *, reviews: int, use: Use = "over_gap", held_out: float = 0.3, seed: int = 0
    ) -> None:
        super().__init__(n_features)
        self.reviews = check_whole("reviews", reviews, least=1)
        check_one_of("use", use, get_args(Use))
        self.use: Use = use
        self.held_out = check_number("held_out", held_out, above=0, below=1)
        self.seed = check_whole("seed", seed, least=0)
        itml()  # report a missing package now, not after the last review
        self.source = COLLECTING
        self._A = HALF * np.eye(self.n_features)
        self._collected: list[Verdicts] = []

    @property
    def fitted(self) -> bool:
        """Whether the metric has been learned and is fixed."""
        return self.source != COLLECTING

    def estimate(self, pairs: Pairs) -> Floats:
        """||A z||^2 of each pair, (n,)."""
        return np.asarray(np.sum((pairs.differences @ self._A.T) ** 2, axis=1))

    def ends(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """The estimate twice: a batch method has no error bars."""
        exact = self.estimate(pairs)
        return exact, exact

    def matrix(self) -> Floats:
        """A'A, (d, d)."""
        return np.asarray(self._A.T @ self._A)

    def learn(self, verdicts: Verdicts) -> Learned:
        """Collect the verdicts of a review; with the last one, learn the metric."""
        if self.fitted:
            return Learned()
        collected = [*self._collected, verdicts]
        if len(collected) == self.reviews:
            rng = np.random.default_rng(self.seed)
            self._A, self.source = fit_batch(
                joined(collected), use=self.use, held_out=self.held_out, default=self._A, rng=rng
            )
            collected = []
        self._collected = collected
        return Learned(len(verdicts))

    def learn_bit(self, verdicts: Verdicts, *, any_unfair: bool) -> Learned:
        """A bit is a verdict only if there is a single pair; after the fit nothing is learned."""
        return Learned() if self.fitted else super().learn_bit(verdicts, any_unfair=any_unfair)

    def state(self) -> dict[str, Any]:
        """Settings, the matrix, and the verdicts collected so far."""
        names = ("n_features", "reviews", "use", "held_out", "seed", "source")
        collected = [
            {"indices": v.pairs.indices, "z": v.pairs.differences, "gaps": v.gaps, "unfair": v.unfair, "tight": v.tight}
            for v in self._collected
        ]
        return {name: getattr(self, name) for name in names} | {
            "A": self._A,
            "gathered": {str(row): part for row, part in enumerate(collected)},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The saved learner, to the bit."""
        learner = cls(**{name: state[name] for name in ("n_features", "reviews", "use", "held_out", "seed")})
        learner.source, learner._A = state["source"], state["A"].copy()
        parts = [state["gathered"][str(row)] for row in range(len(state["gathered"]))]
        learner._collected = [Verdicts(Pairs(v["indices"], v["z"]), v["gaps"], v["unfair"], v["tight"]) for v in parts]
        return learner


class OfflineMetric(Lottery):
    """Plays random probabilities for `reviews` reviews, or T^(2/3) of a `horizon` T; then OFUL under their metric.

    The metric is `BatchMetric`: metric-learn's ITML (Davis, Kulis, Jain, Sra, Dhillon, "Information-theoretic metric
    learning", 2007; de Vazelhes et al., "metric-learn", 2020), scaled on held-out pairs. Probabilities are random while
    flags are collected: equal ones cannot be unfair and teach nothing, and one fixed gap would not reveal the scale.
    Rewards are learned by ridge regression throughout.

    Expect unfair pairs throughout the first phase, and after it at a rate that no longer falls, since the metric stays
    as far off as the batch left it: both unfair pairs and regret are linear in the number of rounds.

    use: see BatchMetric. Reviews may be complete or partial; of one-bit reviews only those that found nothing.

    >>> policy = OfflineMetric(2, reviews=50, seed=0)
    >>> policy.collecting
    True
    """

    def __init__(
        self,
        n_features: int,
        *,
        reviews: int | None = None,
        horizon: int | None = None,
        use: Use = "over_gap",
        held_out: float = 0.3,
        capacity: int | None = 1,
        reward: RewardModel | None = None,
        seed: Seed = None,
    ) -> None:
        rng = as_generator(seed)
        length = phase_length("reviews", reviews, horizon)
        metric = BatchMetric(n_features, reviews=length, use=use, held_out=held_out, seed=int(rng.integers(2**31)))
        super().__init__(n_features, capacity=capacity, metric=metric, reward=reward, seed=rng)

    @property
    def collecting(self) -> bool:
        """Whether flags are still being collected."""
        return isinstance(self.metric, BatchMetric) and not self.metric.fitted

    def play(self, contexts: Floats) -> Play:
        """Random probabilities while collecting; after, the best for optimistic rewards under the learned metric."""
        rewards = self.reward.optimistic(contexts)
        if self.collecting:
            return Play(random_probabilities(len(contexts), self.capacity, self._rng), rewards)
        return self.best_fair(contexts, rewards)


def random_probabilities(k: int, capacity: float | None, rng: np.random.Generator) -> Floats:
    """Probabilities (k,) with gaps of every size, the same for each candidate on average.

    As many candidates as there are places, drawn at random, have probability s, uniform on [0, 1]; the others share
    the rest of the capacity. With a place for everybody all probabilities are uniform.

    >>> bool(random_probabilities(5, 1, np.random.default_rng(0)).sum().round(12) == 1.0)
    True
    """
    if capacity is None or capacity >= k:
        return rng.random(k)
    share = rng.random()
    p = np.full(k, min(1.0, capacity * (1.0 - share) / (k - capacity)))
    p[rng.choice(k, size=int(capacity), replace=False)] = share
    return p


def joined(parts: list[Verdicts]) -> Verdicts:
    """The verdicts of many rounds as one table; at least one part."""
    pairs = Pairs(
        np.concatenate([v.pairs.indices for v in parts]), np.concatenate([v.pairs.differences for v in parts])
    )
    gaps, unfair, tight = (np.concatenate([getattr(v, name) for v in parts]) for name in ("gaps", "unfair", "tight"))
    return Verdicts(pairs, gaps, unfair, tight)


def itml() -> Any:
    """metric-learn's ITML class."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("metric_learn").ITML
    except ImportError:
        raise MissingExtra("the offline metric needs metric-learn: pip install 'evenhand[peers]'") from None


def fit_batch(
    verdicts: Verdicts, *, use: Use, held_out: float, default: Floats, rng: np.random.Generator
) -> tuple[Floats, str]:
    """A (d, d) with d(x, y) = ||A (x - y)||, and where it comes from.

    Trained on a random share of the verdicts, scaled on the `held_out` rest, or on all if the rest holds no flag or
    nothing but flags. If the training pairs do, or ITML fails, the shape is that of `default` (d, d) and only the
    scale is learned; without any verdict A is `default`.
    """
    usable = verdicts.take(np.linalg.norm(verdicts.pairs.differences, axis=1) > LEAST_LENGTH)
    if len(usable) == 0:
        return default, "default: no verdict"
    order = rng.permutation(len(usable))
    n_held = round(held_out * len(usable))
    held, training = usable.take(order[:n_held]), usable.take(order[n_held:][:MOST_PAIRS])
    shape, source = _shape(training, use, default)
    judged = held if 0 < np.sum(held.unfair) < len(held) else usable
    lengths = np.linalg.norm(judged.pairs.differences @ shape.T, axis=1)
    return best_scale(lengths, judged.gaps, judged.unfair) * shape, source


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
    chosen = training if use == "over_gap" else _informative(training)
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


def _informative(verdicts: Verdicts) -> Verdicts:
    """The flagged pairs, and the others whose gap is at least the median: a small gap is never flagged."""
    return verdicts.take(verdicts.unfair | (verdicts.gaps >= np.median(verdicts.gaps)))


def _fit_itml(pairs: Floats, y: NDArray[np.int64], *, bounds: list[float] | None) -> Floats:
    """The square root A (d, d) of what ITML learns from pairs (n, 2, d), y = 1 for alike and -1 for not."""
    model = itml()(max_iter=ROUNDS_OF_ITML, random_state=0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # deprecations between metric-learn and scikit-learn
        model.fit(pairs, y, bounds=bounds)
        return np.asarray(model.components_, dtype=np.float64)
