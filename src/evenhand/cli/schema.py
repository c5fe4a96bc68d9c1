"""`evenhand schema propose`, `show`, `fit` and `check`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from evenhand.cli._options import command


def add_schema(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand schema ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    propose = command(actions, "propose", "propose a schema for a table of people, as JSON to edit")
    propose.add_argument("table", type=Path, help="people, a CSV, Parquet or Arrow file with named columns")
    propose.add_argument("--carry", action="append", default=[], metavar="COLUMN", help="not to use; can be repeated")
    for kind, what in (("category", "codes"), ("ordinal", "grades")):
        propose.add_argument(
            f"--{kind}", action="append", default=[], metavar="COLUMN", help=f"its numbers are {what}; can be repeated"
        )
    propose.add_argument("--text", action="store_true", help="write a table to read instead of JSON")
    propose.set_defaults(run=run_propose)
    show = command(actions, "show", "show a schema as a table")
    show.add_argument("schema", type=Path, help="a JSON file")
    show.set_defaults(run=run_show)
    fit = command(actions, "fit", "choose scales that are open, after editing, by a table of people")
    fit.add_argument("schema", type=Path, help="a JSON file, with scale auto, or quantile without knots")
    fit.add_argument("table", type=Path, help="people, a CSV, Parquet or Arrow file with named columns")
    fit.set_defaults(run=run_fit)
    check = command(actions, "check", "whether the people in a table fit a schema")
    check.add_argument("schema", type=Path, help="a JSON file")
    check.add_argument("table", type=Path, help="people, a CSV, Parquet or Arrow file with named columns")
    check.set_defaults(run=run_check)


def run_propose(options: argparse.Namespace) -> None:
    """Print the schema proposed for a table; what to look at goes to standard error."""
    from evenhand.interview.people import load_columns
    from evenhand.schema import Schema

    kinds: dict[str, Any] = dict.fromkeys(options.category, "category") | dict.fromkeys(options.ordinal, "ordinal")
    schema = Schema.from_frame(_rows(load_columns(options.table)), kinds=kinds, carry=options.carry)
    if options.text:
        print(schema)
        return
    print(json.dumps(schema.to_dict(), indent=2, allow_nan=False))  # without a digest: it is meant to be edited
    for line in schema.to_look_at:
        print(line, file=sys.stderr)


def run_show(options: argparse.Namespace) -> None:
    """Print a schema as a table."""
    from evenhand.interview.people import load_schema

    print(load_schema(options.schema))


def run_fit(options: argparse.Namespace) -> None:
    """Print the schema with the scales that a table suggests."""
    from evenhand.interview.people import load_columns, load_schema

    schema = load_schema(options.schema).fitted(_rows(load_columns(options.table)), extra="ignore")
    print(json.dumps(schema.to_dict(), indent=2, allow_nan=False))


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def run_check(options: argparse.Namespace) -> None:
    """Print how many people of a table fit, or raise InvalidInput with lines, columns and reasons."""
    from evenhand.interview.people import load_people, load_schema

    people = load_people(options.table, load_schema(options.schema))
    print(f"all {len(people.rows)} people fit")
    if people.ignored:
        print(f"not in the schema, and not used: {', '.join(people.ignored)}")
