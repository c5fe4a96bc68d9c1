"""DeskDecision: a decision of a desk, for notebooks."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.ledger.event import Event

MOST_SHOWN = 6
"""Maximum number of probabilities in the repr."""


@dataclass(frozen=True, repr=False)
class DeskDecision:
    """The event of a decision, and its most used fields."""

    event: Event

    def __repr__(self) -> str:
        shown = [f"{name!r}: {p:.3g}" for name, p in self.probabilities.items()]
        if len(shown) > MOST_SHOWN:
            shown = [*shown[:MOST_SHOWN], f"... {len(shown)} in all"]
        return (
            f"DeskDecision({self.id}, number {self.number}, probabilities {{{', '.join(shown)}}}, chosen {self.chosen})"
        )

    @property
    def id(self) -> str:
        """The id of the decision, for outcomes and reviews."""
        return self.event.id

    @property
    def number(self) -> int:
        """How many decisions the desk had made before."""
        return int(self.event.body["number"])

    @property
    def candidates(self) -> list[str]:
        """The candidates' ids, in order."""
        return list(self.event.body["candidates"])

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each candidate."""
        return dict(zip(self.candidates, self.event.body["probabilities"], strict=True))

    @property
    def chosen(self) -> list[str]:
        """The ids of the candidates drawn."""
        return list(self.event.body["chosen"])
