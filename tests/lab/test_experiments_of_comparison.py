"""adversaries, price-of-fairness, compare and metric-recovery: they find what is there and say what is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evenhand.environments import names, random_metric
from evenhand.errors import InvalidInput
from evenhand.lab.experiment import Experiment
from evenhand.lab.experiments import EXPERIMENTS, adversaries, compare, metric_recovery, price_of_fairness
from evenhand.lab.runs import measure, recovery_run, standard_run
from evenhand.lab.statistics import ends_of_runs
from evenhand.lab.store import Case
from evenhand.metrics import KnownMetric
from tests.support.tiny_results import check_analysis, tiny_results

MINE = (adversaries.EXPERIMENT, price_of_fairness.EXPERIMENT, compare.EXPERIMENT, metric_recovery.EXPERIMENT)

COLUMNS = ("regret", "reward", "unfair_pairs", "flagged_pairs", "unfair_rounds", "last_unfair_round")


def curve(settings: dict[str, Any], **ends: float) -> pl.DataFrame:
    """A made-up run of 100 rounds with checkpoints at half and at the end, whose totals grow evenly to `ends`."""
    case = Case("made-up", settings)
    totals = {name: [ends.get(name, 0.0) / 2, ends.get(name, 0.0)] for name in COLUMNS}
    if "late_unfair_pairs" in ends:
        totals["unfair_pairs"] = [ends["unfair_pairs"] - ends["late_unfair_pairs"], ends["unfair_pairs"]]
    table = pl.DataFrame({"round": [50.0, 100.0], "conflicts": [0.0, 0.0]} | totals)
    return table.with_columns(**{name: pl.lit(value) for name, value in settings.items()}, case=pl.lit(case.key))


def holds(experiment: Experiment, table: pl.DataFrame) -> dict[str, bool]:
    """Each verdict's claim and whether it holds."""
    return {verdict.claim: verdict.holds for verdict in experiment.analyse(table).checks}


def only(verdicts: dict[str, bool], *words: str) -> bool:
    """The one verdict whose claim has all these words."""
    (found,) = (value for claim, value in verdicts.items() if all(word in claim for word in words))
    return found


@pytest.mark.parametrize("experiment", MINE, ids=lambda experiment: experiment.name)
@pytest.mark.parametrize("quick", [True, False])
def test_competitors_meet_the_same_seeds(experiment: Experiment, quick: bool) -> None:
    """Everybody has the same seeds in the same circumstances: 3 or more in a quick sweep, 10 in a full one."""
    seeds: dict[tuple[Any, ...], set[int]] = {}
    met: dict[str, set[Any]] = {}
    for case in experiment.sweep(quick):
        settings = dict(case.settings)
        policy, seed = settings.pop("policy"), settings.pop("seed")
        rest = tuple(sorted(settings.items()))
        seeds.setdefault((policy, rest), set()).add(seed)
        met.setdefault(policy, set()).add(rest)
    assert len({frozenset(found) for found in seeds.values()}) == 1
    assert min(len(found) for found in seeds.values()) >= (3 if quick else 10)
    assert len({frozenset(found) for found in met.values()}) == 1
    assert len(met) >= 4


def test_all_are_registered_under_their_names() -> None:
    """`evenhand lab run NAME` finds each of them, in the order in which they are listed."""
    order = [name for name in EXPERIMENTS if EXPERIMENTS[name] in MINE]
    assert order == ["adversaries", "price-of-fairness", "compare", "metric-recovery"]
    assert all(EXPERIMENTS[experiment.name] is experiment for experiment in MINE)


def test_the_full_sweeps_leave_nobody_out() -> None:
    """compare has every baseline in every world; adversaries every adversary, the hidden direction shown in time."""
    cases = compare.EXPERIMENT.sweep(False)
    assert {case.settings["world"] for case in cases} == set(names())
    assert {case.settings["policy"] for case in cases} == set(compare.POLICIES)
    hidden = [case.settings for case in adversaries.EXPERIMENT.sweep(False) if "reveal_at" in case.settings]
    assert {settings["world"] for settings in hidden} == {"direction-hider"}
    assert all(settings["reveal_at"] <= settings["rounds"] / 4 for settings in hidden)


def test_what_came_late_is_counted_from_half_of_the_rounds() -> None:
    """Late is what follows the last checkpoint of the first half, case by case, whatever the order of rows."""
    first = pl.DataFrame({"case": "a", "round": [1.0, 3.0, 4.0, 7.0], "regret": [1.0, 2.0, 5.0, 9.0]})
    second = pl.DataFrame({"case": "b", "round": [1.0], "regret": [4.0]})
    ends = ends_of_runs(pl.concat([first.reverse(), second]), ["regret"]).sort("case")
    assert ends["regret"].to_list() == [9.0, 4.0]
    assert ends["late_rounds"].to_list() == [4.0, 1.0]
    assert ends["late_regret"].to_list() == [7.0, 4.0]


def test_adversaries_reports_a_late_violation() -> None:
    """One unfair round in the last quarter of one run is enough; the others' verdicts stay as they are."""
    good = {"regret": 3.0, "unfair_pairs": 4.0, "last_unfair_round": 60.0}
    bad = good | {"last_unfair_round": 76.0, "regret": 30.0}
    runs = [
        curve(
            {"policy": policy, "world": world, "seed": seed},
            **(bad if (policy, world, seed) == ("ellipsoid", "camps", 1) else good),
        )
        for policy in (*adversaries.LEARNERS, adversaries.REFERENCE)
        for world in adversaries.WORLDS
        for seed in range(3)
    ]
    verdicts = holds(adversaries.EXPERIMENT, pl.concat(runs))
    assert not only(verdicts, "ellipsoid", "last quarter")
    assert not only(verdicts, "ellipsoid", "regret")  # 30 once and 3 twice, against 3: four times the reference
    assert all(value for claim, value in verdicts.items() if "ellipsoid" not in claim)


def test_adversaries_survives_a_reference_without_regret() -> None:
    """Zeros everywhere: nothing divides by them, and all verdicts hold."""
    runs = [
        curve({"policy": policy, "world": "sphere", "seed": seed})
        for policy in (*adversaries.LEARNERS, adversaries.REFERENCE)
        for seed in range(2)
    ]
    table = pl.concat(runs)
    findings = adversaries.EXPERIMENT.analyse(table)
    assert all(verdict.holds for verdict in findings.checks)
    adversaries.EXPERIMENT.draw(table, findings).canvas.draw()


@pytest.mark.parametrize(("earned", "expected"), [(39.0, True), (37.0, False)])
def test_price_of_fairness_measures_what_is_lost(earned: float, expected: bool) -> None:
    """Of 40 earned with a known metric, 39 is within 5% and 37 is not; the three prices are the differences."""
    rewards = {
        "ignore-fairness": 70.0,
        "fair-optimum": 50.0,
        "known-metric": 40.0,
        "evenhand": earned,
        "equal-probabilities": 1.0,
    }
    runs = [
        curve({"policy": policy, "norm": norm, "seed": seed}, reward=reward + seed)
        for policy, reward in rewards.items()
        for norm in (0.1, 1.0)
        for seed in range(3)
    ]
    findings = price_of_fairness.EXPERIMENT.analyse(pl.concat(runs))
    assert findings.checks[0].holds is expected
    assert findings.table["fairness"].to_list() == pytest.approx([0.2, 0.2])
    assert findings.table["rewards"].to_list() == pytest.approx([0.1, 0.1])
    assert findings.table["metric"].to_list() == pytest.approx([(40 - earned) / 100] * 2)


def test_price_of_fairness_notices_a_loose_metric_that_costs() -> None:
    """An optimum that earns less under a looser metric is no optimum."""
    runs = [
        curve({"policy": policy, "norm": norm, "seed": seed}, reward=50.0 - norm)
        for policy in price_of_fairness.POLICIES
        for norm in (0.1, 1.0)
        for seed in range(2)
    ]
    verdicts = holds(price_of_fairness.EXPERIMENT, pl.concat(runs))
    assert not only(verdicts, "looser")
    assert only(verdicts, "within")
    assert only(verdicts, "by being unfair")


def test_price_of_fairness_notices_reward_earned_unfairly() -> None:
    """Two unfair pairs in 50 late rounds are more than one in 100, however well they pay."""
    runs = [
        curve({"policy": policy, "norm": 1.0, "seed": seed}, reward=50.0, unfair_pairs=4.0 * (policy == "evenhand"))
        for policy in price_of_fairness.POLICIES
        for seed in range(2)
    ]
    verdicts = holds(price_of_fairness.EXPERIMENT, pl.concat(runs))
    assert not only(verdicts, "by being unfair")
    assert only(verdicts, "within")


def everybody(**changed: dict[str, float]) -> pl.DataFrame:
    """Made-up runs of compare in one world, three seeds; `changed` by policy, with _ for -."""
    plain = {"regret": 20.0, "unfair_pairs": 50.0, "late_unfair_pairs": 20.0}
    fair = {"regret": 10.0, "unfair_pairs": 0.0, "late_unfair_pairs": 0.0}
    ends = {policy: fair if policy in compare.ALWAYS_FAIR else plain for policy in compare.POLICIES}
    ends |= {"equal-probabilities": fair | {"regret": 60.0}, "evenhand": fair | {"unfair_pairs": 5.0}}
    ends |= {policy.replace("_", "-"): end for policy, end in changed.items()}
    return pl.concat(
        curve({"policy": policy, "world": "sphere", "seed": seed}, **(end | {"regret": end["regret"] + seed}))
        for policy, end in ends.items()
        for seed in range(3)
    )


def test_compare_holds_when_nobody_is_better() -> None:
    """Who earns more is less fair, who is as fair earns less; who knows the metric does not count."""
    greedy = {"regret": -40.0, "unfair_pairs": 300.0, "late_unfair_pairs": 150.0}
    assert all(holds(compare.EXPERIMENT, everybody(ignore_fairness=greedy)).values())


def test_compare_names_who_is_better() -> None:
    """As fair in the second half and richer at every seed: evenhand is beaten, and the verdict says by whom."""
    better = {"regret": 2.0, "unfair_pairs": 9.0, "late_unfair_pairs": 0.0}
    table = everybody(paper=better)
    verdict = next(v for v in compare.EXPERIMENT.analyse(table).checks if "gains more" in v.claim)
    assert not verdict.holds
    assert "paper in sphere" in verdict.measured


def test_compare_notices_unfairness_where_there_must_be_none() -> None:
    """A known metric that is unfair, and an evenhand that goes on being unfair, are both shown."""
    unfair = {"regret": 10.0, "unfair_pairs": 9.0, "late_unfair_pairs": 4.0}
    verdicts = holds(compare.EXPERIMENT, everybody(known_metric=unfair, evenhand=unfair))
    assert not only(verdicts, "never unfair")
    assert not only(verdicts, "hardly ever")


def test_a_known_metric_has_no_error_and_a_scaled_one_a_known_one() -> None:
    """The truth is at distance 0 from itself; twice the distances are off by the distances, G by three times G."""
    A = random_metric(3, seed=1)
    contexts = np.random.default_rng(0).normal(size=(5, 3)) / 4
    exact = measure(KnownMetric(A), contexts, A)
    assert exact == pytest.approx({"pair_error": 0.0, "matrix_error": 0.0, "width": 0.0, "coverage": 1.0}, abs=1e-12)
    off = measure(KnownMetric(2 * A), contexts, A)
    distances = [np.linalg.norm(A @ (contexts[i] - contexts[j])) for i in range(5) for j in range(i)]
    assert off["pair_error"] == pytest.approx(np.mean(distances))
    assert off["matrix_error"] == pytest.approx(3.0)
    assert off["coverage"] == 0.0


def test_a_zero_metric_can_be_measured_against() -> None:
    """Everybody alike: no division by the norm of a matrix of zeros."""
    found = measure(KnownMetric(np.zeros((1, 2))), np.eye(2), np.zeros((1, 2)))
    assert found == {"pair_error": 0.0, "matrix_error": 0.0, "width": 0.0, "coverage": 1.0}


def test_metric_recovery_reports_wrong_ends_and_wrong_distances() -> None:
    """Certain ends may miss no distance, credible ones a few; errors above epsilon are shown."""
    rows = [
        {"policy": policy, "seed": seed, "round": float(t), "epsilon": 0.02, "conflicts": 0.0, "width": 0.1}
        | {"matrix_error": 0.1, "pair_error": 0.5 if policy == "paper" else 0.01}
        | {"coverage": 0.99 if policy in ("evenhand", "ellipsoid") else 1.0}
        for policy in metric_recovery.LEARNERS
        for seed in range(3)
        for t in (1, 50, 100)
    ]
    verdicts = holds(metric_recovery.EXPERIMENT, pl.DataFrame(rows))
    assert not only(verdicts, "paper", "within epsilon")
    assert not only(verdicts, "ellipsoid", "inside")
    assert sum(verdicts.values()) == len(verdicts) - 2


def test_metric_recovery_wants_somebody_who_learns_a_metric() -> None:
    """Equal probabilities have no metric to measure."""
    with pytest.raises(InvalidInput, match="learns a metric"):
        recovery_run(policy="equal-probabilities", d=2, k=3, rounds=4, epsilon=0.1, seed=0)


def test_the_recovered_metric_comes_nearer() -> None:
    """After 128 rounds distances are off by less than a tenth of what they were in the first rounds."""
    found = recovery_run(policy="projected-volume", d=2, k=4, rounds=128, epsilon=0.02, seed=0)
    assert found["round"][-1] == 128.0
    assert np.mean(found["pair_error"][-4:]) < 0.1 * np.mean(found["pair_error"][:4])
    assert min(found["coverage"]) == 1.0


def test_the_lending_world_and_the_hider_can_be_played() -> None:
    """Lending has its own truth; a hider has its round; conflicts are a column in both."""
    shape: dict[str, Any] = {"k": 3, "rounds": 6, "epsilon": 0.1, "seed": 0}
    lending = standard_run(policy="evenhand", d=5, world="lending", **shape)
    early = standard_run(policy="evenhand", d=3, world="direction-hider", reveal_at=0, **shape)
    late = standard_run(policy="evenhand", d=3, world="direction-hider", reveal_at=6, **shape)
    assert lending["conflicts"][-1] == 0.0
    assert early["reward"] != late["reward"]


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("experiment", "wanted"),
    [
        (adversaries.EXPERIMENT, {"world": ("sphere", "direction-hider")}),
        (price_of_fairness.EXPERIMENT, {"norm": (0.1, 1.0)}),
        (
            compare.EXPERIMENT,
            {"world": ("camps", "lending"), "policy": ("evenhand", "equal-probabilities", "ignore-fairness")},
        ),
        (metric_recovery.EXPERIMENT, {"policy": ("evenhand", "paper")}),
    ],
    ids=lambda value: value.name if isinstance(value, Experiment) else "",
)
def test_tiny_results_can_be_analysed_and_drawn(experiment: Experiment, wanted: dict[str, Any], tmp_path: Path) -> None:
    """Two seeds of a few rounds give verdicts, a table and a figure whose axes all have a name."""
    table = tiny_results(experiment, tmp_path / "results", rounds=8, **wanted)
    check_analysis(experiment, table, tmp_path)
