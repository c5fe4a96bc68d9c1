"""Desk: a bandit with a durable, tamper-evident ledger."""

from evenhand.errors import MissingExtra

try:
    from evenhand.desk.commands import (
        AnswerQuestion,
        ChangeSettings,
        Command,
        Decide,
        Erase,
        GiveReview,
        ImportPast,
        Override,
        RecordAction,
        RecordOutcome,
        Switch,
        Withdraw,
    )
    from evenhand.desk.desk import Desk
    from evenhand.desk.differences import Differences
    from evenhand.desk.event_records import DeskDecision
    from evenhand.desk.explain.explanation import Explanation, Metric
    from evenhand.desk.projection.projection import Projection
    from evenhand.desk.projection.projector import Projectors
    from evenhand.desk.settings import DeskSettings
    from evenhand.ledger.event import Event, Head
    from evenhand.ledger.ledger import Ledger, open_ledger
    from evenhand.ledger.waiting_pairs import WaitingPair
except ModuleNotFoundError as error:
    raise MissingExtra(f"{error.name} is missing: a desk needs pip install 'evenhand[desk]'") from error

__all__ = [
    "AnswerQuestion",
    "ChangeSettings",
    "Command",
    "Decide",
    "Desk",
    "DeskDecision",
    "DeskSettings",
    "Differences",
    "Erase",
    "Event",
    "Explanation",
    "GiveReview",
    "Head",
    "ImportPast",
    "Ledger",
    "Metric",
    "Override",
    "Projection",
    "Projectors",
    "RecordAction",
    "RecordOutcome",
    "Switch",
    "WaitingPair",
    "Withdraw",
    "open_ledger",
]
