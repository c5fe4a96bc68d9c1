"""A desk's first line, written once, and the settings in force at any."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from typing import Any

import orjson

from evenhand.desk.settings import DeskSettings
from evenhand.errors import AlreadyRecorded, DamagedFile, DamagedLedger, IdempotencyConflict, InvalidInput, NewerFile
from evenhand.ledger.event import FIRST, Event, canonical, chained, new_id, now, request_digest
from evenhand.ledger.ledger import Ledger, LedgerView, Row
from evenhand.ledger.names import check_desk_name
from evenhand.ledger.verify import check_text
from evenhand.version import __version__

log = logging.getLogger(__name__)


def create_desk(ledger: Ledger, name: str, settings: DeskSettings) -> None:
    """Make a desk, unless somebody else does at the same moment."""
    try:
        _create(ledger, name, settings, "desk", None, None)
    except AlreadyRecorded:
        log.info("a desk was made by somebody else meanwhile")


def open_once(ledger: Ledger, name: str, settings: Mapping[str, Any], *, actor: str, key: str | None) -> Event:
    """The first event of a new desk, or of the one that the same request made before, anywhere.

    The idempotency key is kept with the event. AlreadyRecorded if there is a desk of this name that another request
    made, IdempotencyConflict if it was this key with other settings.
    """
    checked, fingerprint = _checked(settings), None
    try:
        if key is not None:
            said = orjson.dumps([name, dict(settings), actor], option=orjson.OPT_SORT_KEYS)
            fingerprint = hashlib.blake2b(said, digest_size=16).hexdigest()
        return _create(ledger, name, checked, actor, key, fingerprint)
    except AlreadyRecorded:
        return _opened_before(ledger, name, key, fingerprint)
    except TypeError as error:  # a whole number beyond 64 bits, or nested too deep
        raise InvalidInput(f"these settings cannot be kept as JSON: {error}") from None


def _create(
    ledger: Ledger, name: str, settings: DeskSettings, actor: str, key: str | None, fingerprint: str | None
) -> Event:
    check_desk_name(name)
    event_id, moment = new_id("opened"), now()
    content = {"desk": name, "seq": 1, "id": event_id, "time": moment, "actor": actor, "kind": "opened"}
    body = {"settings": settings.to_dict(), "code": __version__}
    text = canonical({**content, "body": body, "request": request_digest(key, fingerprint)})
    row = Row(1, event_id, "opened", None, None, None, key, fingerprint, text, FIRST, chained(FIRST, text))
    ledger.create(name, row, moment)
    return row.event


def _checked(settings: Mapping[str, Any]) -> DeskSettings:
    try:
        return DeskSettings.create(**settings)
    except (DamagedFile, NewerFile) as error:  # of a schema that came in a request, and was never a file
        raise InvalidInput(f"the schema does not fit: {error}") from None


def _opened_before(ledger: Ledger, name: str, key: str | None, fingerprint: str | None) -> Event:
    with ledger.reading(name) as view:
        first = view.after(0, 1)[0]
    if key is None or first.key != key:
        raise AlreadyRecorded(f"there is a desk {name!r} already; choose another name")
    if first.fingerprint != fingerprint:
        raise IdempotencyConflict(f"idempotency key {key!r} was used to open desk {name!r} with other settings")
    return first.event


def first_settings(row: Row | None) -> DeskSettings:
    """The settings that a desk was opened with, from its first line."""
    if row is None or row.seq != 1:
        raise DamagedLedger("the first line of the ledger is missing; verify it")
    return _settings_of(row)


def _settings_of(row: Row) -> DeskSettings:
    try:
        return DeskSettings.from_dict(check_text(row).event.body["settings"])
    except (KeyError, TypeError):
        raise DamagedLedger(f"line {row.seq} of the ledger should have settings, and has none; verify it") from None


def settings_in(view: LedgerView) -> tuple[int, DeskSettings]:
    """The settings in force, and the seq of the line that has them."""
    row = view.last(("opened", "settings"), view.head.settings)
    if row is None:
        raise DamagedLedger("the ledger has no line with the desk's settings; verify it")
    return row.seq, _settings_of(row)
