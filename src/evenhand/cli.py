"""The command line: `evenhand demo`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evenhand import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="evenhand", description="Fair decisions under a metric nobody can write down."
    )
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="a simulated lending desk: a table on the screen, a picture in a file")
    demo.add_argument("--rounds", type=int, default=1500, help="days at the desk (default: %(default)s)")
    demo.add_argument("--seed", type=int, default=0, help="of the simulated world (default: %(default)s)")
    demo.add_argument("--picture", type=Path, default=Path("demo.png"), help="where to draw (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"rounds is {options.rounds}; allowed is a whole number >= 1")
    if options.seed < 0:
        parser.error(f"seed is {options.seed}; allowed is a whole number >= 0")
    if not options.picture.resolve().parent.is_dir():
        parser.error(f"there is no folder {options.picture.parent} to draw {options.picture.name} in")
    try:
        from evenhand.lab.demo import show_demo  # its drawing libraries are needed by this command only
    except ModuleNotFoundError as error:
        parser.error(f"{error.name} is missing: the demonstration needs pip install 'evenhand[lab]'")
    show_demo(rounds=options.rounds, seed=options.seed, picture=options.picture)
    return 0
