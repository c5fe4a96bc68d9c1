"""The experiments that put the paper's theorems to the test: known laws are recovered, broken ones are flagged."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from evenhand.baselines import Facts
from evenhand.lab import growth
from evenhand.lab.account import checkpoints
from evenhand.lab.experiment import Check, Experiment, Findings
from evenhand.lab.experiments import EXPERIMENTS, fairness_loss, known_reward, many_actions, regret, scaling
from evenhand.lab.policies import make_policy
from evenhand.lab.store import Case

OURS = (fairness_loss, regret, known_reward, many_actions, scaling)
EACH = [pytest.param(module.EXPERIMENT, id=module.NAME) for module in OURS]

Law = Callable[[Case, float], float]
"""A total, of a case, after so many rounds."""


def table_of(experiment: Experiment, *, quick: bool, regret: Law, pairs: Law, noise: float = 0.05) -> pl.DataFrame:
    """What the sweep would have measured under these laws: each seed a little off, by the same factor throughout."""
    tables = []
    for case in experiment.sweep(quick):
        settings = dict(case.settings)
        rounds = [float(t) for t in checkpoints(settings["rounds"])]
        luck = 1 + noise * np.random.default_rng(settings["seed"]).normal()
        unfair = [luck * pairs(case, t) for t in rounds]
        columns = {
            "round": rounds,
            "regret": [luck * regret(case, t) for t in rounds],
            "unfair_pairs": unfair,
            "unfair_rounds": unfair,
            "last_unfair_round": rounds,
        }
        tables.append(pl.DataFrame(columns).with_columns(**{name: pl.lit(value) for name, value in settings.items()}))
    return pl.concat(tables, how="diagonal_relaxed")


def doublings(first: int, last: int) -> NDArray[np.float64]:
    """2^first, ..., 2^last."""
    return np.array([2.0**n for n in range(first, last + 1)])


def root(case: Case, t: float) -> float:
    """2 root t."""
    return 2 * math.sqrt(t)


def linear(case: Case, t: float) -> float:
    """t / 8."""
    return t / 8


def logarithm(case: Case, t: float) -> float:
    """3 log2 t, starting late."""
    return max(3 * math.log2(t) - 6, 0.0)


def nothing(case: Case, t: float) -> float:
    """Nothing at all."""
    return 0.0


def verdicts(findings: Findings, start: str) -> list[Check]:
    """The verdicts on claims that start so, of which there must be some."""
    found = [verdict for verdict in findings.checks if verdict.claim.startswith(start)]
    assert found
    return found


@pytest.mark.parametrize("experiment", EACH)
@pytest.mark.parametrize(("quick", "seeds"), [(True, 3), (False, 10)])
def test_every_policy_meets_the_same_seeds_and_enough_of_them(experiment: Experiment, quick: bool, seeds: int) -> None:
    """In every setting all policies are run with the same seeds, at least 3 in a quick sweep and 10 in a full one."""
    met: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    cases = experiment.sweep(quick)
    for case in cases:
        setting = {name: value for name, value in case.settings.items() if name not in ("policy", "seed")}
        met[repr(sorted(setting.items()))][case.settings["policy"]].append(case.settings["seed"])
    for policies in met.values():
        same = {tuple(sorted(names)) for names in policies.values()}
        assert len(same) == 1
        assert len(set(next(iter(same)))) == len(next(iter(same))) >= seeds
    assert len({frozenset(policies) for policies in met.values()}) == 1
    assert len({case.key for case in cases}) == len(cases)
    assert {case.experiment for case in cases} == {experiment.name}


@pytest.mark.parametrize("experiment", EACH)
def test_every_policy_of_a_full_sweep_can_be_made(experiment: Experiment) -> None:
    """No case of a sweep that takes an hour fails on its settings: each epsilon, say, is one that learners accept."""
    kinds = {
        (of["policy"], of["d"], of["rounds"], of["epsilon"], of.get("capacity", 1))
        for of in (case.settings for case in experiment.sweep(False))
    }
    for policy, d, rounds, epsilon, capacity in kinds:
        facts = Facts(theta=np.eye(d)[0], A=np.eye(d) / d, rounds=rounds, epsilon=epsilon, capacity=capacity)
        make_policy(policy, facts, 0)


def test_the_experiments_are_registered_under_their_names_in_the_order_of_the_paper() -> None:
    """The theorems come first, each experiment under the name it gives itself."""
    assert list(EXPERIMENTS)[: len(OURS)] == [module.NAME for module in OURS]
    for module in OURS:
        assert EXPERIMENTS[module.NAME] is module.EXPERIMENT


def test_an_exponent_is_recovered_with_its_interval() -> None:
    """Powers with noise over seeds: the interval holds the true exponent and is as narrow as the noise allows."""
    x, rng = doublings(4, 14), np.random.default_rng(0)
    for true in (0.5, 1.0, 2.0):
        runs = 3 * x ** (true + rng.normal(scale=0.02, size=(10, 1)))
        found = growth.exponent((x, runs))
        assert found.lower <= true <= found.upper
        assert found.upper - found.lower < 0.06


def test_totals_of_nothing_have_exponent_nothing() -> None:
    """Zero and negative totals are no crash, and no growth; what is not a number is left out."""
    x = doublings(4, 8)
    assert growth.exponent((x, np.zeros((3, 5)))) == (0, 0, 0)
    assert growth.exponent((x, np.full((3, 5), -2.0))) == (0, 0, 0)
    holes = np.array([x**0.5] * 3)
    holes[0, 2] = np.nan
    assert growth.exponent((x, holes)).value == pytest.approx(0.5)
    assert np.isnan(growth.exponent((x, np.full((3, 5), np.nan))).value)
    assert not growth.no_faster_than_log("nothing known", (x, np.full((3, 5), np.nan))).holds


def share_flagged(means: NDArray[np.float64], *, draws: int = 200) -> float:
    """How often counts with these means at T = 2^8 .. 2^16, ten seeds, are found to grow faster than log T."""
    T, rng = doublings(8, 16), np.random.default_rng(0)
    tables = (rng.poisson(means, size=(10, len(T))).astype(np.float64) for _ in range(draws))
    return sum(not growth.no_faster_than_log("y", (T, runs)).holds for runs in tables) / draws


@pytest.mark.statistical
@pytest.mark.parametrize("power", [0.4, 0.5, 1.0])
def test_a_power_is_not_taken_for_a_logarithm(power: float) -> None:
    """With the noise of counts, powers from 0.4 up are found out nearly always: in 95 of 100 draws at least."""
    assert share_flagged(10 * (doublings(8, 16) / 256) ** power) >= 0.95


@pytest.mark.statistical
@pytest.mark.parametrize(("rate", "start"), [(0.0, -10.0), (3.0, 0.0), (3.0, 12.0), (1.5, 8.0)])
def test_a_logarithm_is_seldom_taken_for_a_power(rate: float, start: float) -> None:
    """a log T - b is flagged one time in forty, wherever it starts; 6 in 100 is three deviations more than that."""
    assert share_flagged(rate * np.log2(doublings(8, 16)) - start) <= 0.06


def test_what_a_doubling_adds_is_recovered() -> None:
    """3 log2 T - 6, the seeds a tenth apart: the interval holds 3 and is narrow."""
    T, rng = doublings(8, 16), np.random.default_rng(0)
    found = growth.per_doubling((T, rng.normal(1.0, 0.1, size=(10, 1)) * (3 * np.log2(T) - 6)))
    assert found.lower <= 3 <= found.upper
    assert found.upper - found.lower < 1


@pytest.mark.parametrize("experiment", EACH)
@pytest.mark.parametrize("quick", [True, False])
def test_what_the_theorems_promise_holds(experiment: Experiment, quick: bool) -> None:
    """Regret like root t, or none where rewards are known, and unfair pairs that stop: every verdict is good."""
    known = experiment.name == known_reward.NAME
    table = table_of(experiment, quick=quick, regret=nothing if known else root, pairs=lambda case, t: min(t, 8.0))
    assert [verdict for verdict in experiment.analyse(table).checks if not verdict.holds] == []


@pytest.mark.parametrize("module", [regret, many_actions])
def test_regret_that_grows_with_T_is_flagged(module: object) -> None:
    """An exponent of 1 is measured and found above 1/2, for every policy; a root is measured as 1/2."""
    experiment: Experiment = module.EXPERIMENT  # type: ignore[attr-defined]
    for law, power, holds in ((linear, 1.0, False), (root, 0.5, True)):
        table = table_of(experiment, quick=False, regret=law, pairs=nothing)
        for verdict in verdicts(experiment.analyse(table), "growth of regret"):
            assert verdict.holds is holds
            assert float(verdict.measured.split()[1]) == pytest.approx(power, abs=0.05)


@pytest.mark.parametrize("module", [fairness_loss, many_actions])
def test_unfairness_that_does_not_stop_is_flagged(module: object) -> None:
    """At a fixed epsilon unfair pairs must end: root t is flagged, log t too, and what ends half way is not."""
    experiment: Experiment = module.EXPERIMENT  # type: ignore[attr-defined]

    def ending(case: Case, t: float) -> float:
        return float(min(t, case.settings["rounds"] / 2) / 100)

    for law, holds in ((root, False), (logarithm, False), (ending, True)):
        table = table_of(experiment, quick=False, regret=nothing, pairs=law)
        found = verdicts(experiment.analyse(table), "unfair pairs late")
        assert [verdict.holds for verdict in found] == [holds] * table["policy"].n_unique()


def test_unfairness_beyond_log_T_is_flagged_where_epsilon_shrinks() -> None:
    """With epsilon = 1/T unfair pairs may grow like log T; like root T they may not."""
    for law, holds in ((root, False), (logarithm, True)):
        table = table_of(fairness_loss.EXPERIMENT, quick=False, regret=nothing, pairs=law)
        found = verdicts(fairness_loss.EXPERIMENT.analyse(table), "growth of unfair pairs")
        assert [verdict.holds for verdict in found] == [holds] * len(fairness_loss.POLICIES)


def test_regret_beyond_log_T_is_flagged_where_rewards_are_known() -> None:
    """With rewards known even root T is too much; log T is not."""
    for law, holds in ((root, False), (logarithm, True)):
        table = table_of(known_reward.EXPERIMENT, quick=False, regret=law, pairs=nothing)
        found = verdicts(known_reward.EXPERIMENT.analyse(table), "growth of regret")
        assert [verdict.holds for verdict in found] == [holds] * len(known_reward.POLICIES)


def test_one_run_above_the_bound_is_flagged() -> None:
    """A theorem that holds for sure is broken by a single run above its number."""
    table = table_of(fairness_loss.EXPERIMENT, quick=True, regret=nothing, pairs=nothing)
    one = (pl.col("seed") == 1) & (pl.col("policy") == "paper")
    broken = table.with_columns(unfair_pairs=pl.when(one).then(1e6).otherwise(pl.col("unfair_pairs")))
    found = verdicts(fairness_loss.EXPERIMENT.analyse(broken), "unfair pairs in")
    assert [v.holds for v in found] == ["paper" not in v.claim for v in found]


def shaped(d: float, k: float) -> Law:
    """Unfair pairs like d and k to these powers, times log(1/epsilon)."""

    def law(case: Case, t: float) -> float:
        of = case.settings
        return float(of["d"] ** d * of["k"] ** k * math.log(1 / of["epsilon"]) / 10)

    return law


def exponents(findings: Findings, factor: str) -> list[float]:
    """The fitted exponents of unfair pairs in one factor, a number a policy."""
    rows = findings.table.filter(pl.col("factor") == factor)
    return [float(cell.split()[0]) for cell in rows["unfair pairs, exponent"]]


def test_exponents_in_features_and_candidates_are_recovered_one_at_a_time() -> None:
    """d^1.5 k^2 log(1/epsilon) is measured as that: the other factors do not leak into the fit."""
    table = table_of(scaling.EXPERIMENT, quick=False, regret=nothing, pairs=shaped(d=1.5, k=2.0))
    findings = scaling.EXPERIMENT.analyse(table)
    assert exponents(findings, "d") == pytest.approx([1.5] * 3, abs=0.02)
    assert exponents(findings, "k") == pytest.approx([2.0] * 3, abs=0.02)
    for verdict in verdicts(findings, "unfair pairs against"):
        assert verdict.holds


def test_steeper_growth_than_promised_is_flagged_in_each_factor() -> None:
    """d^3, k^3 and 1/epsilon are more than d², k² and log(1/epsilon)."""

    def steep(case: Case, t: float) -> float:
        of = case.settings
        return float((of["d"] * of["k"]) ** 3 / of["epsilon"] / 1000)

    table = table_of(scaling.EXPERIMENT, quick=False, regret=nothing, pairs=steep)
    found = verdicts(scaling.EXPERIMENT.analyse(table), "unfair pairs against")
    assert len(found) == 3 * len(scaling.POLICIES)
    assert not any(verdict.holds for verdict in found)


@pytest.mark.parametrize("experiment", EACH)
@pytest.mark.parametrize("pairs", [nothing, logarithm])
def test_figures_are_drawn_with_labels_and_show_everything(experiment: Experiment, pairs: Law) -> None:
    """Every panel has labelled axes, every policy a line, the bound is within view, even when nothing was unfair."""
    table = table_of(experiment, quick=True, regret=root, pairs=pairs)
    picture = experiment.draw(table, experiment.analyse(table))
    picture.canvas.draw()
    (legend,) = picture.legends
    names = {text.get_text() for text in legend.get_texts()}
    assert set(table["policy"].unique()) <= names
    assert any("bound" in name for name in names)
    for panel in picture.axes:
        assert panel.get_xlabel()
        (bound, *_) = [line for line in panel.get_lines() if "bound" in str(line.get_label())]
        low, high = panel.get_ylim()
        drawn = np.asarray(bound.get_ydata(), dtype=float)
        assert low < drawn.min() <= drawn.max() < high
    assert picture.axes[0].get_ylabel()


@pytest.mark.parametrize("experiment", EACH)
def test_a_real_run_has_the_columns_that_the_analysis_reads(experiment: Experiment) -> None:
    """The shortest case of each policy, played for real and copied for every seed, can be analysed and drawn."""
    shortest: dict[str, pl.DataFrame] = {}
    cases = sorted(experiment.sweep(True), key=lambda case: int(case.settings["rounds"]))
    for case in cases:
        if case.settings["policy"] not in shortest:
            played = experiment.run(**(dict(case.settings) | {"rounds": 16}))
            shortest[case.settings["policy"]] = pl.DataFrame(dict(played))
    tables = [
        shortest[case.settings["policy"]].with_columns(
            **{name: pl.lit(value) for name, value in (dict(case.settings) | {"rounds": 16}).items()}
        )
        for case in cases
    ]
    table = pl.concat(tables, how="diagonal_relaxed")
    findings = experiment.analyse(table)
    assert findings.checks
    assert findings.table.height >= len(shortest)
    experiment.draw(table, findings).canvas.draw()
