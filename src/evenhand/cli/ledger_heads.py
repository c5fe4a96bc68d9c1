"""`evenhand ledger sign`, `heads`, `prove`, `keys` and `rotate-key`."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from evenhand.cli._database_options import add_database, database_of
from evenhand.cli._options import at_least, command
from evenhand.errors import InvalidInput, UnknownRecord

if TYPE_CHECKING:
    from evenhand.ledger.ledger import Ledger


def add_heads(actions: Any) -> None:
    """The options of these commands."""
    sign = command(actions, "sign", "sign where ledgers end now; a running service does so by itself")
    sign.add_argument("desk", nargs="?", help="a desk's name (all desks, and the service's own stream)")
    sign.set_defaults(run=run_sign)
    heads = command(actions, "heads", "print the signed heads of a desk, one JSON object a line, to be kept")
    heads.add_argument("desk", nargs="?", help="a desk's name (the newest head of each)")
    heads.set_defaults(run=run_heads)
    prove = command(actions, "prove", "prove that an event is in a ledger, or that one continues an earlier one")
    prove.add_argument("desk", help="a desk's name")
    prove.add_argument("--event", metavar="ID", help="the event to be proved to be among the first SIZE")
    prove.add_argument("--first", type=at_least(1, "first"), metavar="N", help="the size of an earlier head")
    prove.add_argument("--size", type=at_least(1, "size"), metavar="SIZE", help="of a head (of the newest)")
    prove.set_defaults(run=run_prove)
    keys = command(actions, "keys", "the public keys that heads are signed with")
    keys.set_defaults(run=run_keys)
    rotate = command(actions, "rotate-key", "sign with a new key from now on, which the one before endorses")
    rotate.set_defaults(run=run_rotate)
    for action in (sign, heads, prove, keys, rotate):
        add_database(action)


def _opened(options: argparse.Namespace) -> closing[Ledger]:
    from evenhand.ledger.ledger import open_ledger

    return closing(open_ledger(database_of(options), make=False))


def run_sign(options: argparse.Namespace) -> None:
    """Sign, and print the new heads."""
    from evenhand.ledger.signed_heads import SignedHeads, heads_file
    from evenhand.ledger.signing_keys import ENVIRONMENT, signing_key

    with _opened(options) as ledger:
        heads = SignedHeads(ledger, heads_file(ledger))
        key = signing_key(ledger, os.environ.get(ENVIRONMENT) or None)
        for desk in heads.streams() if options.desk is None else [options.desk]:
            head = heads.sign(desk, key)
            if head is not None:
                print(head.to_line())


def run_heads(options: argparse.Namespace) -> None:
    """Print signed heads."""
    from evenhand.ledger.signed_heads import SignedHeads

    with _opened(options) as ledger:
        heads = SignedHeads(ledger)
        if options.desk is not None:
            ledger.head(options.desk)
            for head in heads.all(options.desk):
                print(head.to_line())
            return
        for desk in heads.streams():
            latest = heads.latest(desk)
            if latest is not None:
                print(latest.to_line())


def run_prove(options: argparse.Namespace) -> None:
    """Print a proof as JSON."""
    from evenhand.ledger.proofs import consistency, inclusion
    from evenhand.ledger.signed_heads import SignedHeads

    if (options.event is None) == (options.first is None):
        raise InvalidInput("pass --event or --first: what is to be proved")
    with _opened(options) as ledger:
        heads = SignedHeads(ledger)
        latest = heads.latest(options.desk)
        size = options.size or (None if latest is None else latest.size)
        if size is None:
            raise UnknownRecord(f"no head of desk {options.desk!r} was signed yet; pass --size")
        if options.event is not None:
            proof = inclusion(ledger, heads.tree(options.desk), options.desk, options.event, size)
        else:
            proof = consistency(heads.tree(options.desk), options.desk, options.first, size)
    print(json.dumps(proof))


def run_keys(options: argparse.Namespace) -> None:
    """Print all public keys, the oldest first."""
    from evenhand.ledger.signing_keys import recorded_keys

    with _opened(options) as ledger:
        for key in recorded_keys(ledger):
            ended = "in use" if key.retired is None else f"until {key.retired}"
            endorsed = ", endorsed by the key before" if key.is_endorsed else ""
            print(f"{key.key}  from {key.created}  {ended}{endorsed}")


def run_rotate(options: argparse.Namespace) -> None:
    """Create a new key, and print its public part."""
    from evenhand.ledger.signing_keys import ENVIRONMENT, rotate_key

    if os.environ.get(ENVIRONMENT):
        raise InvalidInput(f"the key is that in {ENVIRONMENT}; set another one there, and restart the service")
    with _opened(options) as ledger:
        print(f"heads are signed with the key {rotate_key(ledger).public} from now on")
