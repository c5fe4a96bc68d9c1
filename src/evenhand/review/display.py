"""How two candidates are displayed to a reviewer: the same rows in the same order, in words, without hidden ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand._internal.checks import is_number
from evenhand.desk.settings import DeskSettings, coordinates
from evenhand.errors import EvenhandError
from evenhand.review.differences import share_of_range
from evenhand.schema import Number, Schema
from evenhand.schema.words import amount, unit_of

Row = dict[str, Any]

MINUS = "\N{MINUS SIGN}"


def features_of(body: Mapping[str, Any], candidates: Sequence[str], settings: DeskSettings) -> list[dict[str, Any]]:
    """The features of these candidates of a decision: as submitted, or decoded from the contexts by the schema.

    Contexts need not come from the schema. Where some cannot be decoded, all are displayed by coordinate. Candidates
    who were erased have none.
    """
    places = [body["candidates"].index(name) for name in candidates]
    if body.get("features") is not None:
        return [dict(body["features"][place] or {}) for place in places]
    contexts = [body["contexts"][place] for place in places]
    known = iter(features_of_contexts([context for context in contexts if context is not None], settings))
    return [{} if context is None else next(known) for context in contexts]


def features_of_contexts(contexts: Sequence[Sequence[float]], settings: DeskSettings) -> list[dict[str, Any]]:
    """The same for bare contexts."""
    if settings.schema is None or not contexts:
        return by_coordinate(contexts, settings)
    try:
        return settings.schema.decode(np.asarray(contexts, dtype=np.float64))
    except EvenhandError:
        return by_coordinate(contexts, settings)


def by_coordinate(contexts: Sequence[Sequence[float]], settings: DeskSettings) -> list[dict[str, Any]]:
    """The coordinates of contexts by name; with a schema marked as encoded, since they are not in its units.

    >>> by_coordinate([[0.1, 0.2]], DeskSettings.create(n_features=2))
    [{'feature 1': 0.1, 'feature 2': 0.2}]
    """
    if settings.schema is not None:
        names = [_encoded(name) for name in settings.schema.coordinates]
    else:
        names = list(settings.features or coordinates(settings.n_features))
    return [dict(zip(names, context, strict=True)) for context in contexts]


def _encoded(coordinate: str) -> str:
    return f"{coordinate} (encoded)"


def is_hidden(name: str, hidden: Sequence[str], schema: Schema | None) -> bool:
    """Whether an attribute is hidden from reviewers: by its own name, or as a coordinate of a hidden feature.

    >>> from evenhand.schema import Category
    >>> is_hidden("purpose=car (encoded)", ["purpose"], Schema([Category("purpose", levels=("car", "home"))]))
    True
    """
    if name in hidden:
        return True
    features = schema.features if schema is not None else ()
    return any(feature.name in hidden and name in map(_encoded, feature.coordinates) for feature in features)


def rows_of(
    left: Mapping[str, Any], right: Mapping[str, Any], settings: DeskSettings, hidden: Sequence[str]
) -> list[Row]:
    """A row for each visible attribute: its name, both values in words, whether they differ, and by how much.

    share: how far apart they are, of the feature's range; marked: whether that is worth a mark; group: its heading.

    >>> settings = DeskSettings.create(features=["income", "age"])
    >>> rows_of({"income": 0.5, "age": 0.25}, {"income": 0.5, "age": 0.75}, settings, ["income"])
    [{'name': 'age', 'left': '0.25', 'right': '0.75', 'differs': True, 'more': {'side': 'right', 'by': '0.5'}, \
'share': 0.5, 'marked': True, 'group': None}]
    """
    shown, _ = shown_and_hidden(left, settings, hidden)
    return [_row(name, left.get(name), right.get(name), settings) for name in shown]


def shown_and_hidden(
    features: Mapping[str, Any], settings: DeskSettings, hidden: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The names of visible and of hidden features, each in the desk's order."""
    names = ordered(features, settings)
    withheld = [name for name in names if is_hidden(name, hidden, settings.schema)]
    return [name for name in names if name not in withheld], withheld


def _row(name: str, left: Any, right: Any, settings: DeskSettings) -> Row:
    words = [in_words(value, settings.schema, name) for value in (left, right)]
    if left != right and words[0] == words[1]:  # rounded values could look the same
        words = [_with_minus(str(value)) if is_number(value) else str(value) for value in (left, right)]
    more = _more(name, left, right, settings) if left != right else None
    rules, share = settings.reviewing, share_of_range(name, left, right, settings.schema)
    group = next((title for title, names in rules.groups.items() if name in names), None)
    differs = {"differs": left != right, "more": more, "share": share, "marked": share > rules.mark_above}
    return {"name": name, "left": words[0], "right": words[1], **differs, "group": group}


def _more(name: str, left: Any, right: Any, settings: DeskSettings) -> dict[str, str] | None:
    """Which side has more, and by how much: the difference of the numbers as displayed. None unless both are plain
    numbers.
    """
    encoded = () if settings.schema is None else map(_encoded, settings.schema.coordinates)
    if not (is_number(left) and is_number(right)) or name in encoded:
        return None
    shown = [Decimal(_number(value).replace(",", "")) for value in (left, right)]
    if shown[0] == shown[1]:
        shown = [Decimal(repr(value)) for value in (left, right)]
    by = abs(shown[0] - shown[1]).normalize()
    return {"side": "left" if shown[0] > shown[1] else "right", "by": f"{by:,f}"}


def ordered(features: Mapping[str, Any], settings: DeskSettings) -> list[str]:
    """The names of features in the desk's order, others after them."""
    known = [name for name in settings.features or () if name in features]
    return [*known, *(name for name in features if name not in known)]


def in_words(value: Any, schema: Schema | None, name: str) -> str:
    """A value in words, with its unit.

    >>> in_words(51500.0, None, "income"), in_words(True, None, "member"), in_words(None, None, "age")
    ('51,500', 'yes', 'not known')
    >>> in_words(-0.5, None, "balance") == f"{MINUS}0.5", in_words("-5", None, "code")
    (True, '-5')
    """
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    number = _number(value)
    feature = schema.feature(name) if schema is not None and name in schema.names else None
    unit = unit_of(number, feature.unit) if isinstance(feature, Number) else ""
    return f"{_with_minus(number)} {unit}".strip()


def _with_minus(number: str) -> str:
    """A number with a typographic minus sign, for display only."""
    return number.replace("-", MINUS)


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else _shortest(float(value))


def _shortest(value: float) -> str:
    """Four decimal places, or more where they would all be zero.

    >>> _shortest(0.25), _shortest(1.43443e-7)
    ('0.25', '0.000000143')
    """
    rounded = f"{value:,.4f}".rstrip("0").rstrip(".")
    if float(rounded.replace(",", "")) != 0:
        return rounded
    return amount(value)
