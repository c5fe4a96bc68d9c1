"""regret-grows-like-root-T: the regret to the best fair policy when neither rewards nor metric are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.case import Case, grid
from evenhand.lab.experiment import Experiment, Findings, Verdict
from evenhand.lab.standard_run import standard_run
from evenhand.lab.statistics import by_seed, estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "regret-grows-like-root-T"
POLICIES = ("evenhand", "paper", "known-metric")
D, K = 3, 4
NORM = 1.0
"""The bound on ||A'A||_F that every learner starts from."""
DELTA = 0.05
PROMISED = 0.5
FLOOR = 0.5
"""Where the log axes of the figure begin."""


def sweep(quick: bool) -> list[Case]:
    """One long run for every policy and seed, at an epsilon at which inaccurate distances cost 1 in all.

    By the tighter count, k (k-1)/2 epsilon a round; the paper's k³ would ask for more than the learners can do.
    """
    T = 2**9 if quick else 2**14
    epsilon = 1 / (theory.n_pairs(K) * T)
    seeds = range(3 if quick else 10)
    return grid(NAME, policy=POLICIES, d=[D], k=[K], rounds=[T], epsilon=[epsilon], seed=seeds)


def bound(t: int, epsilon: float, *, shared: bool) -> float:
    """The theorem's at round t; who learns one metric for all pairs has fewer bad rounds."""
    return theory.regret_full(K, D, t, epsilon, NORM, delta=DELTA, shared=shared, tight=True)


def analyse(table: pl.DataFrame) -> Findings:
    """The exponent of regret in the later half, and the bound."""
    verdicts: list[Verdict] = []
    rows = []
    for policy in growth.policies_in(table):
        runs = growth.of(table, policy)
        ends = growth.last_of_each(runs)
        T, epsilon = int(ends["rounds"][0]), float(ends["epsilon"][0])
        late = growth.later_half(by_seed(runs, "regret"))
        found = growth.exponent(late)
        promised = bound(T, epsilon, shared=policy != "paper")
        verdicts += [
            growth.no_steeper(f"growth of regret: {policy}", found, PROMISED, law="root T"),
            growth.below(f"regret in {T} rounds: {policy}", ends["regret"], promised),
        ]
        rows.append(
            {
                "policy": policy,
                "T": T,
                "regret": str(estimate(ends["regret"].to_numpy())),
                "exponent, later half": str(found),
                "exponent, last quarter": str(growth.exponent(growth.later_half(late))),
                "unfair pairs": str(estimate(ends["unfair_pairs"].to_numpy())),
                "bound on regret": promised,
            }
        )
    return Findings(tuple(verdicts), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> Figure:
    """Regret against the round on log axes, where root T is a line; the bound dotted, and a line of slope 1/2."""
    picture, (panel,) = figure.panels(1, width=8.0, height=5.6)
    figure.draw_policies(panel, table, "regret", floor=FLOOR)
    rounds = [t for t in table["round"].unique().sort().to_list() if t >= 4]
    epsilon = float(table["epsilon"][0])
    for shared, dash in ((True, {}), (False, {"linestyle": "-"})):
        label = "bound, one metric for all pairs" if shared else "bound, one metric a pair"
        promised = [bound(int(t), epsilon, shared=shared) for t in rounds]
        panel.plot(rounds, promised, label=label, **(figure.PROMISED | dash))
    panel.plot(rounds, [t**0.5 for t in rounds], label="root t, for comparison", color="#999999", linewidth=1.0)
    figure.powers_of_two(panel, "round t")
    figure.log_from(panel, FLOOR)
    panel.set_ylabel("regret so far, in expected reward")
    figure.legend_below(picture, panel, columns=3)
    panel.set_title(f"Regret to the best fair policy (d = {D}, k = {K}; mean and 95% band over seeds)")
    return picture


EXPERIMENT = Experiment(
    name=NAME,
    claim="With rewards and metric unknown, regret to the best fair policy grows like root T, up to logarithms.",
    sweep=sweep,
    run=standard_run,
    analyse=analyse,
    draw=draw,
)
