"""`evenhand serve`."""

from __future__ import annotations

import argparse
from typing import Any

from evenhand._internal.checks import check_whole
from evenhand.cli._database_options import add_database, database_to_make, names_database
from evenhand.errors import InvalidInput
from evenhand.service.settings import ServiceSettings


def add_serve(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand serve`."""
    add_database(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="the port, 0 for any that is free (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="number of processes (%(default)s)")
    parser.add_argument(
        "--supervise", action="store_true", help="replace a single worker when it dies or hangs, as with several"
    )
    parser.add_argument("--without-tokens", action="store_true", help="allow every request everything; loopback only")
    limits = ServiceSettings
    parser.add_argument("--max-body", type=int, metavar="BYTES", help=f"size of a request body ({limits.max_body})")
    parser.add_argument(
        "--max-candidates",
        type=int,
        metavar="N",
        help=f"candidates of a decision ({limits.max_candidates})",
    )
    parser.add_argument("--rate", type=float, metavar="N", help=f"requests per second of one token ({limits.rate:g})")
    parser.add_argument("--burst", type=float, metavar="N", help=f"requests of one token at once ({limits.burst:g})")
    parser.add_argument(
        "--wrong-tokens",
        type=float,
        metavar="N",
        help=f"wrong tokens a minute from an address ({limits.wrong_tokens:g})",
    )
    parser.add_argument("--demo", action="store_true", help="serve a sample lending desk; nothing is kept")
    parser.add_argument(
        "--size",
        choices=("small", "large"),
        help="size of the demo: 5 people for one loan, or 50 with 24 features each for ten (small)",
    )
    parser.add_argument("--no-request-log", action="store_true", help="do not log requests")
    parser.set_defaults(run=run_serve)


def run_serve(options: argparse.Namespace) -> None:
    """Serve until stopped."""
    if options.demo:
        from evenhand.service.demo import serve_demo

        if names_database(options):
            raise InvalidInput("--demo cannot be combined with --data or --database: it keeps nothing")
        serve_demo(host=options.host, port=options.port, size=options.size or "small")
        return
    if options.size is not None:
        raise InvalidInput("--size is about the demo; use it with --demo")
    from evenhand.service.serve import serve
    from evenhand.service.settings import ServiceSettings

    check_whole("--workers", options.workers, least=1)
    check_whole("--port", options.port, least=0, most=65535)
    names = ("max_body", "max_candidates", "rate", "burst", "wrong_tokens")
    overrides: dict[str, Any] = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.without_tokens:
        overrides["tokens"] = False
    if options.no_request_log:
        overrides["log_requests"] = False
    settings = ServiceSettings.from_environment(database_url=database_to_make(options), **overrides)
    where = {"host": options.host, "port": options.port}
    serve(settings, **where, workers=options.workers, supervised=options.supervise)
