"""A desk in shadow mode on the pages: reviewers see whose decision they judge, and its owner where the two differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.support.serving import SCHEMA, Serving, person
from tests.support.steps import answer, enter, ready
from tests.support.waiting import wait_for

pytestmark = pytest.mark.browser

DESK = "/api/desks/beside"


@pytest.fixture(scope="module")
def beside(serving: Serving) -> Serving:
    """A desk beside a rule that takes the highest income, which draws in every third decision."""
    rules = {"controls": 0.0, "repeats": 0.0}
    settings = {"schema": SCHEMA.to_dict(), "epsilon": 0.05, "seed": 3, "shadow": True, "reviewing": rules}
    assert serving.ask("POST", "/api/desks", by="owner", body={"name": "beside", **settings}).status_code == 201
    serving.token("Pat", ["review"], ["beside"])
    rng = np.random.default_rng(0)
    for number in range(12):
        people = [person(rng, f"applicant {number}-{i}") for i in range(4)]
        best = max(people, key=lambda one: one["features"]["income"])["id"]
        action = {"chosen": [best], "scores": {one["id"]: one["features"]["income"] / 1000 for one in people}}
        if number % 3 == 2:
            action["probabilities"] = {one["id"]: 0.7 if one["id"] == best else 0.1 for one in people}
        body = {"candidates": people, **({"action": action} if number < 11 else {})}
        made = serving.ask("POST", f"{DESK}/decisions", by="owner", body=body)
        assert made.status_code == 201, made.text
        rewards = {"rewards": {best: float(rng.random())}}
        if number < 11:
            serving.ask("POST", f"{DESK}/decisions/{made.json()['id']}/outcomes", by="owner", body=rewards)
    wait_for(lambda: len(serving.ask("GET", f"{DESK}/queue", by="owner").json()["pairs"]) > 10, what="pairs", pause=0.1)
    return serving


def test_whose_decision_is_shown(page: Page, beside: Serving, screenshots: Path) -> None:
    """The page says whether a pair is as the desk or as the system treated it; the answer is recorded with it."""
    enter(page, beside, "Pat", "/review/beside")
    seen = set()
    for _ in range(12):
        ready(page)
        words = page.locator("#whose").inner_text()
        kind = "desk" if words.startswith("the desk") else "rule" if "chose one of the two" in words else "system"
        if kind not in seen:
            page.screenshot(path=screenshots / f"shadow-review-{kind}.png", full_page=True)
        seen.add(kind)
        chances = page.locator(".chance-number").all_inner_texts()
        assert (sorted(chances) == ["chosen", "not chosen"]) == (kind == "rule")
        answer(page, "u" if kind == "desk" else "a")
    assert {"desk", "rule"} <= seen
    subjects = [event["body"]["subject"] for event in beside.events("review", "beside")]
    assert {"desk", "system"} == set(subjects)


def test_the_owner_sees_where_the_two_differ(page: Page, beside: Serving, screenshots: Path) -> None:
    """A panel with both side by side, a mark on each decision, and the page of one says who was chosen; then live."""
    enter(page, beside, "owner", "/desks/beside")
    expect(page.locator("#mode")).to_be_visible()
    expect(page.locator("#shadow")).to_contain_text("this desk chooses nobody")
    expect(page.locator("#shadow table")).to_contain_text("Called unfair, of those reviewed")
    expect(page.locator("#shadow")).to_contain_text("in 11 decisions")
    expect(page.locator("#latest")).to_contain_text("not known yet")
    for fold in page.locator("#shadow summary").all():
        fold.click()
    page.screenshot(path=screenshots / "shadow-dashboard.png", full_page=True)
    page.locator("#shadow details a").first.click()
    expect(page.locator("#facts")).to_contain_text("The system in force chose")
    expect(page.locator("#since")).to_contain_text("Outcome")
    page.screenshot(path=screenshots / "shadow-decision.png", full_page=True)
    page.set_viewport_size({"width": 390, "height": 844})
    enter(page, beside, "owner", "/desks/beside")
    expect(page.locator("#shadow table")).to_be_visible()
    page.screenshot(path=screenshots / "shadow-phone.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    switched = beside.ask("POST", f"{DESK}/switches", by="owner", body={"to": "live", "reason": "ready"})
    assert switched.status_code == 201
    expect(page.locator("#shadow")).to_contain_text("This desk is live.")
    expect(page.locator("#mode")).to_be_hidden()
