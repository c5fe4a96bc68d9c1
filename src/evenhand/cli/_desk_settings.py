"""Settings of a new desk on the command line: --set NAME=VALUE, files among the values."""

from __future__ import annotations

import argparse
import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenhand.errors import InvalidInput

NESTED = ("reviewing", "reward")
"""Settings that are dicts: their entries are named with a dot."""


def add_settings(parser: argparse.ArgumentParser, also: str = "") -> None:
    """The option --set."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="a setting of a new desk, such as schema=schema.json, features=income,debt, capacity=2, "
        "reviewing.ask=ratings, prior=metric.json, reward=LogisticUCB, or reward.kind=Predictor with "
        f"reward.model=model.skops; may be repeated{also}",
    )


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """The settings by name."""
    return _nested(_setting(text) for text in options.settings)


def _setting(text: str) -> tuple[str, Any]:
    """A setting from NAME=VALUE: the value as JSON, or else as text; features split at commas, a schema, a prior and a
    model from their files.

    >>> _setting("capacity=2"), _setting("reviewing.ask=ratings")
    (('capacity', 2), ('reviewing.ask', 'ratings'))
    """
    name, is_there, value = text.partition("=")
    if not is_there:
        raise InvalidInput(f"--set must be NAME=VALUE, as in --set capacity=2, got {text!r}")
    if name == "schema" and not value.lstrip().startswith("{"):
        from evenhand.interview.people import load_schema

        return name, load_schema(value)
    if name == "reward.model":
        return name, base64.b64encode(_content(name, value)).decode()
    if name == "prior" and not value.lstrip().startswith("["):
        value = _content(name, value).decode(errors="replace")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        if name == "prior":
            raise InvalidInput("prior must be a file with a matrix as JSON, such as [[1, 0], [0, 1]]") from None
        return name, value.split(",") if name == "features" else value


def _content(name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"the file of {name} cannot be read: {path}: {error.strerror}") from None


def _nested(settings: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Settings by name; those named with a dot as a dict of their own.

    >>> _nested([("capacity", 2), ("reviewing.ask", "ratings"), ("reviewing.scale", [1, 7])])
    {'capacity': 2, 'reviewing': {'ask': 'ratings', 'scale': [1, 7]}}
    """
    found: dict[str, Any] = {}
    for name, value in settings:
        outer, _, inner = name.partition(".")
        if inner and outer in NESTED:
            found[outer] = {**found.get(outer, {}), inner: value}
        else:
            found[name] = value
    return found
