"""Opening a new desk in somebody's name, once: the idempotency key is kept with the desk's first event."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson

from evenhand.desk.event import FIRST, canonical, chained, new_id, now
from evenhand.desk.ledger import Row
from evenhand.desk.settings import Settings
from evenhand.errors import AlreadyRecorded, DamagedFile, IdempotencyConflict, InvalidInput, NewerFile
from evenhand.version import __version__

if TYPE_CHECKING:
    from evenhand.desk.event import Event
    from evenhand.desk.ledger import Ledger


def open_once(ledger: Ledger, name: str, settings: dict[str, Any], *, actor: str, key: str | None) -> Event:
    """The first event of a new desk, or of the one that the same request made before, anywhere."""
    moment, event_id = now(), new_id("opened")
    content = {"desk": name, "seq": 1, "id": event_id, "time": moment, "actor": actor, "kind": "opened"}
    body = {"settings": _checked(settings).to_dict(), "code": __version__}
    try:
        said = orjson.dumps([name, settings, actor], option=orjson.OPT_SORT_KEYS)
        text = canonical({**content, "body": body})
    except TypeError as error:  # a whole number beyond 64 bits, or nested too deep
        raise InvalidInput(f"these settings cannot be kept as JSON: {error}") from None
    fingerprint = hashlib.blake2b(said, digest_size=16).hexdigest() if key is not None else None
    row = Row(1, event_id, "opened", None, None, None, key, fingerprint, text, FIRST, chained(FIRST, text))
    try:
        ledger.create(name, row, moment)
    except AlreadyRecorded:
        return _opened_before(ledger, name, key, fingerprint)
    return row.event


def _checked(settings: dict[str, Any]) -> Settings:
    try:
        return Settings.given(**settings)
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
