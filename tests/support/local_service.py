"""A service in a thread of this process, for browser tests: it starts at once, for all its code is loaded already."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from evenhand.service import ServiceSettings, create_app
from evenhand.service.serve import AnnouncingServer, config_of, listen
from tests.support.serving import START_SECONDS, Serving

STOP_SECONDS = 1
"""Live streams, which never end by themselves, are cut off after this."""


@dataclass
class LocalService(Serving):
    """A service that can be stopped and started again, on the same port."""

    server: uvicorn.Server | None = None
    thread: threading.Thread | None = None
    app: FastAPI | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        started = threading.Event()
        self.app = create_app(ServiceSettings(database_url=self.database, log_requests=False))
        config = config_of(self.app)
        config.timeout_graceful_shutdown = STOP_SECONDS
        listening = listen("127.0.0.1", self.port)
        self.server = AnnouncingServer(config, started.set)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()
        assert started.wait(START_SECONDS), "the service did not start"

    def stop(self) -> None:
        """Stop it and wait until it is gone."""
        if self.server is not None and self.thread is not None:
            self.server.should_exit = True
            self.thread.join(60)
            assert not self.thread.is_alive(), "the service did not stop"
            self.server = self.thread = None
