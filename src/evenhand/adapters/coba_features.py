"""Coba's contexts and actions as contexts of candidates: each action is a candidate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number_or_none
from evenhand.errors import InvalidInput, MissingExtra
from evenhand.records.contexts import as_contexts

try:
    from coba.encodings import InteractionsEncoder
    from coba.primitives import is_batch
except ModuleNotFoundError as error:
    raise MissingExtra("this adapter needs coba; pip install 'evenhand[coba]'") from error

FEATURES = (1, "a", "xa")
"""A constant, the action, and the action times the context: the terms of Coba's LinUCBLearner."""

HEADROOM = 2.0
"""How many times the longest vector of the first round a later one may be."""


class CandidateFeatures:
    """Contexts (k, d) of norm <= 1 from a context and k actions of Coba.

    features: terms as Coba writes them, "a" the action, "x" the context, "xa" their products, 1 a constant. norm: the
    length that counts as 1; None takes twice the longest vector of the first round. A longer vector is shortened to
    norm 1, and counted in `shortened`.

    >>> encode = CandidateFeatures(("a",), norm=2.0)
    >>> encode(None, [(1.0, 0.0), (0.0, 4.0)]).tolist(), encode.shortened
    ([[0.5, 0.0], [0.0, 1.0]], 1)
    """

    def __init__(self, features: Sequence[str | int] = FEATURES, *, norm: float | None = None) -> None:
        if isinstance(features, str) or not all(is_term(term) for term in features) or not features:
            raise InvalidInput(f"features must be a list of terms such as 1, 'a' and 'xa', got {features!r}")
        self.features = tuple(features)
        self.norm = check_number_or_none("norm", norm, above=0)
        self.shortened = 0
        self._encoder: Any = None

    def __call__(self, context: Any, actions: Sequence[Any]) -> Floats:
        """The contexts of the actions, (k, d)."""
        if is_batch(context) or is_batch(actions):  # Coba then passes the interactions one by one
            raise InvalidInput("context and actions must be those of one interaction, got a batch")
        encoder = self._encoder or InteractionsEncoder(self._terms(context))
        try:
            rows = np.array([encoder.encode(x=context or [], a=action) for action in actions], dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(
                "context and actions must be dense vectors of numbers; Environments.densify() and .repr() make them so"
            ) from None
        lengths = np.hypot.reduce(rows, axis=1)
        norm = self.norm
        if norm is None:
            longest = float(np.max(lengths))
            norm = HEADROOM * longest if math.isfinite(longest) and longest > 0 else 1.0
        contexts = as_contexts(rows / np.maximum(lengths, norm)[:, None])
        self._encoder, self.norm = encoder, norm  # after all checks: Coba tries a learner out with no context at all
        self.shortened += int(np.sum(lengths > norm))
        return contexts

    def _terms(self, context: Any) -> list[str | int]:
        """The terms, without "x" if there is no context."""
        if context:
            return list(self.features)
        terms = [term.replace("x", "") if isinstance(term, str) else term for term in self.features]
        return list(dict.fromkeys(term for term in terms if term))


def is_term(value: object) -> bool:
    """Whether `value` is the constant or a product of "a" and "x".

    >>> is_term(1), is_term("xa"), is_term("xb"), is_term("")
    (True, True, False, False)
    """
    return value == 1 if not isinstance(value, str) else bool(value) and set(value) <= {"a", "x"}
