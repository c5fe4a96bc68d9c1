"""`evenhand serve` and `evenhand token`: their options, and what they do."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from evenhand.cli.database_options import add_database, database_of, database_to_make, is_given
from evenhand.errors import InvalidInput

ROLES = ("decide", "review", "admin")


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand serve`."""
    add_database(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="the port, 0 for any that is free (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes; one of them folds (%(default)s)")
    parser.add_argument("--without-tokens", action="store_true", help="whoever reaches it may do all; loopback only")
    parser.add_argument("--max-body", type=int, metavar="BYTES", help="of a request's body (1048576)")
    parser.add_argument("--max-candidates", type=int, metavar="N", help="of one decision (500)")
    parser.add_argument("--rate", type=float, metavar="N", help="requests a second of one token (1000)")
    parser.add_argument("--burst", type=float, metavar="N", help="requests of one token at once (2000)")
    parser.add_argument("--wrong-tokens", type=float, metavar="N", help="a minute from one address (30)")
    parser.add_argument("--demo", action="store_true", help="a made-up lending desk to play with; nothing stays")
    parser.add_argument("--no-request-log", action="store_true", help="no line for every request")
    parser.set_defaults(run=run_serve)


def add_token(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand token create`, `token revoke` and `token list`."""
    actions = parser.add_subparsers(dest="action", required=True)
    create = actions.add_parser("create", help="make a token; its secret is shown this once")
    create.add_argument("name", help="who holds it: the actor in the ledger")
    create.add_argument("--role", action="append", required=True, choices=ROLES, help="may be given more than once")
    create.add_argument("--desk", action="append", help="a desk it is for; may be given more than once (all desks)")
    create.set_defaults(run=run_create)
    revoke = actions.add_parser("revoke", help="put an end to a token")
    revoke.add_argument("name", help="its name or id")
    revoke.set_defaults(run=run_revoke)
    listing = actions.add_parser("list", help="all tokens that were ever made; secrets are not known")
    listing.set_defaults(run=run_list)
    for action in (create, revoke, listing):
        add_database(action)


def run_serve(options: argparse.Namespace) -> None:
    """Serve until told to stop."""
    if options.demo:
        from evenhand.service.demo import serve_demo

        if is_given(options):
            raise InvalidInput("--demo keeps nothing; leave out --data and --database, or leave out --demo")
        serve_demo(host=options.host, port=options.port)
        return
    from evenhand.service.serve import serve
    from evenhand.service.settings import ServiceSettings

    if options.workers < 1 or not 0 <= options.port < 65536:
        raise InvalidInput("--workers must be 1 or more, and --port from 0 to 65535")
    named = {name: getattr(options, name) for name in ("max_body", "max_candidates", "rate", "burst", "wrong_tokens")}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if options.without_tokens:
        given["tokens"] = False
    if options.no_request_log:
        given["log_requests"] = False
    settings = ServiceSettings.from_environment(database_url=database_to_make(options), **given)
    serve(settings, host=options.host, port=options.port, workers=options.workers)


def run_create(options: argparse.Namespace) -> None:
    """Make a token and show its secret, in a database that is there: no service would know one made elsewhere."""
    from evenhand.ledger.ledger import open_ledger
    from evenhand.service.token_store import token_store_of
    from evenhand.service.tokens import new_token

    token, secret = new_token(options.name, options.role, options.desk)
    ledger = open_ledger(database_of(options), make=False)
    try:
        token_store_of(ledger).add(token)
        missing = sorted(set(token.desks or ()) - set(ledger.names()))
    finally:
        ledger.close()
    print(secret)
    if missing:
        print(f"there is no desk {', '.join(missing)} yet; the token is for it once it is there", file=sys.stderr)


def run_revoke(options: argparse.Namespace) -> None:
    """Put an end to a token; running services follow within a second."""
    from evenhand.service.token_store import open_tokens
    from evenhand.service.tokens import now

    with open_tokens(database_of(options), make=False) as store:
        token = store.revoke(options.name, now())
    print(f"{token.name} ({token.id}) opens nothing any more")


def run_list(options: argparse.Namespace) -> None:
    """Show all tokens, the oldest first."""
    from evenhand.service.token_store import open_tokens

    with open_tokens(database_of(options), make=False) as store:
        for token in store.all():
            desks = "all desks" if token.desks is None else ", ".join(token.desks)
            ended = f"revoked {token.revoked}" if token.revoked else "in use"
            print(f"{token.id}  {token.name}  {', '.join(token.roles)}  {desks}  made {token.created}  {ended}")
