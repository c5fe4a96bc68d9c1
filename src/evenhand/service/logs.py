"""Structured logs: one JSON object per line, with nothing about a person.

A request's line has the time, the operation, the desk, the status, microseconds, the token's id and bytes. It does not
have the path, the query, bodies, addresses, candidates, reviewers, or the words of an error, which may quote a request.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson

FLUSH_SECONDS = 0.2
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
            line["error"] = type(record.exc_info[1]).__name__
            line["at"] = places(record.exc_info[1])
        return orjson.dumps(line, default=str).decode()


def places(error: BaseException) -> list[str]:
    """Where an error came from, innermost last: files, lines and functions, no values."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} {frame.name}" for frame in frames]


def set_up_logs(stream: TextIO | None = None) -> None:
    """Send the lines of all loggers to a stream, as JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("evenhand").setLevel(logging.INFO)


class RequestLog:
    """Lines about requests, written a few times per second: a write for each would cost as much as the request."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        self._is_flushing = False
        self._desks: set[str] = set()

    def add(self, operation: str, status: int, seconds: float, size: int, caller: str | None, desk: str | None) -> None:
        """Log a request.

        caller: the token's id. desk: as in the path; it is logged only if some request about it succeeded, since a path
        may contain anything.
        """
        if desk is not None and status < 400:
            self._desks.add(desk)
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "operation": operation,
            "status": status,
            "microseconds": round(seconds * 1e6),
            "bytes": size,
            "caller": caller,
            "desk": desk if desk in self._desks else None,
            "level": "info",
            "message": "request",
        }
        self._lines.append(orjson.dumps(line))
        if not self._is_flushing:
            self._is_flushing = True
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write all lines that wait."""
        lines, self._lines, self._is_flushing = self._lines, [], False
        if lines:
            stream = self._stream or sys.stderr
            stream.write(b"\n".join([*lines, b""]).decode())
            stream.flush()
