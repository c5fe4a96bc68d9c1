"""SavedPart: what a bandit consists of, saved with the name of the class that reads it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from evenhand.errors import InvalidInput


class SavedPart(ABC):
    """A part with a state. A subclass with `part=...` is a kind of part; it knows its subclasses by name."""

    _part: ClassVar[str]
    _kinds: ClassVar[dict[str, type[Any]]]
    _settings: ClassVar[tuple[str, ...]] = ()
    """Attributes that are arguments of the class, and are saved under their own names."""

    def __init_subclass__(cls, *, part: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if part is not None:
            cls._part, cls._kinds = part, {}
            return
        present = cls._kinds.get(cls.__name__)
        if present is not None and present.__module__ != cls.__module__:
            raise InvalidInput(
                f"the class name must be unique in saved files, got {cls.__name__}, used in {present.__module__}"
            )
        cls._kinds[cls.__name__] = cls

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything the part consists of, as arrays, numbers, strings and dicts of them."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The part with this `state`, to the bit."""

    def settings(self) -> dict[str, Any]:
        """The settings, for `state`."""
        return {name: getattr(self, name) for name in self._settings}

    @classmethod
    def with_settings(cls, state: dict[str, Any], *first: Any) -> Self:
        """A new part with these first arguments and the settings in a state."""
        return cls(*first, **{name: state[name] for name in cls._settings})

    def saved(self) -> dict[str, Any]:
        """The state with the name of the class that reads it."""
        return {"kind": type(self).__name__, "state": self.state()}

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Self:
        """The part that `saved` describes; its class must have been imported."""
        kind = saved["kind"]
        if kind not in cls._kinds:
            raise InvalidInput(f"unknown {cls._part} {kind!r}; known are {', '.join(sorted(cls._kinds))}")
        part: Self = cls._kinds[kind].from_state(saved["state"])
        return part
