"""Peers that may be missing: named as such in the table, never passed over in silence."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.measurement import Measurement

INSTALL = "pip install 'evenhand[bench]'"


def load(module: str) -> Any:
    """A peer's module; its packages carry no types. ImportError if it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a peer deprecates is not our users' matter
        return importlib.import_module(module)


def if_installed(
    module: str, part: str, work: str, peer: str, measure: Callable[[], list[Measurement]]
) -> list[Measurement]:
    """What `measure` says, or one line that says the peer is missing."""
    try:
        load(module)
    except ImportError:
        return [missing(part, work, peer)]
    return measure()


def missing(part: str, work: str, peer: str) -> Measurement:
    """The line of a peer that is not installed."""
    return Measurement(part, work, peer, note=f"not installed: {INSTALL}")
