"""`evenhand token create`, `rotate`, `revoke` and `list`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

from evenhand.cli._database_options import add_database, database_of
from evenhand.cli._options import command, duration, moment
from evenhand.service.settings import ROLES


def add_token(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand token ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    create = command(actions, "create", "create a token; its secret is shown once")
    create.add_argument("name", help="the holder: the actor in the ledger")
    create.add_argument("--role", action="append", required=True, choices=ROLES, help="can be repeated")
    create.add_argument("--desk", action="append", help="a desk it is for; can be repeated (all desks)")
    create.set_defaults(run=run_create)
    rotate = command(actions, "rotate", "a new secret for a token, shown once")
    rotate.add_argument("name", help="its name or id")
    rotate.add_argument(
        "--overlap", type=duration, default=timedelta(0), metavar="TIME", help="how long the old secret works (0s)"
    )
    rotate.set_defaults(run=run_rotate)
    revoke = command(actions, "revoke", "revoke a token")
    revoke.add_argument("name", help="its name or id")
    revoke.set_defaults(run=run_revoke)
    listing = command(actions, "list", "list all tokens, without their secrets")
    listing.set_defaults(run=run_list)
    for action, default in ((create, "never"), (rotate, "as before")):
        action.add_argument(
            "--expires", type=moment, metavar="WHEN", help=f"a time from now, as in 90d or 12h, or a date ({default})"
        )
    for action in (create, rotate, revoke, listing):
        add_database(action)


def run_create(options: argparse.Namespace) -> None:
    """Create a token in an existing database and show its secret."""
    from evenhand.ledger.ledger import open_ledger
    from evenhand.service.tokens import TokenStore, new_token

    token, secret = new_token(options.name, options.role, options.desk, options.expires)
    with closing(open_ledger(database_of(options), make=False)) as ledger:
        TokenStore(ledger).add(token)
        missing = sorted(set(token.desks or ()) - set(ledger.names()))
    print(secret)
    if missing:
        print(f"there is no desk {', '.join(missing)} yet; the token will work once it exists", file=sys.stderr)


def run_rotate(options: argparse.Namespace) -> None:
    """Give a token a new secret and show it; running services know it within a second."""
    from evenhand.service.tokens import open_tokens

    until = (datetime.now(UTC) + options.overlap).isoformat(timespec="microseconds")
    with open_tokens(database_of(options), make=False) as store:
        token, secret = store.rotate(options.name, until, options.expires)
    print(secret)
    if options.overlap:
        print(f"the old secret of {token.name} works until {token.old_until}", file=sys.stderr)


def run_revoke(options: argparse.Namespace) -> None:
    """Revoke a token; running services refuse it within a second."""
    from evenhand.ledger.event import now
    from evenhand.service.tokens import open_tokens

    with open_tokens(database_of(options), make=False) as store:
        token = store.revoke(options.name, now())
    print(f"revoked token {token.name} ({token.id})")


def run_list(options: argparse.Namespace) -> None:
    """Show all tokens, the oldest first."""
    from evenhand.ledger.event import now
    from evenhand.service.tokens import open_tokens

    with open_tokens(database_of(options), make=False) as store:
        for token in store.all():
            desks = "all desks" if token.desks is None else ", ".join(token.desks)
            ended = f"revoked {token.revoked}" if token.revoked else "in use" if token.is_valid(now()) else "expired"
            expires = "" if token.expires is None else f"  expires {token.expires}"
            has_old = token.old_until is not None and token.is_valid(now()) and now() < token.old_until
            old = f"  old secret until {token.old_until}" if has_old else ""
            created = f"created {token.created}{expires}{old}"
            print(f"{token.id}  {token.name}  {', '.join(token.roles)}  {desks}  {created}  {ended}")
