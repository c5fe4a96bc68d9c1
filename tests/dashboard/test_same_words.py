"""What stands in two places has the same words: pictures and sentences, dashboard and review page, sums and parts."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from tests.support.dashboard_steps import call_script
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter, ready

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk where of every second pair two people are asked, and its owner."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    service.open_desk("loans", 40, overlap=0.5)
    service.token("owner", ["admin"])
    with service:
        yield service


def test_dashboard_and_review_page_count_the_same(page: Page, serving: Serving) -> None:
    """As many answers are wanted on both, however many; where two people are asked about a pair, it counts twice."""
    enter(page, serving, "owner", "/review/loans")
    ready(page)
    there = page.locator("#waiting").inner_text().split()
    assert there[1:3] == ["answers", "wanted"]
    assert int(there[0]) > 50
    enter(page, serving, "owner", "/desks/loans")
    expect(page.locator("#figure-waiting")).to_have_text(there[0])
    expect(page.locator("#figure-waiting + span")).to_contain_text("answers wanted from reviewers")


def test_flags_are_counted_when_they_come(page: Page, serving: Serving) -> None:
    """The picture steps up when a flag comes; the sentence counts the same steps."""
    flagged = {
        "total": 5,
        "target": None,
        "is_capped": False,
        "came": [0, 2, 5],
        "edges": [10, 20, 40],
        "target_by": [],
    }
    words = call_script(page, serving, "rounds", "flaggedWords", 40, flagged)
    assert words == "5 of 40 decisions called unfair (12.5%); 3 of these flags came during the last 20."
    estimated = {**flagged, "target": 0.01, "target_by": [0.1, 0.2, 0.4], "counts": "estimated", "counted": 0.31}
    words = call_script(page, serving, "rounds", "flaggedWords", 40, estimated)
    assert words.endswith(
        "Within the target. The target counts each flag by the probability that it is right: 0.3 in all."
    )


@pytest.mark.parametrize("rewards", [(0.21251, 0.33249), (-0.0004, 0.0061), (2e-7, 3.4e-7), (12.0006, 12.0004)])
def test_what_fairness_cost_is_the_difference_as_shown(
    page: Page, serving: Serving, rewards: tuple[float, float]
) -> None:
    """Whoever subtracts the two numbers on the page finds the third, digit by digit."""
    sums = call_script(page, serving, "price", "sums", *rewards)
    shown = [
        Decimal(call_script(page, serving, "words", "number", sums[name], sums["digits"]).replace("\u2212", "-"))
        for name in ("played", "without", "cost")
    ]
    assert shown[1] - shown[0] == shown[2]
    assert shown[0] != 0


def test_a_longer_last_interval_is_labelled_so(page: Page, serving: Serving) -> None:
    """What has just begun is counted with the interval before, and the sentence says so."""
    reward = {"outcomes": 9, "mean": 0.5, "by_span": [0.5, 0.4], "edges": [4, 9]}
    words = call_script(page, serving, "rounds", "rewardWords", reward)
    assert "Each interval has 4 decisions; the last one has 5" in words
    even = {**reward, "edges": [4, 8]}
    assert "interval has" not in call_script(page, serving, "rounds", "rewardWords", even)


def test_a_distance_has_no_idle_digit(page: Page, serving: Serving) -> None:
    """What is ten when rounded is written as ten is."""
    texts = [call_script(page, serving, "words", "pointsOf", value) for value in (0.0994, 0.0996, 0.1, 0.01)]
    assert texts == ["9.9 points", "10 points", "10 points", "1.0 points"]
