"""`evenhand witness`: keep the signed heads of services, and report one that contradicts another."""

from __future__ import annotations

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.cli._options import seconds
from evenhand.errors import InvalidInput

if TYPE_CHECKING:
    from evenhand.service.witness.witness import Witness

TOKEN = "EVENHAND_TOKEN"


def add_witness(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand witness`."""
    parser.description = (
        "Fetch the signed heads of services (--url), or receive them (--listen), and keep those that continue the last "
        "ones. With --url the exit status is 1 if one contradicts what was kept: a fork, a rollback, a backdated head."
    )
    parser.add_argument("--folder", type=Path, default=Path("evenhand-witness"), help="of the heads (%(default)s)")
    parser.add_argument("--url", action="append", default=[], help="of a service to ask; can be repeated")
    parser.add_argument("--token", help=f"for these services, with the role audit; also {TOKEN}")
    parser.add_argument("--every", type=seconds, metavar="SECONDS", help="ask again and again (once)")
    parser.add_argument("--listen", metavar="HOST:PORT", help="receive heads from services; they POST to /heads")
    parser.add_argument(
        "--key", action="append", default=[], metavar="KEY", help="a public key that is trusted (the first one seen)"
    )
    parser.set_defaults(run=run_witness)


def run_witness(options: argparse.Namespace) -> int:
    """Ask once, again and again, or listen; the status is 1 if a service that was asked contradicted itself."""
    from evenhand.service.witness.witness import Witness

    if bool(options.url) == (options.listen is not None):
        raise InvalidInput("pass --url or --listen: where heads come from")
    for key in options.key:
        if len(key) != 64 or set(key) - set("0123456789abcdef"):
            raise InvalidInput(f"--key must be 64 hexadecimal digits, as `ledger keys` prints them, got {key!r}")
    witness = Witness(options.folder, options.key)
    if options.listen is not None:
        _listen(witness, options.listen)
        return 0
    token = options.token or os.environ.get(TOKEN)
    status = _ask(witness, options.url, token)
    while options.every is not None:
        time.sleep(options.every)
        status = max(status, _ask(witness, options.url, token))
    return status


def _ask(witness: Witness, urls: list[str], token: str | None) -> int:
    """Ask all services; 1 if one does not answer, or a head was refused."""
    from evenhand.service.witness.pull import CannotFetch, pull

    status = 0
    for url in urls:
        try:
            for head, refused in pull(witness, url, token):
                kept = f"{url}  {head.desk}  {head.size} events at {head.time}"
                print(f"{kept}  kept" if refused is None else f"{kept}  {refused}", flush=True)
                status |= refused is not None
        except CannotFetch as error:
            print(error, file=sys.stderr)
            status = 1
    return status


def _listen(witness: Witness, where: str) -> None:
    from evenhand.service.logs import set_up_logs
    from evenhand.service.serve import AnnouncingServer, address_of, config_of, listen, run
    from evenhand.service.witness.app import witness_app

    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InvalidInput(f"--listen must be HOST:PORT, such as 127.0.0.1:8100, got {where!r}")
    with listen(host.strip("[]"), int(port)) as listening:
        set_up_logs()
        address = f"{address_of(listening, host.strip('[]'))}/heads"
        announce = partial(print, f"send heads to {address}", flush=True)
        run(AnnouncingServer(config_of(witness_app(witness)), announce), listening)
