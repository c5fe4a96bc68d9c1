"""SharedCopy: quick copies of parts whose learning replaces what they hold."""

from __future__ import annotations

import copy
from typing import Any, Self


class SharedCopy:
    """A part whose learning replaces what it holds and never writes into it, so a copy may share all of it."""

    def copied(self) -> Self:
        """A copy that learns on its own."""
        return copy.copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = self.copied()
        return twin
