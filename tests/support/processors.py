"""Which kind of processor the linear algebra computes for: numbers are the same to the bit on one kind only."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

WROTE_0_1 = "SkylakeX"
"""The kind that the files of version 0.1 under tests/data were written on."""


def is_the_one_of_0_1() -> bool:
    """Whether this computer rounds as the one did that wrote the files of version 0.1."""
    np.eye(1) @ np.eye(1)  # the library is loaded
    return {library.get("architecture") for library in threadpool_info() if "architecture" in library} == {WROTE_0_1}
