"""Classes by name, so that a saved file can say which class reads it."""

from __future__ import annotations

from typing import TypeVar

from evenhand.errors import InvalidInput

Part = TypeVar("Part")


def enter(kind: type[Part], kinds: dict[str, type[Part]]) -> None:
    """Register a class under its name; a class of another module with that name is refused."""
    present = kinds.get(kind.__name__)
    if present is not None and present.__module__ != kind.__module__:
        raise InvalidInput(
            f"the class name must be unique in saved files, got {kind.__name__}, used in {present.__module__}"
        )
    kinds[kind.__name__] = kind


def find(name: str, kinds: dict[str, type[Part]], what: str) -> type[Part]:
    """The class of this name; it must have been imported."""
    if name not in kinds:
        raise InvalidInput(f"unknown {what} {name!r}; known are {', '.join(sorted(kinds))}")
    return kinds[name]
