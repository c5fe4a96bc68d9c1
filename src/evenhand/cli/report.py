"""`evenhand report`: the audit report of a desk."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from evenhand._internal.counted import counted
from evenhand.cli._database_options import add_database, database_of
from evenhand.errors import InvalidInput


def add_report(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand report`."""
    parser.description = "The audit report of a desk for a period, from its ledger alone, which is only read."
    parser.add_argument("desk", help="a desk's name")
    add_database(parser)
    parser.add_argument("--since", metavar="TIME", help="a date or time, such as 2026-01-01, in UTC (the first event)")
    parser.add_argument("--until", metavar="TIME", help="up to, not including, this date or time (no limit)")
    parser.add_argument("--output", type=Path, default=Path("report.html"), help="the page (%(default)s)")
    parser.add_argument("--pdf", type=Path, help="the same page as PDF; needs evenhand[report]")
    parser.add_argument("--json", type=Path, help="all figures as JSON")
    parser.add_argument("--candidate", metavar="ID", help="add the reasons why this candidate was not chosen")
    parser.add_argument(
        "--group",
        action="append",
        metavar="ATTRIBUTE",
        help="group candidates by this attribute, or by several together, as in sex,race; may be repeated (columns "
        "that are carried, and features with levels)",
    )
    parser.add_argument("--heads", type=Path, metavar="FILE", help="signed heads that were kept elsewhere")
    parser.add_argument(
        "--no-model", action="store_true", help="leave out what needs learning again: metric, promise and proofs"
    )
    parser.set_defaults(run=run_report)


def run_report(options: argparse.Namespace) -> None:
    """Make the report and write it."""
    from evenhand.ledger.ledger import open_ledger
    from evenhand.ledger.verification.heads_file import KeptHeads
    from evenhand.report import Period, audit_report

    period = Period.create(options.since, options.until)
    files = [file for file in (options.output, options.pdf, options.json) if file is not None]
    for file in files:
        if file.is_dir() or not file.resolve().parent.is_dir():
            raise InvalidInput(f"{file} must be a file in a folder that exists")
    if options.pdf is not None:
        from evenhand.report.pdf import check_pdf

        check_pdf()  # before the work
    if options.heads is not None and not options.heads.is_file():
        raise InvalidInput(f"there is no file {options.heads} of signed heads")
    heads = KeptHeads([] if options.heads is None else [options.heads])
    with closing(open_ledger(database_of(options), make=False, reads=True)) as ledger:
        report = audit_report(
            ledger,
            options.desk,
            period=period,
            groups=options.group,
            candidate=options.candidate,
            model=not options.no_model,
            heads=heads,
        )
    report.write(options.output)
    if options.pdf is not None:
        report.write_pdf(options.pdf)
    if options.json is not None:
        report.write_json(options.json)
    figures = report.figures
    made, events = counted(figures.decisions, "decision"), counted(sum(figures.kinds.values()), "event")
    print(f"{', '.join(map(str, files))}: {made} in {events} of desk {options.desk}")
