"""The interview: made-up odds, a meter, an end by itself; put down and taken up again."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.serving import Serving
from tests.web.steps import enter, pair_or_end, ready

CSV = "income,years employed,purpose,guarantor\n" + "".join(
    f"{10_000 * i},{i},{('car', 'home', 'study')[i % 3]},{('yes', 'no')[i % 2]}\n" for i in range(1, 19)
)


def _answer(page: Page, key: str) -> None:
    with page.expect_response(lambda response: "/interview/answers" in response.url):
        page.keyboard.press(key)
    pair_or_end(page)


def _unknown(page: Page) -> float:
    return float(page.locator("#unknown-value").inner_text().removesuffix("%"))


def _gap(page: Page) -> str:
    return page.locator("table.pair").inner_text()


def test_an_interview_teaches_the_desk(page: Page, serving: Serving) -> None:
    """Answers are lines of the ledger, the meter falls, an undone question comes again, and it goes on later."""
    enter(page, serving, "Ada", "/interview/loans")
    ready(page)
    before = _unknown(page)
    for number in range(12):
        _answer(page, "ua"[number % 3 == 0])
    question = _gap(page)
    _answer(page, "u")
    with page.expect_response(lambda response: "/interview/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    assert _gap(page) == question
    _answer(page, "a")
    asked = _gap(page)
    unknown = _unknown(page)
    assert unknown < before
    page.reload()
    ready(page)
    assert _gap(page) == asked
    answers = serving.events("answer")
    assert len(answers) == 14
    assert len(serving.events("withdrawal")) == 1
    assert {event["body"]["reviewer"] for event in answers} == {"Ada"}
    serving.stop()
    serving.start()
    page.reload()
    ready(page)
    assert abs(_unknown(page) - unknown) <= 5


def test_unsure_is_recorded_and_can_be_undone(page: Page, serving: Serving) -> None:
    """It becomes a line that says so, the meter stays where it is, and taken back the question comes again."""
    enter(page, serving, "Lee", "/interview/loans")
    ready(page)
    question, before = _gap(page), _unknown(page)
    _answer(page, "n")
    expect(page.locator("#last")).to_contain_text("Recorded: unsure")
    assert _gap(page) != question
    assert _unknown(page) == before
    (line,) = [event for event in serving.events("answer") if event["body"]["reviewer"] == "Lee"]
    assert line["body"]["unfair"] is None
    assert line["body"]["circumstances"]["answer"] == "unsure"
    with page.expect_response(lambda response: "/interview/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    assert _gap(page) == question


def test_people_from_a_file(page: Page, serving: Serving, tmp_path: Path) -> None:
    """A file of people is read through the schema; a wrong one is refused with a sentence."""
    enter(page, serving, "Kim", "/interview/loans")
    ready(page)
    page.get_by_text("People to ask about").click()
    for name, text, says in (
        ("wrong.csv", CSV.replace("car", "boat"), "boat"),
        ("right.csv", CSV, "It asks about 18 people now."),
    ):
        (tmp_path / name).write_text(text)
        page.get_by_label("A CSV file").set_input_files(tmp_path / name)
        page.get_by_role("button", name="Use these people").click()
        expect(page.locator("#people-form")).to_contain_text(says)


@pytest.fixture(scope="module")
def simple(tmp_path_factory: pytest.TempPathFactory) -> Serving:
    """A desk with one feature, of which little is to be learned, and nobody decided about yet."""
    service = Serving(tmp_path_factory.mktemp("simple"))
    service.open_desk("small", 0, schema=None, features=["score"], epsilon=0.2)
    service.token("Kim", ["review"])
    return service


def test_it_stops_by_itself(page: Page, simple: Serving, tmp_path: Path) -> None:
    """Nobody to ask about is said; after few answers on people who differ in one number it is over, and says why."""
    simple.start()
    try:
        enter(page, simple, "Kim", "/interview/small")
        expect(page.locator("#ending-title")).to_have_text("There is nobody to ask about yet")
        (tmp_path / "people.csv").write_text("score\n" + "".join(f"{i / 10}\n" for i in range(10)))
        page.get_by_label("A CSV file").set_input_files(tmp_path / "people.csv")
        page.get_by_role("button", name="Use these people").click()
        expect(page.locator("#people-now")).to_have_text("It asks about 10 people now.")
        for _ in range(60):
            pair_or_end(page)
            if page.locator("#ending:not([hidden])").count():
                break
            gap = float(page.locator("#gap").inner_text().split()[0]) / 100
            left, right = (float(text.split()[0]) for text in page.locator("tr.differs td.side").all_inner_texts())
            _answer(page, "u" if gap > abs(left - right) * 0.8 else "a")
        expect(page.locator("#ending-title")).to_have_text("The interview is over")
        expect(page.locator("#ending")).to_contain_text("It stopped by itself")
    finally:
        simple.stop()
