"""One typed decorator for the hot kernels: numba's `njit`, kept on disk between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import numba
import numpy as np
import scipy.linalg  # noqa: F401  numba loads it with the first kernel of a process: a decision should not wait for it
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
FLOAT = np.dtype(np.float64)


def jit(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile `function` to machine code at its first call, and keep the code on disk where that is possible.

    Numba recompiles when the function's own file changes, not when a constant or a kernel imported from another
    file does. Kernels therefore take their tolerances as arguments.

    >>> @jit
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(1.5)
    3.0
    """
    # Numba's own types describe an object that hides the signature; what is promised here is a plain function.
    try:
        return cast("Callable[Parameters, Result]", numba.njit(cache=True)(function))
    except RuntimeError:  # nowhere to keep the code: a read-only installation, or a function without a file
        return cast("Callable[Parameters, Result]", numba.njit(function))


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers as floats in C order, read-only: one form of an argument, so that a kernel is compiled once."""
    if not array.flags.c_contiguous or array.dtype != FLOAT:
        array = np.array(array, dtype=FLOAT, order="C")
    elif not array.flags.writeable:
        return array
    else:
        array = array.view()
    array.flags.writeable = False
    return array
