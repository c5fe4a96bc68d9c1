"""The decorator of every numerical kernel: numba's `njit`, kept on disk between runs."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import scipy.linalg  # noqa: F401, TID251  numba loads it with the first kernel: a decision should not wait for it
from numba.core import caching, event

from evenhand._internal.arrays import Floats
from evenhand.version import __version__

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
FLOAT = np.dtype(np.float64)

COMPILING = (
    "compiling numerical kernels, some ten seconds; this happens once per installation "
    "(`evenhand warm-up` does it in advance)"
)
PATIENCE_SECONDS = 1.0  # Compiling is logged once it has taken this long.

log = logging.getLogger(__name__)


def jit(function: Callable[Parameters, Result], **options: Any) -> Callable[Parameters, Result]:
    """Compile `function` to machine code at its first call, and keep the code on disk where that is possible.

    Kernels run without the GIL. Numba recompiles when the function's own file changes, not when a constant or a kernel
    imported from another file does. Kernels therefore take their tolerances as arguments.

    Loops over elements compile fast. Slow to compile are: assigning one array to a slice of another (two seconds for
    the first one), sorting, and kernels that call kernels that call kernels, each optimised again in its callers.

    >>> @jit
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(1.5)
    3.0
    """
    before = getattr(numba.config, "CACHE_LOCATOR_CLASSES", "")  # older releases have none, and no read-only caches
    numba.config.CACHE_LOCATOR_CLASSES = before or LOCATORS  # type: ignore[attr-defined]
    try:
        dispatcher: Any = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # nowhere to keep the code, or a function without a file
        dispatcher = numba.njit(nogil=True, **options)(function)
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = before  # type: ignore[attr-defined]
    _ignore_literals(dispatcher)
    _leave_read_only(dispatcher)
    # Numba's own types describe an object that hides the signature; what is promised here is a plain function.
    return cast("Callable[Parameters, Result]", dispatcher)


class ReadOnlyCacheLocator(getattr(caching, "InTreeCacheLocator", object)):  # type: ignore[misc]
    """Numba's cache beside the source file, where it was filled in advance and cannot be written to.

    Numba itself takes no directory that it cannot write to: in an image whose kernels were compiled while it was built,
    every process that runs as another user, or on a read-only file system, would compile them again.
    """

    def ensure_cache_path(self) -> None:
        """Refuse a directory without cached code."""
        if not any(name.endswith(".nbi") for name in os.listdir(self.get_cache_path())):
            raise FileNotFoundError(self.get_cache_path())


LOCATORS = f"UserProvidedCacheLocator,InTreeCacheLocator,{__name__}.ReadOnlyCacheLocator,UserWideCacheLocator"
"""Numba's own order of cache directories, the read-only one before the user's."""


def _leave_read_only(dispatcher: Any) -> None:
    """Write nothing to a read-only cache; what is missing there is compiled in every process."""
    path = dispatcher.stats.cache_path
    if path is not None and not os.access(path, os.W_OK):
        dispatcher._cache.save_overload = lambda *_: None


def _ignore_literals(dispatcher: Any) -> None:
    """Have a kernel that passes 0 or True to this one pass an int or a bool: numba would compile it for each value."""
    by_type, unliteral = dispatcher.get_call_template, cast("Any", numba.types.unliteral)

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = tuple(unliteral(kind) for kind in args)
        return by_type(plain, {name: unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = get_call_template


class CompilationLog(event.Listener):
    """Logs that our kernels are being compiled when that takes long: once per installation.

    marker: a file that tells other processes that it was said; where it cannot be made, every process says it once.
    """

    def __init__(self, marker: Path | None = None) -> None:
        self._marker = marker
        self._depth, self._began, self._seconds, self._is_logged = 0, 0.0, 0.0, False

    def on_start(self, started: Any) -> None:
        """A compilation began, perhaps within another; numba's compiler lock keeps threads apart."""
        if self._depth == 0:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, ended: Any) -> None:
        """A compilation ended."""
        self._depth -= 1
        seconds = self._seconds + time.monotonic() - self._began
        if self._depth == 0:
            self._seconds = seconds
        is_ours = str(ended.data["dispatcher"].py_func.__module__).startswith("evenhand.")
        if is_ours and not self._is_logged and seconds > PATIENCE_SECONDS:
            self._is_logged = True
            if self._is_first():
                log.warning(COMPILING)

    def _is_first(self) -> bool:
        """Whether no other process has said it before, as far as can be known."""
        if self._marker is None:
            return True
        try:
            self._marker.touch(exist_ok=False)
        except FileExistsError:
            return False
        except OSError:  # nowhere to note it
            return True
        return True


def _marker() -> Path:
    """A file beside the compiled kernels of these versions: where they are removed, they are compiled again."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "__pycache__"
    return Path(folder) / f"evenhand-{__version__}-numba-{numba.__version__}.compiled"


event.register("numba:compile", CompilationLog(_marker()))  # type: ignore[no-untyped-call]


def frozen(array: Floats) -> Floats:
    """The same numbers as floats in C order, read-only: one form of an argument, so that a kernel is compiled once."""
    if not array.flags.c_contiguous or array.dtype != FLOAT:
        array = np.array(array, dtype=FLOAT, order="C")
    elif not array.flags.writeable:
        return array
    else:
        array = array.view()
    array.flags.writeable = False
    return array
