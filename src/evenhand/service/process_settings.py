"""What every process of the service sets for itself: arenas of memory, and threads of linear algebra."""

from __future__ import annotations

import contextlib
import ctypes

from threadpoolctl import threadpool_limits

from evenhand._internal import factorisations  # noqa: F401 -- loads scipy's BLAS; only what is loaded can be limited

M_ARENA_MAX = -8
"""glibc's name for the number of its arenas, in malloc.h."""
ARENAS = 2
"""Arenas of memory that all threads share."""


def limit_arenas() -> None:
    """Have all threads share a few arenas of memory, if the C library is glibc.

    By default threads spread over eight arenas per processor. What one thread frees in its arena is of no use to
    threads of another, so the memory of a busy service kept rising while what it used did not.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def limit_blas() -> None:
    """Give linear algebra one thread, whichever thread calls it.

    The matrices of a decision are small. A second thread mostly waits for the first, and takes the processor from
    other desks meanwhile: rounds at 46 columns took 2.3 times the processor and 1.4 times the time.
    """
    threadpool_limits(limits=1, user_api="blas")
