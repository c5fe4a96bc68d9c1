"""Real candidates under reviewers with rules: the rules in their units, who competes, and what is counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evenhand.datasets import load
from evenhand.lab import runner
from evenhand.lab.experiments import EXPERIMENTS, real_data
from evenhand.lab.real_data.findings import favourites_at_same_gain
from evenhand.lab.real_data.playing import (
    CONTENDERS,
    EQUAL,
    EVENHAND,
    FAVOURITES,
    IGNORE,
    KNOWS,
    RealCandidates,
    play_rule,
)
from evenhand.lab.real_data.rules import ALIKE, CITY_BLOCK, LEXICOGRAPHIC, RULES, THRESHOLDS, TREE
from tests.support.tiny_results import check_analysis, tiny_results

EACH_RULE = [pytest.param(name, rule, id=f"{name} {rule}") for name, rules in RULES.items() for rule in rules]


@pytest.mark.parametrize(("name", "rule"), EACH_RULE)
def test_a_rule_tells_some_apart(name: str, rule: str) -> None:
    """Distances are symmetric, at most 2, 0 to oneself, and of several sizes; only the city block has many."""
    dataset = load(name)
    found = RULES[name][rule](dataset.schema).distances(dataset.contexts[:200])
    sizes = np.unique(found[np.triu_indices(200, 1)].round(9))
    assert np.array_equal(found, found.T)
    assert not np.diag(found).any()
    assert sizes[0] >= (0.0 if rule == CITY_BLOCK else ALIKE)
    assert sizes[-1] <= 2.0
    assert (len(sizes) > 100) if rule == CITY_BLOCK else (3 <= len(sizes) <= 40)


def test_thresholds_are_in_the_units_of_the_table() -> None:
    """36% of income for obligations: 35 and 37 are apart, 37 and 60 are not, and other columns do not matter."""
    dataset = load("loanapp")
    row = dataset.frame.iloc[0]
    people = [{**{n: row[n] for n in dataset.schema.names}, "obrat": obrat, "price": 150} for obrat in (35, 37, 60)]
    found = RULES["loanapp"][THRESHOLDS](dataset.schema).distances(dataset.schema.encode(people))
    assert found[0, 1] == pytest.approx(0.3 + ALIKE)
    assert found[1, 2] == pytest.approx(ALIKE)


def test_the_first_difference_decides_in_the_units_of_the_table() -> None:
    """One year more of experience counts nothing, twenty do; honours count before experience."""
    dataset = load("resume")
    row = dataset.frame.iloc[0]
    base = {n: row[n] for n in dataset.schema.names} | {"honors": 0, "special_skills": 0}
    people = [
        base | {"years_experience": years, "honors": honors} for years, honors in ((9, 0), (10, 0), (30, 0), (9, 1))
    ]
    found = RULES["resume"][LEXICOGRAPHIC](dataset.schema).distances(dataset.schema.encode(people))
    assert found[0].tolist() == [0.0, ALIKE, 0.3, 0.6]


@pytest.mark.parametrize("name", ["resume", "loanapp"])
def test_the_past_does_not_compete(name: str) -> None:
    """Nobody of the past is in a round; everybody in one has an outcome; the same seed gives the same rounds."""
    people, again = RealCandidates.of(name, 3), RealCandidates.of(name, 3)
    rounds, others = (list(islice(one.rounds(np.random.default_rng(0)), 900)) for one in (people, again))
    assert all(np.array_equal(a, b) for a, b in zip(rounds, others, strict=True))
    assert not set(people.past.tolist()) & set(np.concatenate(rounds).tolist())
    assert np.isfinite(people.outcomes[np.concatenate([people.past, *rounds])]).all()
    assert all(len(np.unique(members)) == len(members) > 1 for members in rounds)
    if people.dataset.recipe.round is not None:
        ads = people.dataset.frame[people.dataset.recipe.round].to_numpy()
        assert all(len(np.unique(ads[members])) == 1 for members in rounds)


def test_the_ends_of_the_ladder() -> None:
    """Equal probabilities wrong nobody and gain nothing; who knows the rule wrongs nobody; who ignores it does."""
    found = {
        contender: play_rule(dataset="resume", reviewer=TREE, contender=contender, rounds=40, seed=0)
        for contender in (EQUAL, KNOWS, IGNORE)
    }
    assert found[EQUAL]["late"] == found[KNOWS]["late"] == [0.0]
    assert found[EQUAL]["gain_of_all"] == [pytest.approx(0.0, abs=1e-9)]
    assert found[IGNORE]["late"][0] > 0.5


def test_favourites_of_the_same_gain_by_hand() -> None:
    """Half way between two bonuses in gain is half way in unfair pairs; beyond the ladder there is none."""
    ladder = {EQUAL: (0.0, 0.0), next(iter(FAVOURITES)): (0.2, 1.0), IGNORE: (1.0, 9.0)}
    rows = [{"contender": name, "gain": gain, "late": late} for name, (gain, late) in ladder.items()]
    rows += [{"contender": EVENHAND, "gain": gain, "late": 0.5} for gain in (0.6, 0.1, 1.2)]
    table = pl.DataFrame([row | {"reviewer": TREE, "seed": 0} for row in rows])
    assert favourites_at_same_gain(table)[3:5] == [pytest.approx(5.0), pytest.approx(0.5)]
    assert np.isnan(favourites_at_same_gain(table)[5])


def test_the_experiments_are_there() -> None:
    """Three experiments, each with every contender under every reviewer, and quick ones with one reviewer."""
    for experiment in real_data.EXPERIMENTS:
        cases = experiment.sweep(False)
        assert EXPERIMENTS[experiment.name] is experiment
        assert len(cases) == 4 * len(CONTENDERS) * 5
        assert {case.settings["reviewer"] for case in experiment.sweep(True)} == {THRESHOLDS}


@pytest.mark.statistical
@pytest.mark.parametrize("experiment", real_data.EXPERIMENTS, ids=lambda each: each.name)
def test_tiny_results_are_analysed_and_drawn(experiment: object, tmp_path: Path) -> None:
    """A few rounds of every contender give checks, a table and a figure."""
    assert isinstance(experiment, type(real_data.EXPERIMENTS[0]))
    check_analysis(experiment, tiny_results(experiment, tmp_path, rounds=12), tmp_path)


def test_all_leaves_out_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An experiment that needs a missing package is not in "all", and is there by its name."""
    missing = replace(real_data.EXPERIMENTS[0], name="missing", needs=("no_such_module",))
    monkeypatch.setattr(runner, "EXPERIMENTS", {"missing": missing, "hiring": EXPERIMENTS["hiring"]})
    assert [one.name for one in runner.named(["all"])] == ["hiring"]
    assert [one.name for one in runner.named(["missing"])] == ["missing"]
