"""Opening a desk: its first event, written once, and the settings in force."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from typing import Any

import orjson

from evenhand.desk.lottery import first_commitment, new_secret
from evenhand.desk.reward_settings import RewardSettings
from evenhand.desk.settings import DeskSettings
from evenhand.errors import AlreadyRecorded, DamagedFile, DamagedLedger, IdempotencyConflict, InvalidInput, NewerFile
from evenhand.ledger.event import FIRST, SETTINGS_KINDS, Event, Row, check_desk_name
from evenhand.ledger.ledger import Ledger, LedgerView
from evenhand.ledger.verify import check_text
from evenhand.rewards.estimator_files import check_file
from evenhand.rewards.model_trial import check_in_child
from evenhand.version import __version__

log = logging.getLogger(__name__)


def create_desk(ledger: Ledger, name: str, settings: DeskSettings) -> None:
    """Create a desk, unless another process does at the same moment."""
    try:
        _create(ledger, name, settings)
    except AlreadyRecorded:
        log.info("desk %s was created by another process", name)


def open_once(ledger: Ledger, name: str, settings: Mapping[str, Any], *, actor: str, key: str | None) -> Event:
    """The first event of a new desk; the same request, sent again anywhere, gets the same event.

    A model that came along is tried in a process of its own first. The idempotency key is kept with the event.
    AlreadyRecorded if another request created a desk of this name, IdempotencyConflict if the key was used with other
    settings.
    """
    try:
        if name not in ledger.names():
            _try_model(settings)
        checked = DeskSettings.create(**settings)
    except (DamagedFile, NewerFile) as error:  # of a schema in a request, which was never a file
        raise InvalidInput(f"schema is invalid: {error}") from None
    fingerprint = None
    try:
        if key is not None:
            content = orjson.dumps([name, dict(settings), actor], option=orjson.OPT_SORT_KEYS)
            fingerprint = hashlib.blake2b(content, digest_size=16).hexdigest()
        return _create(ledger, name, checked, actor, key=key, fingerprint=fingerprint)
    except AlreadyRecorded:
        return _opened_before(ledger, name, actor, key, fingerprint)
    except TypeError as error:  # a whole number beyond 64 bits, or nested too deep
        raise InvalidInput(f"these settings cannot be kept as JSON: {error}") from None


def _try_model(settings: Mapping[str, Any]) -> None:
    """InvalidInput if a model that came along fails its trial; before that nothing is made of its file here."""
    reward = RewardSettings.create(settings.get("reward"))
    if reward.model is not None:
        check_file(reward.model)
        without = {name: value for name, value in settings.items() if name != "reward"}
        check_in_child(reward.to_dict(), DeskSettings.create(**without).n_features)


def _create(ledger: Ledger, name: str, settings: DeskSettings, actor: str = "desk", **columns: Any) -> Event:
    check_desk_name(name)
    secret = new_secret()
    body = {"settings": settings.to_dict(), "code": __version__, "lottery": first_commitment(secret)}
    row = Row.make(name, 1, FIRST, actor, "opened", body, **columns)
    ledger.create(name, row, secret)
    return row.event


def _opened_before(ledger: Ledger, name: str, actor: str, key: str | None, fingerprint: str | None) -> Event:
    with ledger.reading(name) as view:
        first = view.after(0, 1)[0]
    if key is None or (first.key, first.event.actor) != (key, actor):
        raise AlreadyRecorded(f"there is a desk {name!r} already; choose another name")
    if first.fingerprint != fingerprint:
        raise IdempotencyConflict(f"idempotency key {key!r} was used to open desk {name!r} with other settings")
    return first.event


def first_settings(view: LedgerView) -> DeskSettings:
    """The settings that a desk was opened with, from its first event."""
    rows = view.after(0, 1)
    if not rows or rows[0].seq != 1:
        raise DamagedLedger("the first event of the ledger is missing; verify it")
    return _settings_of(rows[0])


def _settings_of(row: Row) -> DeskSettings:
    try:
        return DeskSettings.from_dict(check_text(row).event.body["settings"])
    except (KeyError, TypeError):
        raise DamagedLedger(f"event {row.seq} of the ledger must have settings, and has none; verify it") from None


def settings_in(view: LedgerView) -> DeskSettings:
    """The settings in force."""
    row = view.last(SETTINGS_KINDS, view.head.settings)
    if row is None:
        raise DamagedLedger("the ledger has no event with the desk's settings; verify it")
    return _settings_of(row)
