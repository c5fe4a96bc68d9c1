"""The interview: hypothetical chances, a meter, an end by itself; put down and taken up again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evenhand.review.display import MINUS
from tests.support.local_service import LocalService
from tests.support.serving import Serving
from tests.support.steps import enter, pair_or_end, ready

pytestmark = pytest.mark.browser

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
    expect(page.locator("#expected")).to_contain_text("Expected unfair pairs")
    full = page.locator("#expected-value").inner_text().split(" of ")[1]
    expect(page.locator("#meters-fold p")).to_be_visible()
    expect(page.locator("#meters-fold p")).to_contain_text("unfair by more than 5 points in the next 300 decisions")
    expect(page.locator("#meters-fold p")).to_contain_text(f"The full bar, {full}, is what was expected")
    expect(page).to_have_title("Interview · loans · evenhand")
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
    gap_before = _gap(page)
    unknown = _unknown(page)
    assert unknown < before
    page.reload()
    ready(page)
    assert _gap(page) == gap_before
    answers = serving.events("answer")
    assert len(answers) == 14
    assert len(serving.events("withdrawal")) == 1
    assert {event["body"]["reviewer"] for event in answers} == {"Ada"}
    serving.stop()
    serving.start()
    page.reload()
    ready(page)
    assert abs(_unknown(page) - unknown) <= 5


def test_undo_works_after_a_restart(page: Page, serving: Serving) -> None:
    """The service that was answered is gone; the one that is there now asks the undone question again."""
    enter(page, serving, "Zoe", "/interview/loans")
    ready(page)
    _answer(page, "u")
    question = _gap(page)
    _answer(page, "a")
    serving.stop()
    serving.start()
    with page.expect_response(lambda response: "/interview/next" in response.url):
        page.keyboard.press("z")
    ready(page)
    expect(page.locator("#last")).to_contain_text("Here is the question again")
    assert _gap(page) == question


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
    for name, text, message in (
        (
            "wrong.csv",
            CSV.replace("car", "boat"),
            "line 4, column purpose: it must be one of 'car', 'home', 'study'",
        ),
        ("right.csv", CSV, "The interview asks about 18 people."),
    ):
        (tmp_path / name).write_text(text)
        page.get_by_label("A CSV file").set_input_files(tmp_path / name)
        page.get_by_role("button", name="Use these people").click()
        expect(page.locator("#people-form")).to_contain_text(message)


def test_what_is_left_unknown_is_not_called_enough(page: Page, serving: Serving) -> None:
    """An interview that stops because few unfair pairs are to be expected says how much is unknown, and chances of the
    lottery between the two make up 100 as they are shown."""
    meter = {"unknown": 0.61, "expected_unfair_pairs": 0.4, "expected_first": 5.0, "epsilon": 0.05, "decisions": 300}
    over = {"item": None, "meter": meter, "people": 7, "ended": "fewer than 0.5 unfair pairs", "is_live": False}
    enter(page, serving, "Max", "/interview/loans")
    for _ in range(6):
        ready(page)
        texts = page.locator(".chance-number").all_inner_texts()
        shown = [float(text.removesuffix("%")) for text in texts]
        assert len({len(text.partition(".")[2]) for text in texts}) == 1  # as many digits after the point
        assert sum(shown) == pytest.approx(100)
        assert float(page.locator("#gap").inner_text().split()[0]) == pytest.approx(max(shown) - min(shown))
        _answer(page, "n")
    page.route("**/interview/next", lambda route: route.fulfill(json=over))
    page.reload()
    forecast = "few unfair pairs are expected. 61% is still unknown and will be learned from reviews."
    expect(page.locator("#ending")).to_contain_text(forecast)
    expect(page.locator("#ending")).not_to_contain_text("knows enough")


def test_undo_reaches_over_a_reload(page: Page, serving: Serving) -> None:
    """Answers of an earlier visit are taken back one after the other, each question comes again with its note, and when
    none is left the page says so."""
    enter(page, serving, "Ola", "/interview/loans")
    ready(page)
    questions = []
    for note in ("first", "second"):
        questions.append(_gap(page))
        if not page.get_by_label("Note").is_visible():
            page.get_by_text("Add a reason or note").click()
        page.get_by_label("Note").fill(note)
        page.locator("h1").focus()
        _answer(page, "u")
    page.reload()
    ready(page)
    expect(page.locator("#last")).to_contain_text("Your last answer: unfair.")
    for question, note in zip(reversed(questions), ("second", "first"), strict=True):
        with page.expect_response(lambda response: "/interview/next" in response.url):
            page.keyboard.press("z")
        ready(page)
        expect(page.locator("#last")).to_contain_text("Here is the question again")
        assert _gap(page) == question
        expect(page.get_by_label("Note")).to_have_value(note)
    page.reload()
    ready(page)
    page.keyboard.press("Backspace")
    nothing = "Nothing to undo: you have not answered about these people."
    expect(page.locator("#last")).to_contain_text(nothing)


@pytest.fixture(scope="module")
def simple(tmp_path_factory: pytest.TempPathFactory) -> Serving:
    """A desk with two features, of which little is to be learned, and nobody decided about yet."""
    service = LocalService(tmp_path_factory.mktemp("simple"))
    service.open_desk("small", 0, schema=None, features=["score", "rank"], epsilon=0.1)
    service.token("Kim", ["review"])
    return service


def test_it_stops_by_itself(page: Page, simple: Serving, tmp_path: Path) -> None:
    """Without people the page says so; after few answers on people who differ in two numbers it ends, and says why."""
    simple.start()
    try:
        enter(page, simple, "Kim", "/interview/small")
        expect(page.locator("#ending-title")).to_have_text("There is nobody to ask about yet")
        expect(page.locator("h1")).to_have_text("Interview")
        expect(page.locator("#main .primary")).to_have_text("Use these people")
        people = "".join(f"{i / 10},{j / 10}\n" for i in range(-6, 7, 3) for j in range(-6, 7, 3))
        (tmp_path / "people.csv").write_text(f"score,rank\n{people}")
        page.get_by_label("A CSV file").set_input_files(tmp_path / "people.csv")
        page.get_by_role("button", name="Use these people").click()
        expect(page.locator("#people-now")).to_have_text("The interview asks about 25 people.")
        ready(page)
        for _ in range(100):
            if page.locator("#ending:not([hidden])").count():
                break
            gap = float(page.locator("#gap").inner_text().split()[0]) / 100
            texts = page.locator("tr.differs td.side").all_inner_texts()
            shown = [float(text.split()[0].replace(MINUS, "-")) for text in texts]
            square = sum((a - b) ** 2 for a, b in zip(shown[::2], shown[1::2], strict=True))
            _answer(page, "u" if gap > 0.8 * square**0.5 else "a")
        expect(page.locator("#ending-title")).to_have_text("The interview is over")
        expect(page.locator("#ending")).to_contain_text("It stopped by itself")
        expect(page.locator("#main .primary")).to_have_text("View the desk")
    finally:
        simple.stop()


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A desk whose decisions were about one person each, and one that has seen two people."""
    service = LocalService(tmp_path_factory.mktemp("unasked"))
    service.open_desk("single", 6, ids=["only one"])
    service.open_desk("few", 1, ids=["one", "other"], epsilon=0.5)
    service.token("Kim", ["review"])
    with service:
        yield service


def test_no_pair_no_unfair_pair(page: Page, unasked: Serving, tmp_path: Path) -> None:
    """Where each decision was about one person nothing is to be expected, and nothing asked; of people who are uploaded
    it asks."""
    enter(page, unasked, "Kim", "/interview/single")
    expect(page.locator("#ending-title")).to_have_text("No questions needed")
    expect(page.locator("#ending")).to_contain_text("there are no pairs and no unfair ones are expected")
    expect(page.locator("#ending")).not_to_contain_text("over")
    for part in ("#meters", "#meters-fold"):
        expect(page.locator(part)).to_be_hidden()
    (tmp_path / "people.csv").write_text(CSV)
    page.get_by_label("A CSV file").set_input_files(tmp_path / "people.csv")
    page.get_by_role("button", name="Use these people").click()
    ready(page)
    expect(page.locator("#meters")).to_be_visible()


def test_an_interview_begins_though_little_is_expected(page: Page, unasked: Serving) -> None:
    """A cautious desk expects few unfair pairs before it knows anything; it asks all the same."""
    enter(page, unasked, "Kim", "/interview/few")
    ready(page)
    expect(page.locator("#ending")).to_be_hidden()
