"""The command line: `evenhand demo`, `schema`, `size`, `serve`, `token`, `ledger`, `report`, `lab` and others."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from evenhand.cli._options import at_least, command, output_file
from evenhand.cli._output import discard_stdout
from evenhand.cli.backup import add_backup, add_restore
from evenhand.cli.datasets import add_datasets
from evenhand.cli.desk import add_desk
from evenhand.cli.history import add_history
from evenhand.cli.ledger import add_ledger
from evenhand.cli.report import add_report
from evenhand.cli.schema import add_schema
from evenhand.cli.serve import add_serve
from evenhand.cli.size import add_size
from evenhand.cli.tokens import add_token
from evenhand.cli.witness import add_witness
from evenhand.errors import CannotListen, CannotWrite, DamagedLedger, EvenhandError, LedgerUnavailable, NewerFile
from evenhand.version import __version__

EXTRAS = {
    "serve": "service",
    "token": "service",
    "witness": "service",
    "ledger": "desk",
    "desk": "desk",
    "report": "desk",
    "history": "history",
    "backup": "desk",
    "restore": "desk",
}
"""The extra that a command needs, if it is not lab."""

NOT_USAGE = (CannotListen, CannotWrite, DamagedLedger, LedgerUnavailable, NewerFile)
"""Errors that another way of calling the command would not avoid."""


def command_line() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = argparse.ArgumentParser(
        prog="evenhand", description="Even-handed decisions when you only know unfairness when you see it."
    )
    parser.set_defaults(parser=parser)
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_demo(command(commands, "demo", "a simulated lending desk: a table and a picture"))
    add_schema(command(commands, "schema", "the features of people: propose from a table, show, check"))
    add_size(command(commands, "size", "unfair pairs, answers and times to expect of a desk, before it runs"))
    _add_interview(command(commands, "interview", "questions to a reviewer before a desk goes live"))
    add_history(command(commands, "history", "past decisions: read, evaluate policies on them, start warm"))
    add_serve(command(commands, "serve", "decisions and reviews over HTTP, with pages; --demo to try it"))
    add_token(command(commands, "token", "access tokens of the service: create, rotate, revoke, list"))
    add_ledger(command(commands, "ledger", "the ledgers of desks: list, verify, export, import, sign, prove and more"))
    add_desk(command(commands, "desk", "make a desk live, put it into shadow mode, or show the differences"))
    add_report(command(commands, "report", "the audit report of a desk for a period, as HTML and PDF"))
    add_witness(command(commands, "witness", "keep signed heads elsewhere, and report contradictions"))
    add_backup(command(commands, "backup", "a verified copy of an SQLite ledger, made while it is in use"))
    add_restore(command(commands, "restore", "a backup as the ledger again; erased people are erased again"))
    add_datasets(
        command(commands, "datasets", "tables of real people: their names, or one of them, written as CSV and schema")
    )
    _add_lab(command(commands, "lab", "experiments: list, run, report"))
    _add_warm_up(command(commands, "warm-up", "compile all numerical kernels now, for images"))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 something is wrong or unavailable, 2 wrong usage."""
    parser = command_line()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:  # argparse itself would print the usage of `evenhand`, not of the command
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if options.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        status: int | None = options.run(options)
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(options.command, "lab")
        needed = f"this command needs pip install 'evenhand[{extra}]'"
        parser.exit(2, f"{options.parser.prog}: error: {error.name} is missing: {needed}\n")
    except EvenhandError as error:
        if isinstance(error, NOT_USAGE):
            parser.exit(1, f"{error}\n")
        parser.exit(2, f"{options.parser.prog}: error: {error}\n")
    except BrokenPipeError:  # the reader has ended
        discard_stdout()
        return 0
    except KeyboardInterrupt:
        parser.exit(130, "\nstopped\n")
    return status or 0


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rounds", type=at_least(1, "rounds"), default=1500, help="number of rounds (%(default)s)", metavar="N"
    )
    parser.add_argument(
        "--seed", type=at_least(0, "seed"), default=0, metavar="N", help="seed of the simulated world (%(default)s)"
    )
    parser.add_argument(
        "--picture",
        type=output_file,
        default=Path("demo.png"),
        metavar="FILE",
        help="file of the picture (%(default)s)",
    )
    parser.set_defaults(run=_demo)


def _add_interview(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schema", type=Path, required=True, help="the features of a candidate, a JSON file")
    parser.add_argument(
        "--candidates", type=Path, required=True, help="people like those to come: CSV, Parquet or Arrow"
    )
    parser.add_argument(
        "--desk", type=output_file, required=True, metavar="FILE.eh", help="where the interview is saved and continued"
    )
    parser.add_argument("--epsilon", type=float, help="unfairness up to this is tolerated (0.05)")
    parser.add_argument("--capacity", type=at_least(1, "capacity"), help="maximum number of chosen candidates (1)")
    parser.add_argument(
        "--structure",
        choices=("full", "diagonal", "auto"),
        help="diagonal: features count separately; full: all may interact; auto: few of them do (auto)",
    )
    parser.add_argument(
        "--metric",
        choices=("auto", "BayesPoint", "VersionSpace"),
        help="the metric learner; VersionSpace with --reviewer-error bounds all flags to come (auto)",
    )
    parser.add_argument(
        "--reviewer-error", type=float, metavar="RATE", help="the share of wrong answers, 0 for none (learned)"
    )
    parser.add_argument(
        "--max-unfair-rounds",
        type=at_least(0, "max-unfair-rounds"),
        metavar="N",
        help="after N flagged rounds use only proved distances; 0: from the first round (no cap)",
    )
    parser.add_argument(
        "--target-unfair-share", type=float, metavar="SHARE", help="target share of flagged rounds (no target)"
    )
    parser.add_argument(
        "--target",
        choices=("flagged", "estimated"),
        help="estimated: a flag counts by its chance to be right (flagged)",
    )
    parser.add_argument(
        "--differ-in",
        type=at_least(0, "differ-in"),
        metavar="N",
        help="ask about people who differ in at most N features, one of them made up; 0 for two real people (3 if the "
        "schema has more than 8 features, else 0)",
    )
    parser.add_argument(
        "--round-size",
        type=at_least(2, "round-size"),
        metavar="K",
        help="candidates in a decision, for what is expected live (5)",
    )
    parser.add_argument(
        "--reviews", type=at_least(0, "reviews"), metavar="R", help="pairs of a decision reviewed, for the same (all)"
    )
    parser.add_argument(
        "--max-questions", type=at_least(0, "max-questions"), metavar="N", help="maximum number of questions"
    )
    parser.add_argument("--reviewer", metavar="NAME", help="who answers")
    parser.add_argument(
        "--seed", type=at_least(0, "seed"), help="with the same seed, the same answers get the same questions"
    )
    parser.set_defaults(run=_interview)


def _add_lab(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    listing = command(actions, "list", "all experiments and what they test")
    listing.set_defaults(run=_list)
    run = command(actions, "run", "run experiments; finished cases are not run again")
    run.add_argument("names", nargs="+", metavar="NAME", help="experiments, or all")
    size = run.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="fewer rounds and settings, as a trial")
    size.add_argument("--full", action="store_true", help="on data: every learner and scale, checked or not")
    run.add_argument("--jobs", type=at_least(1, "jobs"), default=None, help="processes (one for each core)")
    run.add_argument("--cluster", metavar="ADDRESS", help="address of a Dask scheduler")
    run.add_argument("--results", type=Path, default=Path("results"), help="folder of the results (%(default)s)")
    run.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the data, for experiments that need some: people"
    )
    run.add_argument(
        "--scale",
        choices=("linear", "log", "quantile", "auto"),
        default="log",
        help="scale of the numbers in the data (%(default)s)",
    )
    run.set_defaults(run=_run)
    report = command(actions, "report", "write one HTML page of results")
    report.add_argument("folders", nargs="+", type=Path, metavar="RESULTS", help="folders written by `lab run`")
    report.add_argument("--output", type=output_file, default=Path("report.html"), help="the page (%(default)s)")
    report.set_defaults(run=_report)
    mlflow = command(actions, "mlflow", "log results to MLflow, an experiment a run")
    mlflow.add_argument("folders", nargs="+", type=Path, metavar="RESULTS", help="folders written by `lab run`")
    mlflow.add_argument("--tracking-uri", metavar="URI", help="where MLflow keeps runs (its own default)")
    mlflow.add_argument("--experiment", default="evenhand lab", help="the experiment in MLflow (%(default)s)")
    mlflow.set_defaults(run=_mlflow)


def _add_warm_up(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compile the kernels of all metric learners and keep them beside the package; run it where an image is built. "
        "If the package cannot be written to, they go to NUMBA_CACHE_DIR or the user's cache directory."
    )
    parser.set_defaults(run=_warm_up)


# Each command imports what it needs itself: plotting and tables are slow to import.


def _warm_up(options: argparse.Namespace) -> None:
    from evenhand.bandit.warm_up import warm_up_all

    warm_up_all()


def _demo(options: argparse.Namespace) -> None:
    from evenhand.lab.demo import show_demo

    show_demo(rounds=options.rounds, seed=options.seed, picture=options.picture)


def _interview(options: argparse.Namespace) -> None:
    from evenhand.cli.interview_terminal import InterviewOptions, interview_in_terminal

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that cannot show a name shows question marks
    names = (field.name for field in fields(InterviewOptions))
    interview_in_terminal(InterviewOptions(**{name: getattr(options, name) for name in names}), sys.stdin, sys.stdout)


def _list(options: argparse.Namespace) -> None:
    from evenhand.lab.runner import list_experiments

    list_experiments()


def _run(options: argparse.Namespace) -> None:
    from evenhand.lab.experiment import Data
    from evenhand.lab.runner import run_experiments
    from evenhand.lab.sweep import default_jobs

    jobs = options.jobs or default_jobs()
    data = None if options.data is None else Data(options.data.resolve(), options.scale, options.full)
    run_experiments(options.names, options.results, quick=options.quick, jobs=jobs, cluster=options.cluster, data=data)


def _report(options: argparse.Namespace) -> None:
    from evenhand.lab.runner import report

    report(options.folders, options.output)


def _mlflow(options: argparse.Namespace) -> None:
    from evenhand.adapters.mlflow_log import log_results

    for name, run_id in log_results(options.folders, options.experiment, tracking_uri=options.tracking_uri):
        print(f"{name}: run {run_id}")
