"""Several workers: who starts them lets go of the port when they are to end, and they end when it does."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess

from uvicorn.supervisors import Multiprocess

log = logging.getLogger(__name__)


class Workers(Multiprocess):
    """Starts workers that share a port, and others in place of those that end, until told to stop."""

    def terminate_all(self) -> None:
        """Tell all to end, and listen no more: whoever connected to a port that nobody serves would be cut off."""
        for listening in self.sockets:
            listening.close()
        super().terminate_all()


def end_with_parent() -> None:
    """Have this process end as by SIGTERM should the one end that started it: nobody else would tell it to."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()


def _end_after(parent: BaseProcess) -> None:
    parent.join()  # waits for a pipe to close, which it does however a process ends
    log.warning("the process that started this worker is gone: it ends, too")
    os.kill(os.getpid(), signal.SIGTERM)
