"""Ports for services that tests stop and start again."""

from __future__ import annotations

import random
import socket
from pathlib import Path

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A port nobody listens on, outside the range from which the system takes the ports of clients.

    Within it, a client that tries to reach a stopped service may itself be given the port of the service: it then
    connects to itself, and the service cannot start again.
    """
    end = int(EPHEMERAL.read_text().split()[0]) if EPHEMERAL.exists() else 32_768
    choose = random.SystemRandom()
    while True:
        port = choose.randrange(10_000, max(end, 20_000))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
