"""regret-grows-like-root-T: the regret to the best fair policy when neither rewards nor metric are known."""

from __future__ import annotations

import polars as pl

from evenhand import theory
from evenhand.lab import figure, growth
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.runs import standard_run
from evenhand.lab.statistics import by_seed, estimate
from evenhand.lab.store import Case, grid

NAME = "regret-grows-like-root-T"
CLAIM = "With rewards and metric unknown, regret to the best fair policy grows like root T, up to logarithms."
POLICIES = ("evenhand", "paper", "known-metric")
D, K = 3, 4
DELTA = 0.05
PROMISED = 0.5


def sweep(quick: bool) -> list[Case]:
    """One long run for every policy and seed, at an epsilon at which inaccurate distances cost 1 in all.

    By the tighter count, k (k-1)/2 epsilon a round; the paper's k³ would need more accuracy than the learners have.
    """
    T = 2**9 if quick else 2**14
    epsilon = 1 / (theory.n_pairs(K) * T)
    return grid(NAME, policy=POLICIES, d=D, k=K, rounds=T, epsilon=epsilon, seed=range(3 if quick else 10))


def bound(t: int, epsilon: float, *, shared: bool) -> float:
    """The theorem's bound at round t; one metric shared by all pairs has fewer bad rounds."""
    return theory.regret_full(K, D, t, epsilon, growth.NORM, delta=DELTA, shared=shared, tight=True)


def analyse(table: pl.DataFrame) -> Findings:
    """The exponent of regret in the later half, and the bound."""
    checks: list[Check] = []
    rows = []
    for policy, runs in growth.by_policy(table):
        ends = growth.last_of_each(runs)
        T, epsilon = int(ends["rounds"][0]), float(ends["epsilon"][0])
        late = growth.later_half(by_seed(runs, "regret"))
        found, promised = growth.exponent(late), bound(T, epsilon, shared=policy != "paper")
        checks += [
            growth.no_steeper(f"growth of regret: {policy}", found, PROMISED, reason="root T"),
            growth.below(f"regret in {T} rounds: {policy}", ends["regret"], promised),
        ]
        rows.append(
            {
                "policy": policy,
                "T": T,
                "regret": str(estimate(ends["regret"])),
                "exponent, later half": str(found),
                "exponent, last quarter": str(growth.exponent(growth.later_half(late))),
                "unfair pairs": str(estimate(ends["unfair_pairs"])),
                "bound on regret": promised,
            }
        )
    return Findings(tuple(checks), pl.DataFrame(rows))


def draw(table: pl.DataFrame, findings: Findings) -> figure.Figure:
    """Regret against the round on log axes, where root T is a line; the bound dotted, and a line of slope 1/2."""
    picture, (panel,) = figure.panels(1, width=8.0, height=5.6)
    figure.draw_lines(panel, table, "regret", floor=figure.FLOOR)
    rounds = [t for t in table["round"].unique().sort().to_list() if t >= 4]
    epsilon = float(table["epsilon"][0])
    for shared, dash in ((True, {}), (False, {"linestyle": "-"})):
        label = "bound, one metric for all pairs" if shared else "bound, one metric a pair"
        promised = [bound(int(t), epsilon, shared=shared) for t in rounds]
        panel.plot(rounds, promised, label=label, **(figure.PROMISED | dash))
    panel.plot(rounds, [t**0.5 for t in rounds], label="root t, for comparison", color="#999999", linewidth=1.0)
    figure.powers_of_two(panel, "round t")
    figure.log_from(panel)
    panel.set_ylabel("regret so far, in expected reward")
    title = f"Regret to the best fair policy (d = {D}, k = {K}; mean and 95% band over seeds)"
    return figure.finish(picture, [panel], title, columns=3)


EXPERIMENT = Experiment(NAME, CLAIM, sweep, standard_run, analyse, draw)
