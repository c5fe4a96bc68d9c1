"""The port that a service listens on: taken before anything else is done that cannot be undone."""

from __future__ import annotations

import errno
import socket

from evenhand.errors import CannotListen

WAITING = 2048
"""So many connections may wait to be taken, while the service starts and after."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there, for this process and its children; CannotListen if there is none to be had.

    Whoever connects from now on waits until the service has started.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(WAITING)
    except OSError as error:
        listening.close()
        raise CannotListen(_why(error, host, port)) from None
    listening.set_inheritable(True)
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """The URL of a service that listens there."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is taken by another program; choose another one with --port, or 0 for any"
    return f"nothing can listen on port {port} of {host}: {error.strerror or error}"
