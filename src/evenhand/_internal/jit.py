"""The decorator of every numerical kernel: numba's `njit`, kept on disk between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import numba
import numpy as np
import scipy.linalg  # noqa: F401  numba loads it with the first kernel of a process: a decision should not wait for it
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
FLOAT = np.dtype(np.float64)


def jit(function: Callable[Parameters, Result], **options: Any) -> Callable[Parameters, Result]:
    """Compile `function` to machine code at its first call, and keep the code on disk where that is possible.

    Kernels run without the GIL. Numba recompiles when the function's own file changes, not when a constant or a kernel
    imported from another file does. Kernels therefore take their tolerances as arguments.

    What is cheap to compile: loops over elements. What is dear: assigning one array to a slice of another (two
    seconds for the first one), sorting, and kernels that call kernels that call kernels, since each is optimised
    again within its callers.

    >>> @jit
    ... def double(x: float) -> float:
    ...     return 2.0 * x
    >>> double(1.5)
    3.0
    """
    try:
        dispatcher = numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # nowhere to keep the code: a read-only installation, or a function without a file
        dispatcher = numba.njit(nogil=True, **options)(function)
    _ignore_literals(dispatcher)
    # Numba's own types describe an object that hides the signature; what is promised here is a plain function.
    return cast("Callable[Parameters, Result]", dispatcher)


def _ignore_literals(dispatcher: Any) -> None:
    """Have a kernel that passes 0 or True to this one pass an int or a bool: numba would compile it for each value."""
    by_type, unliteral = dispatcher.get_call_template, cast("Any", numba.types.unliteral)

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = tuple(unliteral(kind) for kind in args)
        return by_type(plain, {name: unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = get_call_template


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
