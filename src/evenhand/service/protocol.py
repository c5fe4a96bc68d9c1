"""HTTP as uvicorn speaks it, but for what cannot be read as HTTP at all: that gets a problem document too."""

from __future__ import annotations

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from evenhand.service.problems import MEDIA_TYPE, Problem


class DeskProtocol(HttpToolsProtocol):
    """One connection."""

    def send_400_response(self, msg: str) -> None:
        """What is sent before the connection is closed."""
        body = orjson.dumps(Problem("malformed", "this is no HTTP request that can be read").document())
        lines = [
            b"HTTP/1.1 400 Bad Request",
            b"content-type: " + MEDIA_TYPE,
            b"content-length: " + str(len(body)).encode(),
            b"connection: close",
        ]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        self.transport.close()
