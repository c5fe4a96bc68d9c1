"""DeskDecision: what a desk decided, as one wants it in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.ledger.event import Event

MOST_SHOWN = 6
"""Odds of so many candidates are shown when a decision is printed."""


@dataclass(frozen=True, repr=False)
class DeskDecision:
    """What was decided: the line of the ledger, and what one wants of it most."""

    event: Event

    def __repr__(self) -> str:
        odds = [f"{name!r}: {p:.3g}" for name, p in self.probabilities.items()]
        shown = ", ".join(odds if len(odds) <= MOST_SHOWN else [*odds[:MOST_SHOWN], f"... {len(odds)} in all"])
        return f"DeskDecision({self.id}, number {self.number}, odds {{{shown}}}, chosen {self.chosen})"

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
        """The candidates' ids, in the order given."""
        return list(self.event.body["candidates"])

    @property
    def probabilities(self) -> dict[str, float]:
        """The odds of each candidate."""
        return dict(zip(self.candidates, self.event.body["probabilities"], strict=True))

    @property
    def chosen(self) -> list[str]:
        """The ids of those who were drawn."""
        return list(self.event.body["chosen"])
