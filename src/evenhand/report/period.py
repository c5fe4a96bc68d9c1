"""Period: the part of a ledger that a report is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from evenhand.errors import InvalidInput


@dataclass(frozen=True)
class Period:
    """Since when, and up to, but not including, when; None for no limit. UTC, as times in the ledger are.

    >>> Period.create("2026-01-01", "2026-04-01").words
    'from 2026-01-01 00:00 UTC up to, not including, 2026-04-01 00:00 UTC'
    """

    since: str | None = None
    until: str | None = None

    @classmethod
    def create(cls, since: str | datetime | None = None, until: str | datetime | None = None) -> Period:
        """A period from dates or times, in ISO 8601; a date is its first moment, a time without a zone is in UTC."""
        period = cls(_moment("since", since), _moment("until", until))
        if period.since is not None and period.until is not None and period.since >= period.until:
            raise InvalidInput(f"until must be after since, {period.since}, got {period.until}")
        return period

    @property
    def words(self) -> str:
        """The period in words."""
        since = "from the first event" if self.since is None else f"from {minutes(self.since)}"
        return f"{since} to the last" if self.until is None else f"{since} up to, not including, {minutes(self.until)}"


def _moment(name: str, value: str | datetime | None) -> str | None:
    if value is None:
        return None
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{name} must be a date or a time, as in 2026-01-31T09:00, got {value!r}") from None
    return found.isoformat(timespec="microseconds")


def minutes(time: str) -> str:
    """A time of the ledger, to the minute.

    >>> minutes("2026-01-31T09:05:17.123456+00:00")
    '2026-01-31 09:05 UTC'
    """
    return f"{time[:10]} {time[11:16]} UTC"
