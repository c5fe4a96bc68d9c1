"""An ASGI application in a thread of this process, on a port of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from evenhand.service.serve import AnnouncingServer, address_of, config_of, listen


@contextmanager
def running_app(app: FastAPI, port: int = 0) -> Iterator[str]:
    """The address of an application that runs until the block ends."""
    started = threading.Event()
    server = AnnouncingServer(config_of(app), started.set)
    with listen("127.0.0.1", port) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not started.wait(0.1):
                assert thread.is_alive(), "the application did not start"
            yield address_of(listening, "127.0.0.1")
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive(), "the application did not stop"
