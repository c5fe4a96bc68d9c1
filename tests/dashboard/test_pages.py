"""The dashboard in a real browser: live, legible, harmless."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.appearance import check_appearance, window
from tests.support.dashboard_steps import call_script, decide, is_live, open_dashboard, prove, review, widest_pair
from tests.support.serving import Serving
from tests.support.steps import enter

__all__ = ["window"]

pytestmark = pytest.mark.browser

NASTY = ["<script>window.hit=1</script>", '"><img src=x onerror="window.hit=1">']


def _list(page: Page, serving: Serving) -> None:
    enter(page, serving, "owner", "/desks")
    expect(page.get_by_role("link", name="loans", exact=True)).to_be_visible()


def _dashboard(page: Page, serving: Serving) -> None:
    open_dashboard(page, serving)
    expect(page.locator(".effect-bar").first).to_be_visible()
    while page.locator("details:not([open]) > summary:visible").count():
        page.locator("details:not([open]) > summary:visible").first.click()


def _empty(page: Page, serving: Serving) -> None:
    enter(page, serving, "owner", "/desks/empty")
    expect(page.locator("#latest")).to_contain_text("No decision")
    expect(page.locator("#chart-reward .plot")).to_be_visible()


def _decision(page: Page, serving: Serving) -> None:
    enter(page, serving, "owner", "/desks/loans")
    page.locator("#latest a").nth(5).click()
    prove(page)
    for _ in range(3):
        page.locator("details:not([open]) > summary:visible").first.click()


def _dashboard_for_a_reviewer(page: Page, serving: Serving) -> None:
    """Neither what was learned, nor chances, nor what others answered is on the page or a click away."""
    enter(page, serving, "Kim", "/desks/loans")
    is_live(page)
    expect(page.locator("#latest")).to_contain_text("No. ")
    assert page.locator("#metric, #reviewers, #latest a").count() == 0
    text = page.locator("main").inner_text()
    assert not [word for word in ("Ana", "undefined", "NaN", "Distance", "Chance") if word in text]


def _decision_for_a_reviewer(page: Page, serving: Serving) -> None:
    """The page of a decision shows more chances than those of a pair: it is not for reviewers."""
    made = decide(serving, ["one", "two", "three"])
    enter(page, serving, "Kim", f"/desks/loans/decisions/{made['id']}")
    expect(page.get_by_role("alert")).to_contain_text("Not allowed")
    expect(page.locator("#chances")).to_be_hidden()


def _turned_away(page: Page, serving: Serving) -> None:
    enter(page, serving, "Eve", "/desks/loans")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("#charts")).to_be_hidden()


PAGES: dict[str, Callable[[Page, Serving], None]] = {
    "desks": _list,
    "dashboard": _dashboard,
    "dashboard-empty": _empty,
    "decision": _decision,
    "dashboard-reviewer": _dashboard_for_a_reviewer,
    "decision-reviewer": _decision_for_a_reviewer,
    "dashboard-turned-away": _turned_away,
}


@pytest.mark.parametrize("name", PAGES)
def test_every_page(name: str, window: tuple[Page, str], serving: Serving, screenshots: Path) -> None:
    """It is accessible, fits its window, and leaves a screenshot."""
    page, kind = window
    PAGES[name](page, serving)
    check_appearance(page, screenshots / f"{name}-{kind}.png")


def test_a_decision_appears_by_itself(page: Page, serving: Serving) -> None:
    """Made elsewhere, it is on the page without a reload; paused, the page stays as it is until it is resumed."""
    open_dashboard(page, serving)
    made = decide(serving, ["first", "second"])
    newest = page.locator("#latest tbody th").first
    expect(newest).to_have_text(f"No. {made['number']}")
    page.get_by_role("button", name="Pause updates").press("Enter")
    expect(page.locator("#live-state")).to_have_text("Paused")
    with page.context.new_page() as other:  # where the next decision is seen, the paused page could have had it
        open_dashboard(other, serving)
        later = decide(serving, ["third", "fourth"])
        expect(other.locator("#latest tbody th").first).to_have_text(f"No. {later['number']}")
    assert newest.inner_text() == f"No. {made['number']}"
    page.get_by_role("button", name="Resume").press("Enter")
    expect(newest).to_have_text(f"No. {later['number']}")


def test_news_leave_alone_what_somebody_is_at(page: Page, serving: Serving) -> None:
    """A focused line of the table keeps the focus while decisions come, even when it is no longer among the latest, and
    leads to its page; a section that was opened stays open, and a table scrolled sideways stays where it was."""
    open_dashboard(page, serving)
    both = decide(serving, ["alpha", "beta"])
    for reviewer in ("Ana", "Ben"):
        review(serving, both, reviewer, verdict="fair")  # flags would draw chances together for other tests
    expect(page.locator("#latest tbody tr").first).to_contain_text("2 reviews")  # later rows would move under the focus
    page.locator("#reviewers summary").click()
    page.set_viewport_size({"width": 360, "height": 800})
    page.locator("#latest .table-frame").evaluate("e => { e.scrollLeft = 40; }")
    link = page.locator("#latest a").nth(2)
    name, path = link.inner_text(), link.get_attribute("href")
    link.evaluate("e => e.focus({ preventScroll: true })")
    for number in range(14):
        made = decide(serving, [f"{number} one", f"{number} two"])
    review(serving, made, "Ben", verdict="fair")
    expect(page.locator("#latest tbody th").first).to_have_text(f"No. {made['number']:,}")
    expect(page.locator("#latest tbody tr").first).to_contain_text("1 review")
    assert page.evaluate("document.activeElement.textContent") == name
    assert page.locator("#latest .table-frame").evaluate("e => e.scrollLeft") == 40
    expect(page.locator("#reviewers details")).to_have_attribute("open", "")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{path}")


def test_the_metric_responds_to_a_review(page: Page, serving: Serving) -> None:
    """A pair called unfair changes the bars while one looks, and a mark shows where they stood before."""
    open_dashboard(page, serving)
    before = page.locator(".effect-value b").all_inner_texts()
    flagged = int(page.locator("#figure-flagged").inner_text())
    made = decide(serving, ["alike", "as well", "other"])
    review(serving, made, pair=widest_pair(made))
    expect(page.locator("#figure-flagged")).to_have_text(str(flagged + 1))
    expect(page.locator(".effects .effect-was:not([hidden])").first).to_be_attached()
    assert page.locator(".effect-value b").all_inner_texts() != before


def test_names_that_are_markup_do_nothing(page: Page, serving: Serving) -> None:
    """In the list and on the decision's page they are shown letter by letter, and run nowhere."""
    made = decide(serving, NASTY)
    review(serving, made)
    enter(page, serving, "owner", "/desks/loans")
    expect(page.locator("#latest")).to_contain_text(made["chosen"][0]) if made["chosen"] else None
    page.goto(f"{serving.url}/desks/loans/decisions/{made['id']}")
    expect(page.locator("#people")).to_contain_text(NASTY[0])
    expect(page.locator("#since")).to_contain_text(NASTY[1])
    prove(page)
    expect(page.locator("#proofs table")).to_contain_text(NASTY[0])
    assert page.evaluate("window.hit") is None


def test_the_page_of_a_decision_says_what_is_in_the_ledger(page: Page, serving: Serving) -> None:
    """Chances, who was chosen and what reviewers answered; a pair at its limit is linked."""
    made = decide(serving, ["one", "two", "three"])
    review(serving, made)
    enter(page, serving, "owner", f"/desks/loans/decisions/{made['id']}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Decision No. {made['number']:,}")
    record = serving.ask("GET", f"/api/desks/loans/decisions/{made['id']}/window", by="owner").json()
    shown = page.locator("#people tr[aria-current] .pick").inner_text()
    pairs = [pair for pair in record["explanation"]["binding_pairs"] if shown in (pair["first"], pair["second"])]
    expect(page.locator(".link-group")).to_have_count(len(pairs))
    expect(page.locator(".chances-frame .chance-bar")).to_have_count(3)
    expect(page.locator("#since")).to_contain_text("Kim called unfair: one and two")
    worst = record["explanation"]["worst_residual"]
    expect(page.locator("#facts")).to_contain_text("Limits metall" + (", up to rounding" if worst else ""))
    prove(page)
    expect(page.locator("#proofs tbody tr")).to_have_count(3)


def test_the_page_of_a_decision_says_what_came_later(page: Page, serving: Serving) -> None:
    """Each quoted review that was given after the decision says so, in both tables, and no other does."""
    words = ", after this decision"
    ids = [event["id"] for event in serving.events("decision") if event["body"]["tight_pairs"]]
    shown = 0
    enter(page, serving, "owner", "/desks")
    for name in ids[2:5]:
        page.goto(f"{serving.url}/desks/loans/decisions/{name}")
        prove(page)
        parts = [serving.ask("GET", f"/api/desks/loans/decisions/{name}/{part}", by="owner").json() for part in PARTS]
        shown_of = page.locator("#people tr[aria-current] .pick").inner_text()
        pairs = [p for p in parts[0]["explanation"]["binding_pairs"] if shown_of in (p["first"], p["second"])]
        quoted = [quote for pair in pairs for quote in pair["shaped_by"]]
        evidence = [quote for pair in parts[1]["pairs"] if pair["gap"] >= 1e-9 for quote in pair["evidence"]]
        for place, quotes in (("#chances", quoted), ("#proofs", evidence)):
            later = sum(quote["is_later"] is True for quote in quotes)
            expect(page.locator(f"{place} .evidence li").filter(has_text=words)).to_have_count(later)
            shown += later
    assert shown > 0


def test_a_quoted_verdict_without_a_page_has_no_link(page: Page, serving: Serving) -> None:
    """An interview's answer and an imported review shape distances as well; the page says where they stand."""
    name = next(event["id"] for event in reversed(serving.events("decision")) if event["body"]["tight_pairs"])
    quote = {"first": "one", "second": "two", "unfair": True, "gap": 0.25, "reviewer": "Kim", "likeness": 0.9}
    shaped = [
        {**quote, "review": "", "decision": "", "is_later": False, "kind": kind} for kind in ("answer", "imported")
    ]

    def put(route: Route) -> None:
        response = route.fetch().json()
        for pair in response["explanation"]["binding_pairs"]:
            pair["shaped_by"] = shaped
        route.fulfill(json=response)

    page.route(f"**/api/desks/loans/decisions/{name}/window", put)
    enter(page, serving, "owner", f"/desks/loans/decisions/{name}")
    lines = page.locator("#chances .evidence").first.locator("li")
    expected = ["Kim called two people unfair at 25 points (in an interview; 90% alike)"]
    expected.append("Kim called one and two unfair at 25 points (imported; 90% alike)")
    expect(lines).to_have_count(2)
    for line, words in zip(lines.all(), expected, strict=True):
        assert line.text_content() == words
        expect(line.locator("a")).to_have_count(0)


PARTS = ("window", "proofs")
"""What the page of a decision asks for."""

WITHOUT = {
    (1.0, 0.0, 0.0): "the most promising candidate, for certain",
    (1.0, 1.0, 0.0): "the two most promising candidates, for certain",
    (1.0, 1.0): "both candidates, for certain",
    (1.0,): "the only candidate, for certain",
    (0.0, 0.0): "nobody: no candidate was expected to pay off",
    (0.5, 0.5, 0.0): "a draw among the most promising candidates",
    (1.0, 0.5, 0.5, 0.0): "the most promising candidate for certain, and a draw among equals",
}


def test_whoever_would_be_chosen_without_fairness_is_named_for_every_capacity(page: Page, serving: Serving) -> None:
    """One, several, all, nobody, or a draw among equals."""
    page.goto(f"{serving.url}/sign-in")
    for probabilities, words in WITHOUT.items():
        assert call_script(page, serving, "price", "whoWithout", list(probabilities)) == words


def test_no_zero_has_a_sign(page: Page, serving: Serving) -> None:
    """What is zero but for rounding is written without one; what is small is not taken for zero."""
    page.goto(f"{serving.url}/sign-in")
    words = "import('/static/0/js/dashboard/words.js')"
    script = f"async (values) => {{ const {{ number }} = await {words}; return values.map((v) => number(v)); }}"
    assert page.evaluate(script, [-1e-12, -0.001, 0, 1234.5]) == ["0.00", "−0.0010", "0.00", "1,234.50"]


def test_a_table_that_goes_on_says_so(browser: Browser, serving: Serving) -> None:
    """Wider than a phone, it has a line that says that it goes on; on a desktop it has none."""
    for width, hidden in ((360, 0), (1600, 1)):
        context = browser.new_context(viewport={"width": width, "height": 800})
        page = context.new_page()
        enter(page, serving, "owner", "/desks/loans")
        hint = page.locator("#reviewers .goes-on")
        expect(hint).to_be_hidden() if hidden else expect(hint).to_be_visible()
        context.close()


def test_an_unknown_decision(page: Page, serving: Serving) -> None:
    """A sentence says that there is none."""
    enter(page, serving, "owner", "/desks/loans/decisions/dec_0")
    expect(page.get_by_role("alert")).to_contain_text("Not found")


def test_the_table_of_a_chart_by_keyboard(page: Page, serving: Serving) -> None:
    """The numbers behind a picture can be had without seeing it."""
    open_dashboard(page, serving)
    summary = page.locator("#chart-flagged summary")
    summary.focus()
    page.keyboard.press("Enter")
    last = page.locator("#chart-flagged tbody tr").last.locator("td").first
    expect(last).to_have_text(page.locator("#figure-flagged").inner_text())


def test_the_service_goes_and_comes_back(page: Page, serving: Serving) -> None:
    """The page says that the line is broken, keeps what it shows, and is live again when the service is."""
    open_dashboard(page, serving)
    shown = page.locator("#figure-decisions").inner_text()
    serving.stop()
    try:
        expect(page.locator("#live-state")).to_contain_text("Connection lost")
        assert page.locator("#figure-decisions").inner_text() == shown
    finally:
        serving.start()
    is_live(page)
