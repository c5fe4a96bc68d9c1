"""Structured logs: one JSON object per line, with nothing about a person, nor the words of an unexpected error."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime
from typing import Any

import orjson

EXTRA = ("error", "at", "desk", "problem", "process", "host", "port", "workers", "behind", "instance")
"""What a log record may carry beside its message."""


class JsonLines(logging.Formatter):
    """A log record as one line of JSON; of an exception only where it came from."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            # Servers and drivers put addresses and values into their arguments: only the fixed text is kept.
            "message": record.getMessage() if record.name.startswith("evenhand") else str(record.msg),
        }
        line.update({name: getattr(record, name) for name in EXTRA if name in vars(record)})
        line["process"] = record.process
        if record.exc_info and record.exc_info[1] is not None:
            line |= about(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


def about(error: BaseException) -> dict[str, Any]:
    """What is logged about an unexpected error: its type and places, not its words, which may quote a request."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    places = [f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "at": places}


def set_up_logs() -> None:
    """Send the lines of all loggers to standard error, as JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("evenhand").setLevel(logging.INFO)
