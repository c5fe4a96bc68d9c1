"""Types of command-line options, with messages that say what is valid."""

from __future__ import annotations

import argparse
import math
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(commands: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    """The parser of one of several commands: the summary stands in their list, and begins the command's own help."""
    made = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    made.set_defaults(parser=made)  # errors are printed under its name
    return made


class at_least:
    """The type of an option: a whole number not below a limit."""

    def __init__(self, least: int, name: str) -> None:
        self.least, self.name = least, name

    def __call__(self, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = self.least - 1
        if value < self.least:
            raise argparse.ArgumentTypeError(f"{self.name} must be a whole number >= {self.least}, got {text}")
        return value


def seconds(text: str) -> float:
    """The type of an option: a duration above 0.

    >>> seconds("1.5")
    1.5
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"seconds must be a number > 0, got {text}")
    return value


def duration(text: str) -> timedelta:
    """The type of an option: a time span such as 90d.

    >>> duration("90d"), duration("1.5h")
    (datetime.timedelta(days=90), datetime.timedelta(seconds=5400))
    """
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhd])", text)
    try:
        if found is not None:
            return timedelta(**{UNITS[found[2]]: float(found[1])})
    except OverflowError:
        pass
    raise argparse.ArgumentTypeError(f"a time must be a number and s, m, h or d, as in 90d, got {text}")


def moment(text: str) -> str:
    """The type of an option: a moment, as a time from now or as a date; UTC, as in the ledger.

    >>> moment("2031-05-17"), moment("2031-05-17T10:00+02:00")
    ('2031-05-17T00:00:00.000000+00:00', '2031-05-17T08:00:00.000000+00:00')
    """
    try:
        found = datetime.now(UTC) + duration(text)
    except (argparse.ArgumentTypeError, OverflowError):
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"a moment must be a time from now, as in 90d, or a date, as in 2031-05-17, got {text}"
            ) from None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return found.isoformat(timespec="microseconds")


def output_file(text: str) -> Path:
    """The type of an option: a file in a folder that exists and can be written to."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"must be a file, got the folder {text}")
    if not path.resolve().parent.is_dir() or not os.access(path.resolve().parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent} to write {path.name} in")
    return path
