"""ProxyWorld: a proxy of group membership predicts reward, and the metric ignores it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand._internal.checks import check_share
from evenhand._internal.randomness import Seed
from evenhand.environments._streams import separate_streams
from evenhand.environments.contexts import ProxyGroups
from evenhand.environments.fair_environment import FairEnvironment
from evenhand.environments.outcomes import OutcomeModel
from evenhand.environments.truths import MetricKind, metric_from, random_direction

Floats = NDArray[np.float64]


class ProxyWorld(FairEnvironment):
    """Two groups with equal merits; the proxy that separates them predicts reward, and the metric ignores it.

    The paper's motivating case: maximising reward favours one group, but candidates that differ only in the proxy must
    be treated alike. theta has norm 1, with `proxy_weight` on the proxy (the last feature) and the rest on the merits
    in a random direction. metric: a kind, or a matrix (r, d - 1), on the merits; A has a column of zeros for the proxy.

    >>> world = ProxyWorld(n_features=3, n_candidates=4, seed=0)
    >>> contexts, _ = world.reset(seed=1)
    >>> float(np.linalg.norm(world.A[:, -1])), round(float(world.theta[-1]), 2)
    (0.0, 0.7)
    >>> world.groups(contexts).shape
    (4,)
    """

    def __init__(
        self,
        *,
        n_features: int = 5,
        n_candidates: int = 5,
        metric: MetricKind | ArrayLike = "full",
        norm: float = 0.7,
        proxy_weight: float = 0.7,
        share: float = 0.5,
        outcomes: OutcomeModel | None = None,
        seed: Seed = None,
    ) -> None:
        source = ProxyGroups(n_features, share=share)
        weight = check_share("proxy_weight", proxy_weight)
        theta_rng, metric_rng, own = separate_streams(seed, 3)
        merits = random_direction(n_features - 1, seed=theta_rng) * np.sqrt(1.0 - weight**2)
        A = metric_from(metric, n_features - 1, norm=norm, seed=metric_rng)
        super().__init__(
            np.append(merits, weight),
            np.hstack([A, np.zeros((len(A), 1))]),
            source=source,
            n_candidates=n_candidates,
            outcomes=outcomes,
            seed=own,
        )

    def groups(self, contexts: Floats) -> NDArray[np.bool_]:
        """Which of these candidates (k, d) belong to the group that the proxy favours, (k,)."""
        return np.asarray(contexts[:, -1] > 0)
