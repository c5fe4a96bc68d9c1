"""Parts by the name of their class, so that a file can say which part it holds."""

from __future__ import annotations

from typing import TypeVar

from evenhand.errors import InvalidInput

Part = TypeVar("Part")


def enter(kind: type[Part], kinds: dict[str, type[Part]]) -> None:
    """Enter a class under its name; another module's class of the same name is not replaced but refused."""
    present = kinds.get(kind.__name__)
    if present is not None and present.__module__ != kind.__module__:
        raise InvalidInput(
            f"a part called {kind.__name__} exists in {present.__module__}; saved files go by that name, choose another"
        )
    kinds[kind.__name__] = kind


def find(name: str, kinds: dict[str, type[Part]], what: str) -> type[Part]:
    """The class of this name; it must have been imported."""
    if name not in kinds:
        raise InvalidInput(f"no {what} is called {name!r}; known are {', '.join(sorted(kinds))}")
    return kinds[name]
