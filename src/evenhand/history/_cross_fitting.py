"""Cross-fitting: what a model says of a round was learned from other rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand._internal.arrays import Floats, Indices, Mask
from evenhand._internal.checks import check_whole, refusal
from evenhand._internal.randomness import Seed, as_generator
from evenhand.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from evenhand.history.past_log import PastLog

FOLDS = 5


def folds_of(log: PastLog, folds: int, seed: Seed) -> Iterator[tuple[Mask, Mask]]:
    """Masks of candidates (N,) to learn from and to predict; whole rounds, since candidates of a round compete."""
    n, count = len(log), check_whole("folds", folds, least=2)
    if n < count:
        raise InvalidInput(f"a log must have at least {count} rounds to be cross-fitted in {count} folds, got {n}")
    fold = as_generator(seed).permutation(np.arange(n) % count)
    of_candidate: Indices = np.repeat(fold, log.sizes)
    for number in range(count):
        yield of_candidate != number, of_candidate == number


def cross_fitted(log: PastLog, fit: Callable[[Mask], Callable[[Floats], Floats]], folds: int, seed: Seed) -> Floats:
    """What models say of each candidate's context, (N,); `fit` makes one from a mask of candidates."""
    values = np.empty(log.n_candidates)
    for learn, predict in folds_of(log, folds, seed):
        values[predict] = fit(learn)(log.contexts[predict])
    return values


def scikit_learn() -> Any:
    """The package, or MissingExtra."""
    try:
        import sklearn
    except ImportError:
        raise MissingExtra("models of past decisions need scikit-learn: pip install 'evenhand[history]'") from None
    return sklearn


def check_model(name: str, model: Any, methods: tuple[str, ...]) -> None:
    """Refuse what is no unfitted scikit-learn estimator."""
    if isinstance(model, type) or not all(hasattr(model, method) for method in ("get_params", *methods)):
        raise refusal(name, f"a scikit-learn estimator with {' and '.join(methods)}", model)


def fitted_model(what: str, model: Any, contexts: Floats, targets: Any) -> Any:
    """The model, fitted; InvalidInput if it cannot be, for example with too few of a kind."""
    try:
        return model.fit(contexts, targets)
    except ValueError as error:
        raise InvalidInput(f"the model of {what} cannot be fitted to {len(targets)} candidates: {error}") from error
