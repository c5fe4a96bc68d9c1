"""`evenhand serve` and `evenhand token`."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import Any

from evenhand.cli._database_options import add_database, database_of, database_to_make, names_database
from evenhand.errors import InvalidInput
from evenhand.service.settings import ROLES, ServiceSettings


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand serve`."""
    add_database(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="the port, 0 for any that is free (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="number of processes (%(default)s)")
    parser.add_argument("--without-tokens", action="store_true", help="allow every request everything; loopback only")
    limits = ServiceSettings
    parser.add_argument("--max-body", type=int, metavar="BYTES", help=f"of a request body ({limits.max_body})")
    parser.add_argument("--max-candidates", type=int, metavar="N", help=f"of one decision ({limits.max_candidates})")
    parser.add_argument("--rate", type=float, metavar="N", help=f"requests per second of one token ({limits.rate:g})")
    parser.add_argument("--burst", type=float, metavar="N", help=f"requests of one token at once ({limits.burst:g})")
    parser.add_argument(
        "--wrong-tokens", type=float, metavar="N", help=f"per minute from one address ({limits.wrong_tokens:g})"
    )
    parser.add_argument("--demo", action="store_true", help="serve a sample lending desk; nothing is kept")
    parser.add_argument("--no-request-log", action="store_true", help="do not log requests")
    parser.set_defaults(run=run_serve)


def add_token(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand token create`, `token revoke` and `token list`."""
    actions = parser.add_subparsers(dest="action", required=True)
    create = actions.add_parser("create", help="create a token; its secret is shown once")
    create.add_argument("name", help="the holder: the actor in the ledger")
    create.add_argument("--role", action="append", required=True, choices=ROLES, help="can be repeated")
    create.add_argument("--desk", action="append", help="a desk it is for; can be repeated (all desks)")
    create.set_defaults(run=run_create)
    revoke = actions.add_parser("revoke", help="revoke a token")
    revoke.add_argument("name", help="its name or id")
    revoke.set_defaults(run=run_revoke)
    listing = actions.add_parser("list", help="list all tokens, without their secrets")
    listing.set_defaults(run=run_list)
    for action in (create, revoke, listing):
        add_database(action)


def run_serve(options: argparse.Namespace) -> None:
    """Serve until stopped."""
    if options.demo:
        from evenhand.service.demo import serve_demo

        if names_database(options):
            raise InvalidInput("--demo cannot be combined with --data or --database: it keeps nothing")
        serve_demo(host=options.host, port=options.port)
        return
    from evenhand.service.serve import serve
    from evenhand.service.settings import ServiceSettings

    if options.workers < 1 or not 0 <= options.port < 65536:
        raise InvalidInput(
            f"--workers must be >= 1 and --port from 0 to 65535, got {options.workers} and {options.port}"
        )
    names = ("max_body", "max_candidates", "rate", "burst", "wrong_tokens")
    overrides: dict[str, Any] = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.without_tokens:
        overrides["tokens"] = False
    if options.no_request_log:
        overrides["log_requests"] = False
    settings = ServiceSettings.from_environment(database_url=database_to_make(options), **overrides)
    serve(settings, host=options.host, port=options.port, workers=options.workers)


def run_create(options: argparse.Namespace) -> None:
    """Create a token in an existing database and show its secret."""
    from evenhand.ledger.ledger import open_ledger
    from evenhand.service.tokens import TokenStore, new_token

    token, secret = new_token(options.name, options.role, options.desk)
    with closing(open_ledger(database_of(options), make=False)) as ledger:
        TokenStore(ledger).add(token)
        missing = sorted(set(token.desks or ()) - set(ledger.names()))
    print(secret)
    if missing:
        print(f"there is no desk {', '.join(missing)} yet; the token will work once it exists", file=sys.stderr)


def run_revoke(options: argparse.Namespace) -> None:
    """Revoke a token; running services refuse it within a second."""
    from evenhand.ledger.event import now
    from evenhand.service.tokens import open_tokens

    with open_tokens(database_of(options), make=False) as store:
        token = store.revoke(options.name, now())
    print(f"revoked token {token.name} ({token.id})")


def run_list(options: argparse.Namespace) -> None:
    """Show all tokens, the oldest first."""
    from evenhand.service.tokens import open_tokens

    with open_tokens(database_of(options), make=False) as store:
        for token in store.all():
            desks = "all desks" if token.desks is None else ", ".join(token.desks)
            ended = f"revoked {token.revoked}" if token.revoked else "in use"
            print(f"{token.id}  {token.name}  {', '.join(token.roles)}  {desks}  created {token.created}  {ended}")
