"""The pages of a service with PostgreSQL and several processes, and of one without tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.dashboard_steps import prove
from tests.support.ledgers import running_postgresql
from tests.support.serving import SCHEMA, Serving
from tests.support.steps import answer, enter, people, ready

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Three processes over one PostgreSQL."""
    with running_postgresql() as server:
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
        folder = tmp_path_factory.mktemp("several")
        service = Serving(folder, options=("--workers", "3"), elsewhere=url)
        service.open_desk("loans", 30)
        service.token("owner", ["admin"])
        service.token("Kim", ["review"], ["loans"])
        service.token("Lee", ["review"], ["loans"])
        with service:
            yield service


@pytest.fixture(scope="module")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service on loopback that asks for no token."""
    service = Serving(tmp_path_factory.mktemp("open"), options=("--without-tokens",))
    service.open_desk("loans", 12)
    with service:
        yield service


@pytest.mark.browser
def test_reviews_through_whichever_process(page: Page, several: Serving) -> None:
    """Answers, undo and reload go on with the right pair, whichever process answers; the dashboard follows."""
    enter(page, several, "Kim", "/review/loans")
    ready(page)
    for key in "uanua":
        answer(page, key)
        before = people(page)
        page.reload()
        ready(page)
        assert people(page) == before
    answer(page, "u")
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    assert people(page) == before
    answer(page, "a")
    reviews = several.events("review")
    assert len(reviews) == 7
    assert len(several.events("withdrawal")) == 1


def test_every_process_puts_the_same_pair_before_a_reviewer(several: Serving) -> None:
    """Each request comes to some process; all show the same pair until it is answered, and no answer is lost."""
    moments = {"started": "2024-01-01T00:00:00+00:00", "ended": "2024-01-01T00:00:03+00:00"}
    before = len(several.events("review"))
    for number in range(8):
        items = [several.ask("GET", "/api/desks/loans/review/next", by="Lee").json() for _ in range(4)]
        assert len({str((one["rows"], one["probabilities"], one["draft"])) for one in items}) == 1
        body = {"item": items[number % 4]["item"], "answer": "acceptable", **moments}
        answers = [several.ask("POST", "/api/desks/loans/review/answers", by="Lee", body=body) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert len({answer.json()["review"] for answer in answers}) == 1
    assert len(several.events("review")) == before + 8


@pytest.mark.browser
def test_an_interview_through_whichever_process(page: Page, several: Serving) -> None:
    """Every answer is one line, and the meter does not jump back by more than what is on its way."""
    enter(page, several, "Lee", "/interview/loans")
    ready(page)
    for key in "uauau":
        with page.expect_response(lambda response: "/interview/answers" in response.url):
            page.keyboard.press(key)
        ready(page)
    with page.expect_response(lambda response: "/interview/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    assert len(several.events("answer")) == 5
    assert len(several.events("withdrawal")) == 2


def test_no_process_repeats_a_question_answered_elsewhere(several: Serving) -> None:
    """Questions answered through one process do not come again from another."""
    moments = {"started": "2024-01-01T00:00:00+00:00", "ended": "2024-01-01T00:00:03+00:00"}
    seen = []
    for _ in range(9):
        item = several.ask("GET", "/api/desks/loans/interview/next", by="Kim").json()
        seen.append(str((item["rows"], item["gap"])))
        body = {"item": item["item"], "answer": "acceptable", **moments}
        assert several.ask("POST", "/api/desks/loans/interview/answers", by="Kim", body=body).status_code == 201
    assert len(set(seen)) == 9


@pytest.mark.browser
def test_the_window_through_whichever_process(page: Page, several: Serving) -> None:
    """A decision made through one process appears on a dashboard that another one serves."""
    enter(page, several, "owner", "/desks/loans")
    expect(page.locator("#live-state")).to_have_text("Live")
    for number in range(6):
        made = several.ask(
            "POST",
            "/api/desks/loans/decisions",
            by="owner",
            body={
                "candidates": [{"id": f"new {number} {i}", "context": [0.2 * i] * SCHEMA.n_features} for i in range(2)]
            },
        ).json()
    expect(page.locator("#latest tbody th").first).to_have_text(f"No. {made['number']}")
    page.locator("#latest a").first.click()
    prove(page)


@pytest.mark.browser
def test_without_tokens(page: Page, open_house: Serving) -> None:
    """Nobody is asked to sign in: desks, reviews, undo, interview and dashboard work at once."""
    page.goto(f"{open_house.url}/")
    page.get_by_role("link", name="Review loans", exact=True).click()
    ready(page)
    before = people(page)
    answer(page, "u")
    with page.expect_response(lambda response: "/review/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    assert people(page) == before
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    page.goto(f"{open_house.url}/interview/loans")
    ready(page)
    page.keyboard.press("c")
    expect(page.locator("#last")).to_contain_text("Recorded: conflict of interest")
    page.goto(f"{open_house.url}/desks/loans")
    expect(page.locator("#live-state")).to_have_text("Live")
    expect(page.locator("#reviewers")).to_contain_text("local")


@pytest.mark.browser
def test_whoever_comes_to_sign_in_without_need_is_led_on(page: Page, open_house: Serving) -> None:
    """A service without tokens has nobody sign in: the page leads to where one was going."""
    page.goto(f"{open_house.url}/sign-in?next=/review/loans")
    page.wait_for_url(f"{open_house.url}/review/loans")
