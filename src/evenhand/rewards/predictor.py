"""Predictor: any scikit-learn regressor or classifier as the model of rewards, refitted as outcomes come in."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number, check_one_of, check_whole, check_whole_or_none, is_number, refusal
from evenhand._internal.shared_copy import SharedCopy
from evenhand.errors import InvalidInput
from evenhand.rewards import _estimators
from evenhand.rewards._conformal import OnlineConformal
from evenhand.rewards._estimators import Way, expected_rewards, fitted
from evenhand.rewards.estimator_files import MOST_UNPACKED, as_text, from_text, loaded, to_bytes
from evenhand.rewards.model import RewardModel, below_cap, check_lengths, check_shares

Width = Literal["ensemble", "conformal"]

FIRST_WIDTH = 1.0
"""The width of every candidate before there is a fitted model: rewards are between -1 and 1."""

SLOWER = 10
"""After n outcomes the next fit is n / SLOWER later, if that is more than `refit_every`: they grow with log n."""

HELD_OUT = 5
"""One in so many of the outcomes in memory, the newest, judge whether a refitted model beats the one in use."""

LEAST_OUTCOMES = 10
"""Fewer fit no model."""

ROUNDING = 1e-6
"""An outcome per whole that is this close to a class is that class: shares and outcomes are rounded when written."""

MOST_MEMORY = 100_000
MOST_MEMBERS = 100

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelInUse:
    """The models that are played, as bytes, and how they came about."""

    model: bytes | None
    """None until there is a fitted one."""
    members: tuple[bytes, ...] = ()
    refits: int = 0
    rejected: int = 0
    """Refits that predicted the newest outcomes worse than the model in use, and were not used."""
    problem: str | None = None
    """Why the last refit failed; None if it did not."""


class Predictor(SharedCopy, RewardModel):
    """Expected rewards from a scikit-learn estimator: a regressor, or a classifier whose classes are rewards (0 and 1).

    model: fitted to contexts, or not fitted yet (then pass `n_features`); a copy is kept, made with skops: no pickle,
    and only types of scikit-learn that are listed. Seeds that are None become `seed`, and it runs in one thread.

    width: how uncertain an estimate is.
    - "ensemble" (default): `scale` standard deviations of a forest's or a bagging's members; for other models of
      `members` copies, each fitted to a resample of the outcomes. Until the first refit a model that was fitted
      already is played as it is, with width 0. No guarantee.
    - "conformal", for regressors: a share `confidence` of outcomes lies outside, whatever happens (`OnlineConformal`).
    - a number: the same for everybody.

    refit_every: after this many outcomes the model learns them with `partial_fit` if it has that (`way`). Else it is
    fitted again to the newest `memory` outcomes, the next time a tenth later if that is more. What is fitted again
    replaces the model in use only if, fitted to the older outcomes, it predicts the newest fifth at least as well: a
    model that was fitted elsewhere to many outcomes is not lost to one that has seen few. None: never. A refit that
    fails changes nothing but `in_use.problem`. Refits depend on the outcomes and their order alone.

    >>> from sklearn.linear_model import Ridge
    >>> model = Predictor(Ridge(), n_features=1, refit_every=20)
    >>> contexts = np.linspace(-1, 1, 40)[:, None]
    >>> model.learn(contexts, 0.5 * contexts[:, 0])
    >>> model.in_use.refits, model.estimate(np.array([[1.0]])).round(1).tolist()
    (1, [0.5])
    """

    _settings = (
        "n_features",
        "width",
        "scale",
        "confidence",
        "members",
        "refit_every",
        "memory",
        "way",
        "seed",
    )

    def __init__(
        self,
        model: Any,
        n_features: int | None = None,
        *,
        width: Width | float = "ensemble",
        scale: float = 2.0,
        confidence: float = 0.1,
        members: int = 5,
        refit_every: int | None = 100,
        memory: int = 2000,
        way: Way | None = None,
        seed: int = 0,
    ) -> None:
        self.seed = check_whole("seed", seed, least=0, most=2**32 - 1)
        if isinstance(model, type):
            raise InvalidInput(
                f"model must be an estimator, such as {model.__name__}(), got the class {model.__name__}"
            )
        self._given = _estimators.prepared(model if isinstance(model, bytes) else to_bytes(model), self.seed)
        self._n_features = _check_features(n_features, self._given)
        self.classes = _estimators.classes_of(self._given)
        """The rewards that a classifier tells apart; None for a regressor."""
        self.width = _check_width(width, self.classes)
        self.scale = check_number("scale", scale, least=0)
        self.confidence = check_number("confidence", confidence, above=0, below=1)
        self.members = check_whole("members", members, least=2, most=MOST_MEMBERS)
        self.refit_every = check_whole_or_none("refit_every", refit_every, least=LEAST_OUTCOMES)
        self.memory = check_whole("memory", memory, least=LEAST_OUTCOMES, most=MOST_MEMORY)
        if self.refit_every is not None and self.refit_every > self.memory:
            raise InvalidInput(f"memory must be at least refit_every, {self.refit_every}, got {self.memory}")
        self.way = self._check_way(way)
        self.in_use = ModelInUse(self._given if _estimators.is_fitted(self._given) else None)
        self.n_outcomes = 0
        self._next_refit = self.refit_every
        self._rows: tuple[Floats, ...] = ()
        """Context, reward, what was expected, and weight of each outcome in memory, in blocks of d + 3 columns."""
        self._conformal = OnlineConformal.first(self.n_features, self.confidence)

    def _check_way(self, way: Way | None) -> Way:
        can = _estimators.has_partial_fit(self._given)
        if way is None:
            return "partial_fit" if can else "fit"
        check_one_of("way", way, get_args(Way))
        if way == "partial_fit" and not can:
            raise InvalidInput("way must be 'fit' for a model without partial_fit, got 'partial_fit'")
        return way

    @property
    def n_features(self) -> int:
        """The length d of a context."""
        return self._n_features

    @property
    def model(self) -> Any:
        """The estimator in use, to look at: do not change it. None until there is a fitted one."""
        return None if self.in_use.model is None else loaded(self.in_use.model)

    @property
    def model_bytes(self) -> bytes:
        """The skops file of the model that was passed, ready to be refitted."""
        return self._given

    # Predicting.

    def estimate(self, contexts: Floats) -> Floats:
        """The reward that the model in use expects of each row, (k,); the middle of the rewards before there is one."""
        if self.in_use.model is None:
            return np.full(len(contexts), 0.0 if self.classes is None else float(np.mean(self.classes)))
        return expected_rewards(self.in_use.model, contexts)

    def widths(self, contexts: Floats) -> Floats:
        """The width of each estimate, (k,)."""
        if not isinstance(self.width, str):
            return np.full(len(contexts), self.width)
        if self.width == "conformal":
            return self._conformal.widths(contexts)
        used = self.in_use
        if used.model is None:
            return np.full(len(contexts), FIRST_WIDTH)
        found = _estimators.spread(used.model, used.members, contexts)
        return np.zeros(len(contexts)) if found is None else self.scale * found

    def optimistic(self, contexts: Floats) -> Floats:
        """Estimate plus width, (k,); of a classifier no more than its largest class."""
        estimate = self.estimate(contexts)
        total = estimate + self.widths(contexts)
        if self.classes is None:
            return total
        most = max(self.classes)
        return below_cap(np.minimum(total, most), estimate, np.maximum(total - most, 0.0))

    # Learning.

    @property
    def learns_shares(self) -> bool:
        """Whether the model can learn from shares: a classifier, or a regressor that takes weights of outcomes."""
        return self.classes is not None or _estimators.weight_argument(self._given, self.way) is not None

    def check_outcomes(self, contexts: Floats, rewards: Floats, shares: Floats | None = None) -> None:
        """InvalidInput for a reward that is too large, or no class of a classifier."""
        check_lengths(contexts, rewards)
        wholes = rewards if shares is None else self._per_whole(rewards, shares)
        for reward, whole in zip(rewards.tolist(), wholes.tolist(), strict=True):
            if not abs(reward) <= self.largest_reward:
                raise InvalidInput(
                    f"rewards must be from {-self.largest_reward} to {self.largest_reward}, got {reward}"
                )
            if self.classes is not None and whole not in self.classes:
                known = ", ".join(f"{one:g}" for one in self.classes)
                times = "" if shares is None else ", times the share"
                raise InvalidInput(f"rewards must be a class of the model, one of {known}{times}, got {reward}")

    def learn(self, contexts: Floats, rewards: Floats) -> None:
        """Keep outcomes: (n, d) contexts and (n,) rewards; and refit if it is time."""
        self.check_outcomes(contexts, rewards)
        self._learn(contexts, rewards, np.ones(len(rewards)))

    def learn_shares(self, contexts: Floats, rewards: Floats, shares: Floats) -> None:
        """Learn from outcomes at shares (n,), 0 < s <= 1: a regressor r / s with the weight s^2, as `RidgeUCB` does.

        For a classifier r / s must be a class, and an outcome at any share counts as much as a full one.
        """
        if not self.learns_shares:
            super().learn_shares(contexts, rewards, shares)
        self.check_outcomes(contexts, rewards, shares)
        weights = shares**2 if self.classes is None else np.ones(len(shares))
        self._learn(contexts, self._per_whole(rewards, shares), weights)

    def _per_whole(self, rewards: Floats, shares: Floats) -> Floats:
        """Outcomes per whole, r / s; those of a classifier that are a class but for rounding are that class."""
        check_shares(rewards, shares)
        whole = rewards / shares
        for one in self.classes or ():
            whole = np.where(np.abs(whole - one) <= ROUNDING * max(1.0, abs(one)), one, whole)
        return whole

    def _learn(self, contexts: Floats, rewards: Floats, weights: Floats) -> None:
        if len(rewards) == 0:
            return
        estimates = self.estimate(contexts)
        rows = (*self._rows, np.column_stack([contexts, rewards, estimates, weights]))
        n, used, due = self.n_outcomes + len(rewards), self.in_use, self._next_refit
        if due is not None and n >= due:
            table = np.concatenate(rows)[-self.memory :]
            used = self._refitted(table)
            due = n + max(self.refit_every or 0, 0 if self.way == "partial_fit" else n // SLOWER)
            rows = () if self.way == "partial_fit" and used.problem is None else (table,)
        elif sum(map(len, rows)) > 2 * self.memory:  # without refits it must not grow either
            rows = (np.concatenate(rows)[-self.memory :],)
        self._conformal = self._conformal.after(contexts, rewards, estimates)
        self._rows, self.n_outcomes, self.in_use, self._next_refit = rows, n, used, due

    def _refitted(self, table: Floats) -> ModelInUse:
        """The models after a refit to a table of outcomes. What fails in scikit-learn fails again in a replay."""
        try:
            refitted = self._updated(table) if self.way == "partial_fit" else self._fitted_anew(table)
        except MemoryError:
            raise
        except Exception as error:
            log.warning("a refit of %s failed: %s", type(loaded(self._given)).__name__, error)
            return replace(self.in_use, problem=f"{type(error).__name__}: {error}"[:500])
        return replace(refitted, refits=self.in_use.refits + 1, problem=None)

    def _fitted_anew(self, table: Floats) -> ModelInUse:
        used, held = self.in_use, table[-max(1, len(table) // HELD_OUT) :]
        trial = self._fit(self._given, table[: -len(held)])
        contexts, (rewards, before, weights) = held[:, :-3], held[:, -3:].T
        errors = expected_rewards(trial, contexts) - rewards
        is_better = bool(weights @ errors**2 <= weights @ (before - rewards) ** 2)
        model = self._fit(self._given, table) if is_better else used.model
        members = [self._fit(self._given, sample) for sample in self._resamples(table)]
        return replace(used, model=model, members=tuple(members), rejected=used.rejected + (not is_better))

    def _updated(self, table: Floats) -> ModelInUse:
        used = self.in_use
        before = used.members or (self._given,) * self.members
        samples = zip(before, self._resamples(table), strict=False)
        members = [self._fit(member, sample) for member, sample in samples]
        return replace(used, model=self._fit(used.model or self._given, table), members=tuple(members))

    def _fit(self, data: bytes, table: Floats) -> bytes:
        contexts, rewards = np.ascontiguousarray(table[:, :-3]), np.ascontiguousarray(table[:, -3])
        weights = None if np.all(table[:, -1] == 1.0) else np.ascontiguousarray(table[:, -1])
        if self.classes is not None and self.way == "fit" and set(rewards.tolist()) != set(self.classes):
            raise InvalidInput("not all classes have been seen yet")
        return fitted(data, self.way, contexts, rewards, self.classes, weights)

    def _resamples(self, table: Floats) -> list[Floats]:
        """A resample of the table for each member, if there are members: as large, with repetitions."""
        if self.width != "ensemble" or _estimators.has_members(self._given):
            return []
        rng = np.random.default_rng([self.seed, self.in_use.refits, self.n_outcomes])
        samples = [table[np.sort(rng.integers(len(table), size=len(table)))] for _ in range(self.members)]
        n_classes = 0 if self.classes is None else len(self.classes)
        return [table if len(set(one[:, -3].tolist())) < n_classes else one for one in samples]

    # Copying and saving.

    def recipe(self) -> dict[str, Any]:
        """Its name, its settings, and the file of the model that was passed, in base64."""
        usual = "partial_fit" if _estimators.has_partial_fit(self._given) else "fit"
        recipe = {name: value for name, value in super().recipe().items() if (name, value) != ("way", usual)}
        return recipe | {"model": as_text(self._given)}

    def state(self) -> dict[str, Any]:
        """Settings, models and the outcomes in memory."""
        used = self.in_use
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, self.n_features + 3))
        return {
            **self.settings(),
            "given": as_text(self._given),
            "model": None if used.model is None else as_text(used.model),
            "member_models": [as_text(member) for member in used.members],
            "refits": used.refits,
            "rejected": used.rejected,
            "problem": used.problem,
            "n_outcomes": self.n_outcomes,
            "next_refit": self._next_refit,
            "rows": rows,
            **self._conformal.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The model with this `state`, to the bit."""
        model = cls.with_settings(state, from_text(state["given"], MOST_UNPACKED))
        rows = state["rows"]
        if rows.ndim != 2 or rows.shape[1] != model.n_features + 3:
            raise ValueError(f"outcomes of {model.n_features} features cannot have shape {rows.shape}")
        in_use = None if state["model"] is None else from_text(state["model"], MOST_UNPACKED)
        members = tuple(from_text(member, MOST_UNPACKED) for member in state["member_models"])
        counts = (int(state["refits"]), int(state["rejected"]))
        model.in_use = ModelInUse(in_use, members, *counts, state["problem"])
        model.n_outcomes, model._next_refit = int(state["n_outcomes"]), state["next_refit"]
        model._rows = (rows,) if len(rows) else ()
        model._conformal = replace(model._conformal, quantile=float(state["quantile"]), V=state["V"])
        return model


def _check_features(n_features: int | None, given: bytes) -> int:
    known = _estimators.features_of(given)
    if n_features is None:
        if known is None:
            raise InvalidInput("n_features must be passed with a model that is not fitted yet")
        return known
    if known is not None and known != n_features:
        raise InvalidInput(f"n_features must be {known}, as the model was fitted to, or left out, got {n_features}")
    return check_whole("n_features", n_features, least=1)


def _check_width(width: Any, classes: Sequence[float] | None) -> Width | float:
    if width == "conformal" and classes is not None:
        raise InvalidInput(
            "width must be 'ensemble' or a number for a classifier, got 'conformal': an interval for an outcome that "
            "is yes or no contains both"
        )
    if isinstance(width, str) and width in get_args(Width):
        return width  # type: ignore[return-value]  # mypy does not narrow by get_args
    if not is_number(width) or width < 0:
        raise refusal("width", "'ensemble', 'conformal' or a number >= 0", width)
    return float(width)
