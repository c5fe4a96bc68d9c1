"""Structured logs: one JSON object a line, and nothing in it about a person.

What is logged of a request: time, method, the path's pattern, desk, status, microseconds, the token's id, bytes.
Not logged: the path itself, the query, bodies, addresses, candidates, reviewers, and the words of an error, which may
quote what was sent.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec
import orjson

FLUSH_SECONDS = 0.2
EXTRA = ("error", "at", "desk", "problem", "process", "host", "port", "workers", "behind", "instance")
"""What a log record may carry beside its message."""


class JsonLines(logging.Formatter):
    """A record of the library's own loggers as one line of JSON; of an exception only where it came from."""

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
    """Send every logger's lines to a stream, as JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("evenhand").setLevel(logging.INFO)


class RequestLine(msgspec.Struct, gc=False):
    """What is logged of one request."""

    time: str
    operation: str
    status: int
    microseconds: int
    bytes: int
    caller: str | None
    desk: str | None
    level: str = "info"
    message: str = "request"


_last = (-1, "")


def moment() -> str:
    """This millisecond, UTC; many requests share one, and it is written out once."""
    global _last
    now = time.time_ns() // 1_000_000
    if _last[0] != now:
        _last = (now, datetime.fromtimestamp(now / 1000, UTC).isoformat(timespec="milliseconds"))
    return _last[1]


BAD_REQUEST = 400


class RequestLog:
    """Lines about requests, written out a few times a second: a write for each would cost as much as the request."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lines: list[RequestLine] = []
        self._flushing = False
        self._write_out = msgspec.json.Encoder().encode_lines
        self._desks: set[str] = set()

    def known(self, desk: str | None, status: int) -> str | None:
        """The desk's name if some request about it succeeded: what else stands in a path may be anything.

        >>> log = RequestLog()
        >>> log.known("Ann, born 1980", 404), log.known("loans", 200), log.known("loans", 422)
        (None, 'loans', 'loans')
        """
        if desk is not None and status < BAD_REQUEST:
            self._desks.add(desk)
        return desk if desk in self._desks else None

    def add(self, line: RequestLine) -> None:
        """Keep a line until the next flush."""
        self._lines.append(line)
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Write all lines that wait."""
        lines, self._lines, self._flushing = self._lines, [], False
        if lines:
            stream = self._stream or sys.stderr
            stream.write(self._write_out(lines).decode())
            stream.flush()
