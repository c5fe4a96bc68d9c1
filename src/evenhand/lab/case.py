"""Case: one run of an experiment, named by its settings, so that it is never run twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from evenhand.errors import InvalidInput
from evenhand.version import __version__

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """The settings of one run: names and plain values, a seed among them."""

    experiment: str
    settings: Settings

    @property
    def key(self) -> str:
        """A short name that changes when a setting or the version changes."""
        try:
            text = json.dumps([self.experiment, __version__, dict(self.settings)], sort_keys=True)
        except TypeError:
            raise InvalidInput(
                f"settings of {self.experiment} must be plain values that JSON can hold, not {dict(self.settings)}"
            ) from None
        return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def grid(experiment: str, **choices: Iterable[Any]) -> list[Case]:
    """A case for every combination of choices; a single value is written as a list of one.

    >>> [dict(case.settings) for case in grid("example", d=[2, 3], seed=range(2))]
    [{'d': 2, 'seed': 0}, {'d': 2, 'seed': 1}, {'d': 3, 'seed': 0}, {'d': 3, 'seed': 1}]
    """
    names = list(choices)
    return [Case(experiment, dict(zip(names, values, strict=True))) for values in product(*(choices[n] for n in names))]
