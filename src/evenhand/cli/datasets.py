"""`evenhand datasets`: what there is, and a data set as files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from evenhand.cli._options import at_least
from evenhand.cli._output import write_lines


def add_datasets(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand datasets ...`."""
    parser.add_argument("name", nargs="?", help="a data set; without it, the names of all")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write its people with columns round, chosen and outcome"
    )
    parser.add_argument("--schema", type=Path, metavar="FILE", help="write its schema, as JSON")
    parser.add_argument(
        "--round-size",
        type=at_least(1, "round-size"),
        metavar="N",
        help="people of a round, if the table has none (10)",
    )
    parser.add_argument("--seed", type=at_least(0, "seed"), help="of the order of rounds (that of the table)")
    parser.set_defaults(run=run_datasets)


def run_datasets(options: argparse.Namespace) -> None:
    """Print the names, or a data set; write its files."""
    from evenhand.datasets import NAMES, load
    from evenhand.datasets.registry import RECIPES

    if options.name is None:
        for name in NAMES:
            print(f"{name:<14}{RECIPES[name].title}")
        return
    dataset = load(options.name)
    if options.csv is not None:
        history = dataset.as_history(options.round_size, seed=options.seed)
        write_lines(history.to_csv(index=False).splitlines(), options.csv)
    if options.schema is not None:
        write_lines(json.dumps(dataset.schema.to_dict(), indent=2, allow_nan=False).splitlines(), options.schema)
    print(dataset)
