"""The demonstration: a lending desk, five ways to run it, a table and a figure."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from evenhand import paper
from evenhand.auditors import MahalanobisAuditor
from evenhand.bandit import FairBandit
from evenhand.baselines import EqualProbabilities, Policy, fair_optimum, ignore_fairness
from evenhand.environments import LendingWorld
from evenhand.lab import figure
from evenhand.lab.account import Account
from evenhand.lab.play import play
from evenhand.schema import FeatureEffect, Number
from evenhand.schema.words import label

EPSILON = 0.01

STORY = (
    "[bold]A lending desk.[/] Every day five people apply and one loan can be given; the desk draws the winner, with "
    "probabilities that it chooses. It learns what a loan earns only from loans that were given. A reviewer looks at "
    'each day\'s probabilities and flags pairs: "these two are alike, and you treated them too differently". The '
    "reviewer has no formula: income, employment and debt make people different, the neighbourhood does not, although "
    "it predicts what a loan earns. The desk does not know this.\n"
)

LEGEND = (
    "[dim]regret: reward lost against the best fair policy; unfair policies can be below zero. unfair pairs: two "
    f"applicants whose probabilities differ by over {EPSILON} more than the reviewer's distance permits.[/]\n"
)


def contenders(world: LendingWorld, seed: int) -> dict[str, Policy]:
    """The five policies, evenhand first."""
    d = len(world.theta)
    streams = [np.random.default_rng([seed, number]) for number in range(5)]  # none of them the world's
    return {
        "evenhand": FairBandit(d, epsilon=EPSILON, seed=streams[0]),
        "the 2018 paper": paper.full(d, epsilon=EPSILON, seed=streams[1]),
        "ignores fairness": ignore_fairness(d, seed=streams[2]),
        "equal probabilities": EqualProbabilities(seed=streams[3]),
        "knows everything": fair_optimum(world.theta, world.A, seed=streams[4]),
    }


def show_demo(*, rounds: int, seed: int, picture: Path) -> dict[str, Account]:
    """Play all contenders in the same world, print the table, draw the figure; returns each one's account."""
    console = Console()
    world = LendingWorld()
    auditor = MahalanobisAuditor(world.A)
    field = contenders(world, seed)
    console.print(STORY)
    accounts: dict[str, Account] = {}
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=rounds * len(field))
        for name, policy in field.items():
            progress.update(bar, description=name)
            accounts[name] = play(
                policy, world, auditor, rounds=rounds, epsilon=EPSILON, seed=seed, each=lambda: progress.advance(bar)
            )
        progress.update(bar, description="done")
    console.print(_results(accounts), LEGEND)
    if isinstance(evenhand := field["evenhand"], FairBandit):
        console.print(_learned(evenhand, world))
    draw_figure(accounts, picture)
    console.print(f"\nFigure: [bold]{picture}[/]. Algorithm: [bold]src/evenhand/bandit/fair_bandit.py[/].")
    console.print(f"To be the reviewer yourself, in a browser: [bold]{_command()} serve --demo[/].")
    return accounts


def draw_figure(accounts: dict[str, Account], path: Path) -> None:
    """Unfair pairs so far and regret so far, one line for each way to run the desk, as a PNG."""
    picture, (violations, regret) = figure.panels(2, width=5.5, height=4.8)
    for (name, account), style in zip(accounts.items(), figure.styles(), strict=False):
        days = np.arange(1, account.rounds + 1)
        violations.plot(days, np.cumsum(account.unfair_pairs), label=name, **style)
        regret.plot(days, np.cumsum(account.regret), label=name, **style)
    violations.set(title="Unfair pairs so far", xlabel="day", ylabel="pairs (logarithmic above 1)")
    violations.set_yscale("symlog", linthresh=1)
    violations.set_ylim(bottom=0)
    regret.set(title="Regret so far against the best fair policy", xlabel="day", ylabel="regret (units of reward)")
    regret.axhline(0, color="black", linewidth=0.6)
    figure.finish(picture, [regret], "A lending desk, five ways to run it", columns=len(accounts)).savefig(
        path, dpi=130
    )


def _results(accounts: dict[str, Account]) -> Table:
    """Every way to run the desk and what it cost."""
    rounds = max(account.rounds for account in accounts.values())
    table = Table(title=f"{rounds:,} days at the desk", title_style="bold")
    table.add_column("the desk is run by")
    for heading in ("reward a day", "regret", "unfair pairs", "last unfair day"):
        table.add_column(heading, justify="right")
    for name, account in accounts.items():
        table.add_row(
            name,
            f"{np.mean(account.reward):.3f}",
            f"{np.sum(account.regret) + 0.0:.1f}".replace("-0.0", "0.0"),
            f"{np.sum(account.unfair_pairs):,}",
            str(account.last_unfair_round or "none"),
        )
    return table


def _learned(bandit: FairBandit, world: LendingWorld) -> Table:
    """What evenhand learned from the flags, beside the reviewer's metric."""
    learned = world.schema.explain(bandit.metric.get_mahalanobis_matrix(), ends=bandit.metric.ends_of)
    truth = world.schema.explain(world.A.T @ world.A)
    table = Table(title="How much probabilities may differ: what evenhand learned from flags alone", title_style="bold")
    for heading in ("applicants who differ only in", "learned (interval)", "the reviewer's metric"):
        table.add_column(heading, justify="left" if heading.startswith("applicants") else "right")
    for effect in learned.effects:
        distance = effect.distance
        table.add_row(
            f"{label(effect.name)}: {_extremes(effect)}",
            f"{distance.value:.3f} ({distance.lower:.3f} to {distance.upper:.3f})",
            f"{truth[effect.name].distance.value:.3f}",
        )
    return table


def _extremes(effect: FeatureEffect) -> str:
    feature = effect.feature
    return f"{feature.low:,.0f} or {feature.high:,.0f} {feature.unit}" if isinstance(feature, Number) else "yes or no"


def _command() -> str:
    """How this program was called, so that the printed command can be copied."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "evenhand" else "evenhand"
