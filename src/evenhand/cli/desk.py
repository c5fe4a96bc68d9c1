"""`evenhand desk forecast`, `mlflow`: figures of a desk; `live`, `shadow`, `differences`: beside a system in force."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from typing import TYPE_CHECKING

from evenhand._internal.counted import counted
from evenhand.cli._database_options import add_database, database_of
from evenhand.cli._options import at_least, command
from evenhand.cli.size import add_horizon

if TYPE_CHECKING:
    from evenhand.desk.desk import Desk
    from evenhand.ledger.ledger import Ledger

ACTOR = "command line"


def add_desk(parser: argparse.ArgumentParser) -> None:
    """The options of `evenhand desk ...`."""
    actions = parser.add_subparsers(dest="action", required=True)
    live = command(actions, "live", "make a desk in shadow mode decide, from its next decision on")
    shadow = command(actions, "shadow", "let a desk only say what it would decide, beside another system")
    for action, to in ((live, "live"), (shadow, "shadow")):
        action.add_argument("--reason", help="stays in the ledger for good: name nobody")
        action.set_defaults(run=run_switch, to=to)
    report = command(actions, "differences", "where a desk in shadow mode and the system in force differ")
    report.add_argument("--last", type=at_least(1, "last"), metavar="N", help="the newest N decisions (200)")
    report.add_argument("--json", action="store_true", help="all figures, as JSON")
    report.set_defaults(run=run_differences)
    forecast = command(actions, "forecast", "unfair pairs to expect from now on, under the review plan in force")
    add_horizon(forecast)
    forecast.set_defaults(run=run_forecast)
    mlflow = command(actions, "mlflow", "log a desk's figures to MLflow, each time as a new step of its run")
    mlflow.add_argument("--tracking-uri", metavar="URI", help="where MLflow keeps runs (its own default)")
    mlflow.add_argument("--experiment", default="evenhand desks", help="the experiment in MLflow (%(default)s)")
    mlflow.set_defaults(run=run_mlflow)
    for action in (live, shadow, report, forecast, mlflow):
        action.add_argument("desk", help="a desk's name")
        add_database(action)


def run_switch(options: argparse.Namespace) -> None:
    """Switch a desk and say from which event on."""
    from evenhand.ledger.ledger import open_ledger

    with closing(open_ledger(database_of(options), make=False)) as ledger, _opened(ledger, options.desk) as desk:
        event = desk.switch(options.to, options.reason, actor=ACTOR)
        number = desk.head.decisions
    mode = "live" if options.to == "live" else "in shadow mode"
    print(f"desk {options.desk} is {mode} since event {event.seq}, from decision {number} on")


def _opened(ledger: Ledger, name: str) -> Desk:
    """A desk that exists; without settings, nothing is opened anew."""
    from evenhand.desk.desk import Desk

    ledger.head(name)
    return Desk.open(ledger, name)


def run_differences(options: argparse.Namespace) -> None:
    """Print the report: sentences, then the decisions with the least agreement."""
    from evenhand.desk.differences import DIFFERENCES, differences
    from evenhand.desk.replay import projected
    from evenhand.ledger.ledger import open_ledger

    with closing(open_ledger(database_of(options), make=False, reads=True)) as ledger:
        projection, _ = projected(ledger, options.desk)
        report = differences(ledger, options.desk, projection, options.last or DIFFERENCES)
    if options.json:
        print(json.dumps({**report.to_dict(), "sentences": report.sentences}, indent=2))
        return
    print(report)
    for one in report.decisions:
        chosen, instead = (", ".join(names) or "nobody" for names in (one.chosen, one.would_choose))
        print(f"decision {one.number}  agreement {one.agreement:.0%}  chosen {chosen}  the desk would choose {instead}")


def run_forecast(options: argparse.Namespace) -> None:
    """Simulate the desk's next weeks, with its people and what it knows, and print what to expect."""
    from evenhand.cli.size import line, progress, weekly
    from evenhand.interview.sizing import Budget
    from evenhand.ledger.ledger import open_ledger
    from evenhand.review.forecast import forecast_of_desk

    with closing(open_ledger(database_of(options), make=False, reads=True)) as ledger:
        found = forecast_of_desk(
            ledger,
            options.desk,
            decisions=options.weeks * options.decisions_a_week,
            draws=options.worlds,
            budget=Budget(options.seconds, progress()),
            seed=options.seed,
        )
    plan = found.plan
    lines = [
        line("desk", f"{options.desk}, after {counted(found.decided, 'decision')}"),
        line("decisions", f"{plan.candidates} candidates; {options.decisions_a_week} a week"),
        line("reviews", f"{min(plan.pairs or 0, plan.all_pairs):,} of the {plan.all_pairs:,} pairs of a decision"),
        line("people", f"{found.people:,}, of the newest decisions or uploaded for the interview"),
        "",
        *weekly(options, found.forecast, found.epsilon),
    ]
    print("\n".join(lines))


def run_mlflow(options: argparse.Namespace) -> None:
    """Log the figures of a desk as of its last event, if there is a new one."""
    from evenhand.adapters.mlflow_log import log_desk_figures
    from evenhand.ledger.ledger import open_ledger

    with closing(open_ledger(database_of(options), make=False)) as ledger, _opened(ledger, options.desk) as desk:
        desk.catch_up(wait=True)
        run_id, step = log_desk_figures(desk, options.experiment, tracking_uri=options.tracking_uri)
    print(f"desk {options.desk}: run {run_id}, {'nothing new' if step is None else f'step {step}'}")
