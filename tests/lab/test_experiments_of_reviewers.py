"""The experiments on what reviewers are like: promises that are kept pass, each that is broken is flagged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.environments.worlds import AMONG
from evenhand.lab.experiment import Check, Experiment
from evenhand.lab.experiments import (
    EXPERIMENTS,
    adversarial_answers,
    capped,
    everything_at_once,
    interview,
    mistaken_reviewers,
    not_mahalanobis,
    one_bit,
    partial_reviews,
    promise,
    promise_with_errors,
)
from evenhand.lab.reviewers import PANELS, ReviewerSetting
from tests.support.tiny_results import check_analysis, tiny_results

MODULES = (
    partial_reviews,
    one_bit,
    mistaken_reviewers,
    adversarial_answers,
    not_mahalanobis,
    capped,
    interview,
    everything_at_once,
    promise,
    promise_with_errors,
)
EACH = [pytest.param(module.EXPERIMENT, id=module.NAME) for module in MODULES]

TOTALS = ("regret", "reward", "unfair_pairs", "flagged_rounds_by_reviewer")
Settings = Mapping[str, Any]
Ends = Callable[[Settings], Mapping[str, float]]
"""What is measured at the end of a case with these settings; what is not named is 0."""

REVIEWER = set(ReviewerSetting.__dataclass_fields__)


def table_of(experiment: Experiment, ends: Ends) -> pl.DataFrame:
    """What the full sweep would have measured: totals at half of the rounds and at the end.

    late_unfair_pairs: how many of the unfair pairs come in the second half; all else is complete after the first.
    """
    tables = []
    for case in experiment.sweep(False):
        settings, found = dict(case.settings), dict(ends(case.settings))
        late = found.pop("late_unfair_pairs", 0.0)
        columns: dict[str, Any] = {"round": [settings["rounds"] / 2, float(settings["rounds"])]}
        columns |= {name: [found.pop(name, 0.0)] * 2 for name in TOTALS}
        columns["unfair_pairs"] = [columns["unfair_pairs"][0] - late, columns["unfair_pairs"][1]]
        columns |= {
            name: [0.0] * 2
            for name in ("unfair_rounds", "counted", "conflicts", "lies_told", "learned_rate", "misleading")
        }
        columns |= {name: [value] * 2 for name, value in found.items()}
        tables.append(
            pl.DataFrame(columns).with_columns(**{name: pl.lit(value) for name, value in case.columns.items()})
        )
    return pl.concat(tables, how="diagonal_relaxed")


def checks(experiment: Experiment, ends: Ends) -> tuple[Check, ...]:
    """What the analysis says of such a sweep."""
    return experiment.analyse(table_of(experiment, ends)).checks


def broken(experiment: Experiment, ends: Ends) -> list[str]:
    """The claims that do not hold."""
    return [check.claim for check in checks(experiment, ends) if not check.holds]


def but(ends: Ends, changed: Callable[[Settings], bool], **other: float) -> Ends:
    """The same, but for cases of seed 1 that are `changed`."""
    return lambda of: {**ends(of), **(other if of["seed"] == 1 and changed(of) else {})}


@pytest.mark.parametrize("experiment", EACH)
@pytest.mark.parametrize(("quick", "seeds"), [(True, 3), (False, 5)])
def test_everybody_meets_the_same_seeds_and_enough_of_them(experiment: Experiment, quick: bool, seeds: int) -> None:
    """In each world all bandits and all reviewers have the same seeds; no case is there twice."""
    met: dict[str, set[int]] = defaultdict(set)
    cases = experiment.sweep(quick)
    for case in cases:
        met[repr(sorted((name, value) for name, value in case.settings.items() if name != "seed"))].add(
            case.settings["seed"]
        )
    assert {frozenset(found) for found in met.values()} == {frozenset(range(len(next(iter(met.values())))))}
    assert min(map(len, met.values())) >= seeds
    assert len({case.key for case in cases}) == len(cases)
    assert {case.experiment for case in cases} == {experiment.name}


@pytest.mark.parametrize("experiment", EACH)
def test_every_reviewer_of_a_full_sweep_exists(experiment: Experiment) -> None:
    """No case of a long sweep fails on its settings."""
    for case in experiment.sweep(False):
        ReviewerSetting(**{name: value for name, value in case.settings.items() if name in REVIEWER})


def test_they_are_registered_after_those_of_the_paper() -> None:
    """Each under its own name, in the order of the documents."""
    names = [name for name in EXPERIMENTS if EXPERIMENTS[name] in [module.EXPERIMENT for module in MODULES]]
    assert names == [module.NAME for module in MODULES]
    assert list(EXPERIMENTS).index(names[0]) > list(EXPERIMENTS).index("metric-recovery")


def partial(of: Settings) -> Mapping[str, float]:
    """110 unfair pairs everywhere, none late; random pairs cost four times as many."""
    return {"unfair_pairs": 440.0 if of["shows"] == "random pairs" else 110.0}


def test_partial_reviews_flags_one_pair_too_many_and_one_too_late() -> None:
    """In one run of ten is enough; other kinds of reviews are promised nothing."""

    def at_rate(wrong: float) -> Callable[[Settings], bool]:
        return lambda of: of["shows"] == "proposed pairs" and of["wrong"] == wrong

    experiment = partial_reviews.EXPERIMENT
    assert broken(experiment, partial) == []
    (many,) = broken(experiment, but(partial, at_rate(0.0), unfair_pairs=111.0))
    assert many.endswith("no answer wrong: unfair pairs")
    for wrong in (0.0, 0.1):
        (late,) = broken(experiment, but(partial, at_rate(wrong), late_unfair_pairs=1.0))
        assert late.endswith("second half")
    assert broken(experiment, but(partial, lambda of: of["shows"] == "one report", unfair_pairs=9000.0)) == []


def test_partial_reviews_flags_random_pairs_as_good() -> None:
    """If it does not matter which pairs are asked for, proposals are worth nothing."""
    found = broken(partial_reviews.EXPERIMENT, lambda of: {"unfair_pairs": 20.0 + of["seed"]})
    assert len(found) == 2
    assert all("random" in claim for claim in found)


def test_partial_reviews_names_every_kind() -> None:
    """Nine kinds of runs have nine names: where errors are matters only where there are some."""
    table = table_of(partial_reviews.EXPERIMENT, partial)
    assert set(table["label"]) == set(partial_reviews.KINDS)
    assert table.select("label", "wrong").n_unique() == 9


def test_one_bit_is_held_to_its_shape() -> None:
    """450 pairs are what ten candidates may cost, not what five may."""

    def ends(of: Settings) -> Mapping[str, float]:
        return {"unfair_pairs": 110.0 if of["k"] == 5 else 450.0}

    experiment = one_bit.EXPERIMENT
    assert broken(experiment, ends) == []
    assert len(broken(experiment, lambda of: {"unfair_pairs": 450.0})) == 2
    (late,) = broken(experiment, but(ends, lambda of: of["k"] == 5 and of["wrong"] > 0, late_unfair_pairs=1.0))
    assert late == "one bit, 5% wrong, d = 3, k = 5: unfair pairs in the second half"
    assert broken(experiment, but(ends, lambda of: of["shows"] == "everything", unfair_pairs=1000.0)) == []


def mistaken(of: Settings) -> Mapping[str, float]:
    """As many unfair pairs as promised and 1% of them late; every rate is found, everybody found out."""
    if of.get("panel") is None:
        most = mistaken_reviewers.MOST[of["wrong"]]
        return {"unfair_pairs": float(most), "late_unfair_pairs": most / 100, "learned_rate": of["wrong"]}
    found = {"unfair_pairs": 100.0}
    for name, rate in PANELS[of["panel"]].items():
        found |= {f"learned_rate_{name}": rate, f"misleading_{name}": float(rate > 0.5)}
    return found


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"unfair_pairs": 331.0}, "20% of answers wrong, rate unknown: unfair pairs"),
        ({"late_unfair_pairs": 30.0}, "20% of answers wrong, rate unknown: unfair pairs come in the first half"),
        ({"learned_rate": 0.4}, "20% of answers wrong, rate unknown: the learned rate"),
    ],
)
def test_mistaken_reviewers_flags_each_broken_promise(other: dict[str, float], words: str) -> None:
    """One run of five with too many, too late, or with a wrong mean rate; but only if the rate is unknown."""
    experiment = mistaken_reviewers.EXPERIMENT
    assert broken(experiment, mistaken) == []
    unknown = but(mistaken, lambda of: of.get("wrong") == 0.2 and of["reviewer_error"] is None, **other)
    assert broken(experiment, unknown) == [words]
    known = but(mistaken, lambda of: of.get("wrong") == 0.2 and of["reviewer_error"] is not None, **other)
    assert broken(experiment, known) == []


@pytest.mark.parametrize(
    ("panel", "other", "words"),
    [
        ("most mislead", {"misleading_D": 0.0}, "1 of 15 missed (most mislead: 0.95); 0 of 40 blamed wrongly"),
        ("different", {"misleading_C": 1.0}, "0 of 15 missed; 1 of 40 blamed wrongly (different: 0.3)"),
        ("different", {"learned_rate_C": 0.9}, "at worst 0.42 for 0.3 (different)"),
        ("most toss coins", {"late_unfair_pairs": 20.0}, "4.0% in the second half (20 of 500 in 5 runs)"),
    ],
)
def test_mistaken_reviewers_knows_every_member(panel: str, other: dict[str, float], words: str) -> None:
    """A liar who is missed, an honest member who is blamed, a rate that is off, and panels that stay unfair."""
    changed = but(mistaken, lambda of: of.get("panel") == panel, **other)
    (bad,) = [each for each in checks(mistaken_reviewers.EXPERIMENT, changed) if not each.holds]
    assert bad.measured == words


@pytest.mark.parametrize(("power", "kept"), [(0.5, True), (1.0, True), (1.3, False), (2.0, False)])
def test_adversarial_answers_distinguishes_a_line_from_steeper_growth(power: float, kept: bool) -> None:
    """Costs a + b C^p: in proportion or slower passes, faster does not, of unfair pairs and of regret alike."""

    def ends(of: Settings) -> Mapping[str, float]:
        cost = (10 + of["seed"]) * (1 + of["lies"] ** power / 10)
        return {"unfair_pairs": 5 * cost, "regret": cost, "lies_told": float(of["lies"])}

    found = checks(adversarial_answers.EXPERIMENT, ends)
    assert len(found) == 12
    assert {check.holds for check in found} == {kept}


def test_adversarial_answers_finds_the_one_who_is_dear() -> None:
    """A burst aimed at regret costs the square of its lies in regret; all else is paid in proportion."""

    def ends(of: Settings) -> Mapping[str, float]:
        dear = of["aim"] == "regret" and of["lies_per_decision"] > 1
        paid = of["lies"] ** (2.0 if dear else 1.0) / 4
        return {"unfair_pairs": 20 + of["lies"] + of["seed"], "regret": 8 + paid + of["seed"]}

    (bad,) = broken(adversarial_answers.EXPERIMENT, ends)
    assert bad == "regret, aimed at regret, lies in a burst: many lies cost no more each than few"
    table = adversarial_answers.EXPERIMENT.analyse(table_of(adversarial_answers.EXPERIMENT, ends)).table
    row = table.filter((pl.col("aim") == "unfairness") & (pl.col("pace") == "one a decision")).row(0, named=True)
    assert row["regret, b"] == "0.25 (0.25 to 0.25)"
    assert row["unfair pairs, exponent"] == "1 (1 to 1)"


def rated(of: Settings) -> Mapping[str, float]:
    """1.1% of 20,000 rounds flagged with the target, a third without; 0.3 a round earned, 0.1 by the baseline."""
    if of["policy"] == "equal-probabilities":
        return {"reward": 0.1 * of["rounds"] + of["seed"]}
    share = 1 / 3 if of["target_unfair_share"] is None else 0.011
    return {"reward": 0.3 * of["rounds"] + of["seed"], "flagged_rounds_by_reviewer": share * of["rounds"]}


def test_not_mahalanobis_flags_flags_and_poverty() -> None:
    """1.25% in one run is too much; so is a reward no better than the baseline's. No target, no promise."""
    experiment = not_mahalanobis.EXPERIMENT
    assert broken(experiment, rated) == []

    def noise(target: float | None) -> Callable[[Settings], bool]:
        return lambda of: of.get("follows") == "pure noise" and of["target_unfair_share"] == target

    flagged = but(rated, noise(0.01), flagged_rounds_by_reviewer=250.0)
    assert broken(experiment, flagged) == ["pure noise: share of rounds flagged"]
    poor = but(rated, noise(0.01), reward=0.0)
    assert broken(experiment, poor) == ["pure noise: reward a round beyond equal probabilities, seed by seed"]
    assert broken(experiment, but(rated, noise(None), flagged_rounds_by_reviewer=20_000.0, reward=0.0)) == []


def test_not_mahalanobis_promises_what_the_margin_does_in_few_rounds() -> None:
    """At 250 rounds 1% and 21 rounds; at 20,000 the promise is the smaller one, 1.2%."""
    assert not_mahalanobis.promised(250) == pytest.approx(0.01 + 21 / 250)
    assert not_mahalanobis.promised(20_000) == 0.012


def test_capped_flags_one_round_too_many() -> None:
    """In one run of one world; and a cap that nobody reaches is no test."""

    def ends(of: Settings) -> Mapping[str, float]:
        return {"flagged_rounds_by_reviewer": float(min(of["max_unfair_rounds"], 17)), "regret": 5.0}

    experiment = capped.EXPERIMENT
    assert broken(experiment, ends) == []
    one = but(
        ends,
        lambda of: of["world"] == "camps" and of["max_unfair_rounds"] == 10,
        flagged_rounds_by_reviewer=11.0,
    )
    assert broken(experiment, one) == ["max_unfair_rounds=10: rounds flagged, any excess"]
    (idle,) = broken(experiment, lambda of: {})
    assert "put to the test" in idle


def test_capped_shows_the_hidden_direction_in_time() -> None:
    """A quarter of the rounds in; the others hide nothing."""
    for case in capped.EXPERIMENT.sweep(False):
        hides = case.settings["world"] == "direction-hider"
        assert case.settings.get("reveal_at") == (case.settings["rounds"] / 4 if hides else None)


def test_interview_is_held_to_every_run() -> None:
    """8 pairs after 100 questions and none after 200, in every run; and questions that spare nothing are flagged."""

    def ends(of: Settings) -> Mapping[str, float]:
        left = {0: 40.0, 25: 30.0, 50: 20.0, 100: 8.0, 200: 0.0}[of["questions"]]
        return {"unfair_pairs": left, "asked": of["questions"], "expected": left}

    experiment = interview.EXPERIMENT
    assert broken(experiment, ends) == []
    for questions, most in ((100, 8.0), (200, 0.0)):
        too_many = but(ends, lambda of, n=questions: of["questions"] == n, unfair_pairs=most + 1)  # type: ignore[misc]
        assert broken(experiment, too_many) == [f"after {questions} questions: unfair pairs live"]
    (useless,) = broken(experiment, lambda of: {"asked": 0.0, "expected": 0.0})
    assert useless == "200 questions prevent unfair pairs live, seed by seed"


def test_everything_at_once_is_held_to_the_target_and_its_constant() -> None:
    """171 flagged rounds of 10,000 are within 1%, 21 and the 50 under review; 172 are not; equal pay is not more.

    The estimated target is held to 1%, 51 and 50, of what it counts itself, and to more reward than the other.
    """

    def ends(of: Settings) -> Mapping[str, float]:
        rich = of["policy"] == "evenhand"
        reward = 900.0 * rich + 900.0 * estimated(of) + of["seed"]
        flagged = 9000.0 if estimated(of) else 171.0
        return {"reward": reward, "flagged_rounds_by_reviewer": flagged, "unfair_pairs": 70.0, "counted": 201.0}

    def estimated(of: Settings) -> bool:
        return of.get("target") == "estimated"

    def safe(of: Settings) -> bool:
        return of.get("target_unfair_share") is not None and "shows" in of and not estimated(of)

    experiment = everything_at_once.EXPERIMENT
    assert broken(experiment, ends) == []
    assert len(broken(experiment, but(ends, safe, flagged_rounds_by_reviewer=172.0))) == 1
    assert any("beyond equal" in claim for claim in broken(experiment, but(ends, safe, reward=-9000.0)))
    assert len(broken(experiment, but(ends, estimated, counted=202.0))) == 1
    assert len(broken(experiment, but(ends, estimated, reward=-9000.0))) == 1
    assert broken(experiment, but(ends, lambda of: not safe(of), flagged_rounds_by_reviewer=9000.0)) == []
    assert set(table_of(experiment, ends)["label"]) == set(everything_at_once.PLAYERS)


def promised(of: Settings) -> Mapping[str, float]:
    """A kept promise, halved by questions; half of BayesPoint's unfair pairs at the same regret."""
    ours = of["policy"] in ("version-space", "evenhand")
    left = {"left_at_start": 60.0, "left_after_interview": 30.0, "allowed": 25.0} if ours else {}
    pairs = {"unfair_pairs": 8.0 if ours else 16.0, "regret": 10.0, "flagged_rounds_by_reviewer": 20.0}
    unknown = {"left_at_start": float("nan"), "left_after_interview": float("nan"), "allowed": float("nan")}
    return unknown | left | pairs | {"refuted": 0.0, "flags_left": 5.0}


@pytest.mark.parametrize(
    ("changed", "other", "words"),
    [
        (lambda of: of.get("quantile") == 0.3, {"flagged_rounds_by_reviewer": 26.0}, "complete reviews"),
        (lambda of: of.get("rank") == 0, {"flagged_rounds_by_reviewer": 26.0}, "attacks"),
        (lambda of: of.get("rank") == 0, {"refuted": 1.0}, "attacks"),
        (lambda of: "questions" in of, {"flagged_rounds_by_reviewer": 26.0}, "after an interview"),
        (lambda of: of.get("questions") == 50, {"left_after_interview": 31.0}, "50 questions"),
        (lambda of: of.get("world") == "attacker", {"left_at_start": 81.0}, "the promise before the first round"),
        (lambda of: of["error_rate"] == 0.0 and of["rounds"] == 3000, {"unfair_pairs": 19.0}, "VersionSpace, hard"),
    ],
)
def test_promise_flags_each_broken_promise(
    changed: Callable[[Settings], bool], other: dict[str, float], words: str
) -> None:
    """One run above what was promised, given up, or not halved; one more unfair pair than ten on average."""
    assert broken(promise.EXPERIMENT, promised) == []
    (found,) = broken(promise.EXPERIMENT, but(promised, changed, **other))
    assert found.startswith(words)


def test_promise_flags_more_regret_than_that_of_bayes_point() -> None:
    """Regret above it in every seed, of the three that are held to it."""

    def dearer(of: Settings) -> Mapping[str, float]:
        more = 0.0 if of["policy"] == "bayes-point" else 1.0 + 0.1 * of["seed"]
        return {**promised(of), "regret": 10.0 + more}

    found = broken(promise.EXPERIMENT, dearer)
    assert len(found) == 3
    assert all("no more regret" in claim for claim in found)


def test_promise_tries_every_adversary_and_every_rank() -> None:
    """In each of three sizes; the hider shows what it hid while there are rounds left."""
    attacks = [case.settings for case in promise.EXPERIMENT.sweep(False) if case.label == promise.ATTACKED]
    ranks = {2: {0, 1, 2}, 3: {0, 1, 2, 3}, 5: {0, 1, 2, 5}}
    assert {(of["world"], of["d"], of["rank"]) for of in attacks} == {
        (world, d, rank) for world in promise.WORLDS for d, each in ranks.items() for rank in each
    }
    assert set(promise.WORLDS) == {"attacker", *AMONG}
    assert all(of["reveal_at"] < of["rounds"] for of in attacks if of["world"] == "direction-hider")


def test_the_attacker_gets_nearly_all_flags_that_are_promised() -> None:
    """Where everybody is alike, showing the largest guess wins at least 0.7 of the flags, and never more than all."""
    shape = {"policy": "version-space", "d": 2, "k": 2, "rounds": 60, "epsilon": 0.01, "error_rate": 0.0}
    for seed in range(3):
        run = promise.EXPERIMENT.run(**shape, world="attacker", rank=0, seed=seed)
        flagged = run["flagged_rounds_by_reviewer"][-1]
        assert 0.7 * run["left_at_start"][-1] <= flagged <= run["allowed"][-1]


@pytest.mark.parametrize(
    ("changed", "other", "words"),
    [
        (lambda of: of.get("lies") == 10, {"flagged_rounds_by_reviewer": 100.0}, "C lies"),
        (
            lambda of: of.get("wrong") == 0.1 and of["policy"] == "evenhand" and of.get("shows") is None,
            {"unfair_pairs": 300.0},
            "FairBandit's default, 10% of answers wrong, rate unknown: unfair pairs",
        ),
        (
            lambda of: of.get("wrong") == 0.2 and of["policy"] == "version-space",
            {"late_unfair_pairs": 1.0},
            "VersionSpace, 20% of answers wrong",
        ),
        (
            lambda of: of.get("wrong") == 0.3 and of["policy"] == "version-space",
            {"regret": 30.0},
            "VersionSpace, 30% of answers wrong, rate unknown: regret",
        ),
    ],
)
def test_promise_with_errors_flags_each_broken_promise(
    changed: Callable[[Settings], bool], other: dict[str, float], words: str
) -> None:
    """One run above the theorem for the lies told, too many pairs, a late one, or much more regret than BayesPoint."""
    assert broken(promise_with_errors.EXPERIMENT, promised) == []
    (found,) = broken(promise_with_errors.EXPERIMENT, but(promised, changed, **other))
    assert found.startswith(words)


@pytest.mark.statistical
@pytest.mark.parametrize("experiment", EACH)
def test_tiny_results_can_be_analysed_and_drawn(experiment: Experiment, tmp_path: Path) -> None:
    """Two seeds of a few rounds of every case of the quick sweep: verdicts, a table, a figure with named axes."""
    table = tiny_results(experiment, tmp_path / "results", rounds=3)
    check_analysis(experiment, table, tmp_path)


@pytest.mark.statistical
@pytest.mark.parametrize("experiment", EACH)
def test_a_case_of_the_quick_sweep_runs_as_it_is(experiment: Experiment) -> None:
    """The last one, to its last round."""
    settings = experiment.sweep(True)[-1].settings
    assert experiment.run(**settings)["round"][-1] == settings["rounds"]
