"""A desk's first line, and the settings in force at any."""

from __future__ import annotations

import logging

from evenhand.desk.event import FIRST, canonical, chained, new_id, now
from evenhand.desk.ledger import Ledger, Row, View
from evenhand.desk.settings import Settings
from evenhand.errors import AlreadyRecorded, DamagedLedger
from evenhand.version import __version__

log = logging.getLogger(__name__)


def create_desk(ledger: Ledger, name: str, settings: Settings) -> None:
    """Make a desk, unless somebody else does at the same moment."""
    name_of_line, moment = new_id("opened"), now()
    content = {"desk": name, "seq": 1, "id": name_of_line, "time": moment, "actor": "desk", "kind": "opened"}
    text = canonical({**content, "body": {"settings": settings.to_dict(), "code": __version__}})
    row = Row(1, name_of_line, "opened", None, None, None, None, None, text, FIRST, chained(FIRST, text))
    try:
        ledger.create(name, row, moment)
    except AlreadyRecorded:
        log.info("a desk was made by somebody else meanwhile")


def settings_in(view: View) -> tuple[int, Settings]:
    """The settings in force, and the seq of the line that has them."""
    row = view.last(("opened", "settings"), view.head.settings)
    if row is None:
        raise DamagedLedger("the ledger has no line with the desk's settings; verify it")
    return row.seq, Settings.from_dict(row.event.body["settings"])
