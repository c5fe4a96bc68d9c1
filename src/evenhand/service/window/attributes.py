"""The attributes of a decision's candidates, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.desk.showing import features_of
from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from evenhand.desk.settings import Settings


def attributes_of(body: Mapping[str, Any], settings: Settings) -> list[dict[str, Any]]:
    """Of each candidate the features as they were given, or as the schema decodes them, or else the bare coordinates.

    Whoever gives contexts to a desk that has a schema need not have encoded them with it.
    """
    try:
        return features_of(body, body["candidates"], settings)
    except EvenhandError:
        names = settings.schema.coordinates if settings.schema is not None else settings.features or ()
        return [dict(zip(names, context, strict=True)) for context in body["contexts"]]
