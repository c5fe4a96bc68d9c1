"""What a reward model asks of a scikit-learn estimator: expected rewards, and a fit that comes out the same again.

Estimators are passed as the bytes of `estimator_files`: nothing that is shared is ever fitted.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from inspect import signature
from typing import Any, Literal

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput, MissingExtra, SolverFailed
from evenhand.rewards.estimator_files import from_bytes, loaded, to_bytes

Way = Literal["fit", "partial_fit"]

_turn = threading.Lock()
"""Held while a model is fitted: the number of threads that it may use is a setting of the whole process."""

YES_NO = (0.0, 1.0)
"""The outcomes of a classifier that was not fitted yet."""


@lru_cache(maxsize=8)
def prepared(data: bytes, seed: int) -> bytes:
    """The estimator such that a fit depends on the data alone: fixed seeds, one thread, no cache, no output."""
    estimator = from_bytes(data)
    _check_kind(estimator)
    params = estimator.get_params(deep=True)
    changes: dict[str, Any] = {}
    for name, value in params.items():
        what = name.rpartition("__")[2]
        if what == "memory" and value is not None:
            raise InvalidInput(f"{name} must be None: a model must not write files, got {value!r}")
        if what == "random_state" and not isinstance(value, (int, np.integer)):
            changes[name] = seed
        if what == "n_jobs" and value is not None:
            changes[name] = None
        if what == "verbose" and value:
            changes[name] = 0
    estimator.set_params(**changes)
    return to_bytes(estimator)


def _check_kind(estimator: Any) -> None:
    """InvalidInput unless it is a regressor, or a classifier of numbers that predicts probabilities."""
    from sklearn.base import BaseEstimator, is_classifier, is_regressor

    name = type(estimator).__name__
    if not isinstance(estimator, BaseEstimator) or not (is_classifier(estimator) or is_regressor(estimator)):
        raise InvalidInput(f"model must be a scikit-learn regressor or classifier, got {name}")
    if hasattr(estimator, "feature_names_in_"):
        raise InvalidInput(
            "model must be fitted to contexts, an array such as schema.encode(rows), got one that was fitted to a data "
            f"frame with {len(estimator.feature_names_in_)} columns"
        )
    if not is_classifier(estimator):
        return
    if not hasattr(estimator, "predict_proba"):
        raise InvalidInput(f"model must predict probabilities, got {name} without predict_proba")
    classes = np.asarray(getattr(estimator, "classes_", YES_NO))
    if classes.ndim != 1 or classes.dtype.kind not in "biuf":
        raise InvalidInput(f"the classes of model must be rewards, numbers such as 0 and 1, got {classes.tolist()[:5]}")


def features_of(data: bytes) -> int | None:
    """The number of features that an estimator was fitted to; None if it was not fitted."""
    return int(loaded(data).n_features_in_) if is_fitted(data) else None


def is_fitted(data: bytes) -> bool:
    """Whether an estimator can predict."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    estimator = loaded(data)
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return hasattr(estimator, "n_features_in_")


def classes_of(data: bytes) -> tuple[float, ...] | None:
    """The rewards that a classifier tells apart, in order; None for a regressor."""
    from sklearn.base import is_classifier

    estimator = loaded(data)
    if not is_classifier(estimator):
        return None
    return tuple(float(one) for one in getattr(estimator, "classes_", YES_NO))


def has_partial_fit(data: bytes) -> bool:
    """Whether an estimator can learn from more outcomes without being fitted again."""
    return hasattr(loaded(data), "partial_fit")


def expected_rewards(data: bytes, contexts: Floats) -> Floats:
    """The reward that a fitted estimator expects of each row, (k, d) -> (k,)."""
    return _expected(loaded(data), contexts)


def _expected(estimator: Any, contexts: Floats) -> Floats:
    if hasattr(estimator, "predict_proba"):
        predicted = estimator.predict_proba(contexts) @ np.asarray(estimator.classes_, dtype=np.float64)
    else:
        predicted = estimator.predict(contexts)
    rewards = np.asarray(predicted, dtype=np.float64).reshape(len(contexts), -1)
    if rewards.shape[1] != 1 or not np.all(np.isfinite(rewards)):
        raise SolverFailed(f"the model must predict one finite number for each candidate, got {rewards[:3].tolist()}")
    return rewards[:, 0]


def has_members(data: bytes) -> bool:
    """Whether an estimator is itself an ensemble of independent ones: a forest, or bagging."""
    return type(loaded(data)).__module__ in ("sklearn.ensemble._forest", "sklearn.ensemble._bagging")


def spread(data: bytes, members: Sequence[bytes], contexts: Floats) -> Floats | None:
    """The standard deviation of what the members of an ensemble expect, (k,); None if there are none."""
    if members:
        return np.asarray(np.std([expected_rewards(member, contexts) for member in members], axis=0, ddof=1))
    if not has_members(data) or not is_fitted(data):
        return None
    forest = loaded(data)
    columns = getattr(forest, "estimators_features_", [slice(None)] * len(forest.estimators_))
    classes = None if classes_of(data) is None else np.asarray(classes_of(data))
    votes = [_vote(member, contexts[:, own], classes) for member, own in zip(forest.estimators_, columns, strict=True)]
    return np.asarray(np.std(votes, axis=0, ddof=1)) if len(votes) > 1 else None


def _vote(member: Any, contexts: Floats, classes: Floats | None) -> Floats:
    """What one member of a forest expects; its classes are numbers from 0 on, those of the forest are rewards."""
    if classes is None:
        return np.asarray(member.predict(contexts), dtype=np.float64).reshape(len(contexts))
    places = np.asarray(member.classes_, dtype=np.int64)
    return np.asarray(member.predict_proba(contexts) @ classes[places], dtype=np.float64)


def weight_argument(data: bytes, way: Way) -> str | None:
    """The name under which an estimator takes weights of outcomes, that of a pipeline's last step with its name.

    None if it takes none.
    """
    estimator, prefix = loaded(data), ""
    while way == "fit" and hasattr(estimator, "steps"):
        step, estimator = estimator.steps[-1]
        prefix += f"{step}__"
    takes = "sample_weight" in signature(getattr(estimator, way)).parameters
    return f"{prefix}sample_weight" if takes else None


def fitted(
    data: bytes,
    way: Way,
    contexts: Floats,
    rewards: Floats,
    classes: tuple[float, ...] | None,
    weights: Floats | None = None,
) -> bytes:
    """The estimator after a fit to these outcomes, or after `partial_fit` with them; bytes in, bytes out."""
    from sklearn.base import clone

    try:
        from threadpoolctl import threadpool_limits
    except ModuleNotFoundError as error:
        raise MissingExtra("threadpoolctl is missing: pip install 'evenhand[models]'") from error

    estimator = from_bytes(data)
    given = {} if weights is None else {str(weight_argument(data, way)): weights}
    with _turn, threadpool_limits(limits=1):  # sums over several threads are not the same twice
        if way == "fit":
            estimator = clone(estimator).fit(contexts, rewards, **given)
        elif classes is None:
            estimator.partial_fit(contexts, rewards, **given)
        else:
            kind = np.asarray(getattr(estimator, "classes_", classes)).dtype  # perhaps False and True
            estimator.partial_fit(contexts, rewards.astype(kind), classes=np.asarray(classes, dtype=kind))
    return to_bytes(estimator)
