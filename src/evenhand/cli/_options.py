"""Types of command-line options, with messages that say what is valid."""

from __future__ import annotations

import argparse
import math


class at_least:
    """The type of an option: a whole number not below a limit."""

    def __init__(self, least: int, name: str) -> None:
        self.least, self.name = least, name

    def __call__(self, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = self.least - 1
        if value < self.least:
            raise argparse.ArgumentTypeError(f"{self.name} must be a whole number >= {self.least}, got {text}")
        return value


def seconds(text: str) -> float:
    """The type of an option: a duration above 0.

    >>> seconds("1.5")
    1.5
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"seconds must be a number > 0, got {text}")
    return value
