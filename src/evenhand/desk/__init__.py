"""Desk: a bandit with a durable ledger that nobody can rewrite unnoticed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.errors import MissingExtra

if TYPE_CHECKING:
    from evenhand.desk.commands import AnswerQuestion as AnswerQuestion
    from evenhand.desk.commands import ChangeSettings as ChangeSettings
    from evenhand.desk.commands import Command as Command
    from evenhand.desk.commands import Decide as Decide
    from evenhand.desk.commands import GiveReview as GiveReview
    from evenhand.desk.commands import ImportPast as ImportPast
    from evenhand.desk.commands import Override as Override
    from evenhand.desk.commands import RecordOutcome as RecordOutcome
    from evenhand.desk.commands import Withdraw as Withdraw
    from evenhand.desk.desk import Desk as Desk
    from evenhand.desk.desk_decision import DeskDecision as DeskDecision
    from evenhand.desk.explain.explanation import Explanation as Explanation
    from evenhand.desk.explain.explanation import Metric as Metric
    from evenhand.desk.projection.projection import Projection as Projection
    from evenhand.desk.settings import DeskSettings as DeskSettings
    from evenhand.ledger.event import Event as Event
    from evenhand.ledger.ledger import Head as Head
    from evenhand.ledger.ledger import Ledger as Ledger
    from evenhand.ledger.ledger import open_ledger as open_ledger
    from evenhand.ledger.waiting_pairs import WaitingPair as WaitingPair

HOMES = {
    "desk.commands": (
        "AnswerQuestion",
        "ChangeSettings",
        "Command",
        "Decide",
        "GiveReview",
        "ImportPast",
        "Override",
        "RecordOutcome",
        "Withdraw",
    ),
    "desk.desk": ("Desk",),
    "desk.desk_decision": ("DeskDecision",),
    "desk.explain.explanation": ("Explanation", "Metric"),
    "desk.projection.projection": ("Projection",),
    "desk.settings": ("DeskSettings",),
    "ledger.event": ("Event",),
    "ledger.ledger": ("Head", "Ledger", "open_ledger"),
    "ledger.waiting_pairs": ("WaitingPair",),
}
"""Where each public name lives. Imported when first asked for: the command line needs none of them to show its help."""

__all__ = sorted(name for names in HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    for home, names in HOMES.items():
        if name in names:
            try:
                return getattr(import_module(f"evenhand.{home}"), name)
            except ModuleNotFoundError as error:
                raise MissingExtra(f"{error.name} is missing: a desk needs pip install 'evenhand[desk]'") from error
    raise AttributeError(f"module 'evenhand.desk' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
