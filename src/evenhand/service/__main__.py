"""`python -m evenhand.service serve` and `python -m evenhand.service token`: the same as `evenhand serve` and so on."""

from __future__ import annotations

import argparse
import sys

from evenhand.desk.command_line import end
from evenhand.errors import EvenhandError
from evenhand.service.command_line import add_serve, add_token


def main() -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="evenhand")
    commands = parser.add_subparsers(required=True)
    add_serve(commands.add_parser("serve", help="decisions over HTTP"))
    add_token(commands.add_parser("token", help="who may do what"))
    options = parser.parse_args()
    try:
        options.run(options)
    except EvenhandError as error:
        end(parser, error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
