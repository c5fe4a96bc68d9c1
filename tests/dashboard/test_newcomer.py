"""What somebody sees who is here for the first time: nothing contradicts itself, nothing needs to be known before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from evenhand.desk import Desk
from evenhand.schema import Number, Schema
from tests.support.dashboard_past import open_with_a_past
from tests.support.dashboard_steps import (
    decide,
    is_live,
    open_dashboard,
    open_decision,
    review,
    wait_until_projected,
    widest_pair,
)
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import ready

pytestmark = pytest.mark.browser

MANY = Schema([Number(f"measure_{i:02d}", low=0, high=10, unit="m") for i in range(60)])


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk with a past, one without, one with sixty features, and one with rewards of cents."""
    service = LocalService(tmp_path_factory.mktemp("service"))
    open_with_a_past(service.database, "loans")
    service.open_desk("empty", 0, target_unfair_share=0.1)
    service.open_desk("sixty", 0, schema=MANY)
    with Desk.open(service.database, "cents", n_features=2, seed=1) as desk:
        rng = np.random.default_rng(0)
        for _ in range(8):
            made = desk.decide((rng.random((3, 2)) / 2).tolist())
            desk.outcome(made.id, {name: float(rng.random()) / 250 for name in made.chosen}) if made.chosen else None
        desk.catch_up(wait=True)
    service.token("owner", ["admin"])
    service.token("Kim", ["review"], ["loans"])
    with service:
        yield service


def test_estimates_are_not_taken_for_what_is_played(page: Page, serving: Serving) -> None:
    """The bars' legend says that they are estimates; a decision says what was allowed when it was made."""
    open_dashboard(page, serving)
    page.get_by_role("button", name="best estimate").click()
    expect(page.locator(".meaning:not([hidden])")).to_contain_text("the desk keeps chances closer together than this")
    made = decide(serving, ["one", "two", "three"])
    record = serving.ask("GET", f"/api/desks/loans/decisions/{made['id']}/window", by="owner").json()
    pairs = record["explanation"]["binding_pairs"]
    assert pairs[0]["gap"] > 0.001
    open_decision(page, serving, made)
    page.locator("#based-on > summary").click()
    expect(page.locator("#chances thead")).to_contain_text("Estimated distance now")
    row = page.locator("#chances tbody tr").first
    gap = row.locator("td").first.inner_text()
    expect(row).to_contain_text(f"limit at the decision: {gap}")
    expect(page.locator("#chances .legend")).to_contain_text("the limit that the desk allowed for these two")


def test_a_pair_that_was_called_unfair_is_labelled_so(page: Page, serving: Serving) -> None:
    """At the top, among the pairs that bound and in the certificate: who called it unfair, and no made-up chance."""
    made = decide(serving, ["a7", "a8", "a9"])
    first, second = widest_pair(made)
    review(serving, made, pair=[first, second])
    open_decision(page, serving, made)
    expect(page.locator("#called-unfair")).to_have_text(f"⚑Called unfair by Kim: {first} and {second}")
    row = page.locator("#proofs tbody tr").filter(has_text=first).filter(has_text=second)
    expect(row).to_contain_text("called unfair by Kim")
    expect(row).not_to_contain_text("fair with a probability")
    expect(page.locator("#proofs .proof-counts li").first).to_contain_text("called unfair1")
    flag = serving.events("review")[-1]["id"]
    assert serving.ask("DELETE", f"/api/desks/loans/reviews/{flag}", by="owner").is_success
    open_decision(page, serving, made)
    expect(page.locator("#called-unfair")).to_have_count(0)
    expect(row).not_to_contain_text("called unfair")


def test_what_answers_did_is_seen_on_coming_back(page: Page, serving: Serving) -> None:
    """The marks stay where the bars were when one first looked, until one asks for a new beginning."""
    open_dashboard(page, serving)
    before = page.locator(".effect-value b").all_inner_texts()
    expect(page.get_by_role("button", name="Compare from now on")).to_be_hidden()
    page.get_by_role("link", name="Review pairs", exact=True).click()
    ready(page)
    made = decide(serving, ["alike", "as well", "other"])
    review(serving, made, pair=widest_pair(made))
    open_dashboard(page, serving)
    page.wait_for_function(
        "before => [...document.querySelectorAll('.effect-value b')].some((e, i) => e.innerText !== before[i])",
        arg=before,
    )
    expect(page.locator(".effect-was:visible").first).to_be_attached()
    expect(page.locator("#metric .legend")).to_contain_text("when you first opened this page")
    page.get_by_role("button", name="Compare from now on").click()
    expect(page.locator(".effect-was:visible")).to_have_count(0)
    page.reload()
    expect(page.locator(".effect-bar").first).to_be_visible()
    expect(page.locator(".effect-was:visible")).to_have_count(0)


def test_a_mark_of_yesterday_is_forgotten(page: Page, serving: Serving) -> None:
    """After a day the comparison begins anew."""
    open_dashboard(page, serving)
    page.evaluate(
        """() => {
          const place = Object.keys(sessionStorage).find((key) => key.startsWith("evenhand-baseline:"));
          const kept = JSON.parse(sessionStorage.getItem(place));
          for (const name in kept.values) kept.values[name] = 0.999;
          sessionStorage.setItem(place, JSON.stringify({ ...kept, at: kept.at - 25 * 3600 * 1000 }));
        }"""
    )
    page.reload()
    expect(page.locator(".effect-bar").first).to_be_visible()
    expect(page.locator(".effect-was:visible")).to_have_count(0)


def test_numbers_of_flags_explain_themselves(page: Page, serving: Serving) -> None:
    """A flag that is not counted says so in the list; below the reviewers it says what their numbers count."""
    n = 5
    same = [{"id": name, "context": [0.1] * n} for name in ("twin", "other twin")]
    made = serving.ask("POST", "/api/desks/loans/decisions", by="owner", body={"candidates": same}).json()
    review(serving, made)
    open_dashboard(page, serving)
    expect(page.locator("#latest tbody tr").first).to_contain_text("flag not counted")
    expect(page.locator("#latest")).to_contain_text("Not counted: flags on equal chances")
    expect(page.locator("#reviewers")).to_contain_text("no flags on equal chances")
    open_decision(page, serving, made)
    expect(page.locator("#called-unfair")).to_contain_text("equal chances: not counted")


NAMES = ["إلى آخره 123", "דוד (2)", "n" * 200]
ORDER = """() => [...document.querySelectorAll(".chances text.name")].map((text) => {
  const [name, chances] = [...text.querySelectorAll("tspan")].map((part) => part.getBoundingClientRect());
  return [name.left, chances.left, chances.top - name.top, text.textContent];
})"""


@pytest.mark.parametrize("width", [360, 1600])
def test_names_may_run_either_way_and_be_long(page: Page, serving: Serving, width: int) -> None:
    """Chances stand below the beginning of a name that runs from right to left; no page is wider than its window."""
    made = decide(serving, NAMES)
    review(serving, made, reviewer="r" * 150)
    review(serving, made, reviewer="כים", pair=NAMES[1:])
    page.set_viewport_size({"width": width, "height": 800})
    open_decision(page, serving, made)
    expect(page.locator(".chances text.name")).to_have_count(3)
    order = page.evaluate(ORDER)
    for name_begins, chance_begins, below, label in order:
        assert abs(chance_begins - name_begins) < 4, label
        assert below > 8, label
    assert page.locator("#since bdi, #proofs bdi, #people bdi, #facts bdi").count() > 8
    while page.locator("details:not([open]) > summary:visible").count():
        page.locator("details:not([open]) > summary:visible").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{serving.url}/desks/loans")
    is_live(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_decision_says_when_and_which(page: Page, serving: Serving) -> None:
    """The time with day and zone, the id to copy, and how the draw can be repeated."""
    made = decide(serving, ["one", "two"])
    open_decision(page, serving, made)
    facts = page.locator("#facts")
    zone = page.evaluate("Intl.DateTimeFormat('en-GB', {timeZoneName: 'short'}).format().split(' ').at(-1)")
    expect(facts.locator("time")).to_have_text(f"{page.evaluate(WHEN, made['time'])} {zone}")
    expect(facts.locator("code")).to_have_text(made["id"])
    expect(facts).to_contain_text("by a key fixed before the candidates were known")
    expect(facts).to_contain_text("Based on eventsup to ")


WHEN = """at => {
  const day = new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
  return `${day}, ${new Date(at).toLocaleTimeString("en-GB")}`;
}"""


def test_numbers_are_written_one_way(page: Page, serving: Serving) -> None:
    """One minus sign; small numbers keep two digits that count, without powers of ten; rounding is nothing."""
    open_dashboard(page, serving)
    numbers = page.evaluate(
        """async () => {
          const here = document.querySelector('script[src$="dashboard/dashboard.js"]').src;
          const { number, minus } = await import(here.replace("dashboard.js", "words.js"));
          const numbers = [-0.06, -0.0063, 1.43443e-7, -1e-17, 12.345].map((value) => number(value));
          return [...numbers, minus("-5 m (-3 m)"), minus("A-1, level=-0.5, 2024-05-06")];
        }"""
    )
    assert numbers == ["−0.06", "−0.0063", "0.00000014", "0.00", "12.35", "−5 m (−3 m)", "A-1, level=−0.5, 2024-05-06"]
    assert "-0." not in page.locator("main").inner_text()


def test_a_desk_that_has_not_decided_yet(page: Page, serving: Serving) -> None:
    """Says nothing of shares, and offers the interview first."""
    open_dashboard(page, serving, "empty")
    figures = page.locator("#figures").inner_text()
    assert "all processed" not in figures
    assert "%" not in figures
    assert "primary" in (page.locator("#to-interview").get_attribute("class") or "")
    expect(page.locator("#to-interview")).to_be_visible()
    assert "primary" not in (page.locator("#to-review").get_attribute("class") or "")
    expect(page.locator("#welcome a")).to_have_attribute("href", "/interview/empty")
    open_dashboard(page, serving)
    expect(page.locator("#to-interview")).to_be_hidden()


def test_many_features_are_shown_when_asked_for(page: Page, serving: Serving) -> None:
    """The five that do the most and a few sentences; all of them on demand."""
    open_dashboard(page, serving, "sixty")
    expect(page.locator(".effect")).to_have_count(5)
    expect(page.locator("#metric .sentences li")).to_have_count(8)
    expect(page.locator("#metric .sentences li").first).to_contain_text("then 53 others")
    page.get_by_role("button", name="Show all 60 features").click()
    expect(page.locator(".effect")).to_have_count(60)
    page.locator("#in-words > summary").click()
    page.get_by_role("button", name="sentences").click()
    assert page.locator("#metric .sentences li").count() > 60
    page.get_by_role("button", name="Show fewer features").click()
    expect(page.locator(".effect")).to_have_count(5)


def test_small_rewards_have_ticks_that_differ(page: Page, serving: Serving) -> None:
    """No two ticks of the axis read alike."""
    open_dashboard(page, serving, "cents")
    ticks = page.locator("#chart-reward .plot [text-anchor=end]").all_text_contents()
    assert len(set(ticks)) == len(ticks) > 2


def test_a_newcomer_sees_the_introduction_once(page: Page, serving: Serving) -> None:
    """What a desk is and what to do, until it is put away."""
    open_dashboard(page, serving)
    expect(page.locator("#welcome")).to_contain_text("A desk decides by lot which")
    expect(page.locator("#welcome a")).to_have_attribute("href", "/review/loans")
    page.get_by_role("button", name="Got it").click()
    expect(page.locator("#welcome")).to_be_empty()
    open_dashboard(page, serving)
    expect(page.locator("#figure-decisions")).not_to_be_empty()
    expect(page.locator("#welcome")).to_be_empty()


def test_what_is_open_stays_open(page: Page, serving: Serving) -> None:
    """News leaves meanings, folds and the focus as they are, and so does scrolling a little."""
    open_dashboard(page, serving)
    page.locator("#chart-flagged summary").click()
    page.locator("#in-words > summary").click()
    for place in ("#chart-flagged .legend", "#agreement"):
        term = page.locator(f"{place} .term").first
        before = page.locator("#figure-decisions").inner_text()
        term.click()
        review(serving, decide(serving, ["p", "q", "r"]))
        expect(page.locator("#figure-decisions")).not_to_have_text(before)
        wait_until_projected(serving)
        expect(page.locator("#figures")).to_contain_text("all processed")
        page.evaluate("window.scrollBy(0, 5)")
        expect(page.locator(f"{place} .meaning:not([hidden])")).to_be_visible()
        expect(term).to_be_focused()
    for fold in ("#chart-flagged details", "#in-words"):
        expect(page.locator(fold)).to_have_attribute("open", "")
