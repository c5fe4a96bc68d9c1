"""The charts' numbers against a count of everything."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import orjson
import pytest

from evenhand._internal.append_only import GrowingSet
from evenhand.bandit.safeguards import Margin
from evenhand.desk import Desk
from evenhand.desk.event_records import DeskDecision
from evenhand.desk.projection.projection import Projection, RoundHistory
from evenhand.desk.settings import DeskSettings
from evenhand.service.dashboard._rounds import MEANS, POINTS, rounds_part

SETTINGS = DeskSettings.create(n_features=2, seed=0, target_unfair_share=0.02)


def made(decisions: int, flagged: list[int], outcomes: list[tuple[int, float]]) -> Projection:
    """A state with so many decisions, each flagged at once if at all, without making them."""
    history = RoundHistory()
    for number, reward in outcomes:
        history.outcome(number, {"a": reward})
    for number in flagged:
        history.flag(number + 1, promised=True)
    safeguards = SimpleNamespace(
        flagged_rounds=GrowingSet(flagged), counted=float(len(flagged)), is_capped=False, margin=Margin(0.02)
    )
    bandit = SimpleNamespace(rounds=decisions, safeguards=safeguards)
    return Projection(decisions, cast("Any", bandit), 0, history)


@pytest.mark.parametrize("decisions", [0, 1, 7, 99, 513, 1_000_000])
def test_charts_say_what_a_count_says(decisions: int) -> None:
    """For any number of decisions: few points, the last at the newest, flags and means as counted one by one."""
    rng = np.random.default_rng(decisions)
    flagged = sorted({int(n) for n in rng.integers(0, max(1, decisions), 300)}) if decisions else []
    outcomes = [(int(n), float(rng.normal())) for n in rng.integers(0, max(1, decisions), 500)] if decisions else []
    part = rounds_part(made(decisions, flagged, outcomes), SETTINGS)
    orjson.dumps(part)
    edges = part["flagged"]["edges"]
    assert len(edges) <= POINTS
    assert len(part["reward"]["edges"]) <= MEANS
    assert edges == sorted(set(edges))
    assert (edges[-1] if edges else 0) == decisions == part["decisions"]
    assert part["flagged"]["came"] == [sum(n < edge for n in flagged) for edge in edges]
    last = 0
    for edge, mean, so_far in zip(*(part["reward"][k] for k in ("edges", "by_span", "so_far")), strict=True):
        here = [reward for number, reward in outcomes if last <= number < edge]
        before = [reward for number, reward in outcomes if number < edge]
        assert mean == (pytest.approx(math.fsum(here) / len(here), abs=1e-5) if here else None)
        assert so_far == (pytest.approx(math.fsum(before) / len(before), abs=1e-5) if before else None)
        last = edge


@pytest.mark.parametrize("decisions", [61, 95, 601, 1_000_001])
def test_what_has_just_begun_is_no_stretch(decisions: int) -> None:
    """The last mean is of as many decisions as others at least, and never of a few outcomes where others have many."""
    outcomes = [(int(number), 1.0) for number in np.linspace(0, decisions - 2, 600)]
    part = rounds_part(made(decisions, [], [*outcomes, (decisions - 1, -50.0)]), SETTINGS)["reward"]
    widths = np.diff([0, *part["edges"]])
    assert set(widths[:-1]) == {widths[0]}
    assert widths[0] <= widths[-1]
    assert part["edges"][-1] == decisions
    assert part["by_span"][-1] > -5
    late = rounds_part(made(decisions, [], [*outcomes[:-40], (decisions - 1, -50.0)]), SETTINGS)["reward"]
    assert late["by_span"][-1] > -5
    assert late["edges"][-1] == decisions


def test_decisions_without_outcomes() -> None:
    """Many decisions of whose outcomes none is known make no means, and no false ones."""
    part = rounds_part(made(100_000, [5], []), SETTINGS)["reward"]
    assert part["outcomes"] == 0
    assert set(part["by_span"]) == {None}


def test_ends_hold_the_mean() -> None:
    """The ends of a span's mean lie around it as far as Student's quantile says; a single reward has none."""
    part = rounds_part(made(2, [], [(0, 0.5), (0, 0.7), (1, 0.1)]), SETTINGS)["reward"]
    assert part["low"][0] < part["by_span"][0] < part["high"][0]
    # Two rewards 0.2 apart: 12.706 standard errors of 0.1 each way.
    assert part["high"][0] - part["by_span"][0] == pytest.approx(12.706 * 0.1, abs=1e-3)
    assert (part["by_span"][1], part["low"][1], part["high"][1]) == (0.1, None, None)


def test_the_bound_holds_whoever_flags_and_however_late() -> None:
    """At every moment as many flags as have come lie below it; late flags on old decisions do not move it by
    themselves, as the span they came late would."""
    rng = np.random.default_rng(1)
    with Desk.open("memory:", "loans", n_features=2, seed=1, target_unfair_share=0.05) as desk:
        waiting: list[DeskDecision] = []
        for turn in range(300):
            waiting.append(desk.decide(rng.random((3, 2)) / 2))
            if turn == 150:
                desk.change_settings(target_unfair_share=0.02)
            if turn % 3 == 2:
                late = waiting.pop(int(rng.integers(len(waiting))))
                order = sorted(late.candidates, key=lambda name: late.probabilities[name])
                desk.review(late.id, "partial", unfair=[(order[0], order[-1])], reviewer="Eve")
        desk.catch_up(wait=True)
        part = rounds_part(desk.projection, desk.settings)["flagged"]
    assert part["came"][-1] == part["total"] > 0
    assert all(came <= bound for came, bound in zip(part["came"], part["bound_by"], strict=True))
    assert part["bound_by"][-1] == pytest.approx(0.05 * 151 + 0.02 * 149 + 21 + part["late"], abs=0.05)
    assert part["late"] < part["total"] / 2


def test_flags_before_there_was_a_target_are_no_broken_promise() -> None:
    """Whatever was flagged without a target lies within the bound of a target set later."""
    with Desk.open("memory:", "loans", n_features=2, seed=1) as desk:
        for _ in range(40):
            decision = desk.decide([[0.9, 0.0], [0.0, 0.9]])
            desk.review(decision.id, "partial", unfair=[("0", "1")], reviewer="Eve")
        desk.change_settings(target_unfair_share=0.01)
        desk.decide([[0.9, 0.0], [0.0, 0.9]])
        desk.catch_up(wait=True)
        part = rounds_part(desk.projection, desk.settings)["flagged"]
    assert part["total"] <= part["bound_by"][-1]


def test_an_estimated_target_bounds_no_flags() -> None:
    """The chart then has no guaranteed limit, but what the target counts; flags that came are within a later bound."""
    with Desk.open(
        "memory:", "loans", n_features=2, seed=1, target_unfair_share=0.05, target="estimated", reviewer_error=0.2
    ) as desk:
        for _ in range(40):
            decision = desk.decide([[0.9, 0.0], [0.0, 0.9]])
            desk.review(decision.id, "partial", unfair=[("0", "1")], reviewer="Eve")
        desk.catch_up(wait=True)
        part = rounds_part(desk.projection, desk.settings)["flagged"]
        assert (part["counts"], part["bound_by"], part["target"]) == ("estimated", None, 0.05)
        assert 0 < part["counted"] < part["total"]
        desk.change_settings(target="flagged")
        desk.decide([[0.9, 0.0], [0.0, 0.9]])
        desk.catch_up(wait=True)
        later = rounds_part(desk.projection, desk.settings)["flagged"]
    assert later["counts"] == "flagged"
    assert later["total"] <= later["bound_by"][-1]
