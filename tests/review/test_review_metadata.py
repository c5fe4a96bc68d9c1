"""What a reviewer saw, how and when: one vocabulary, checked, wherever a review comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenhand.desk import AnswerQuestion, Desk, Event, GiveReview, Ledger
from evenhand.desk.event_records import answers_in
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.ledger.event import canonical
from evenhand.records.review_metadata import ANSWERS, NAMES
from evenhand.review.review_book import ReviewBook
from evenhand.review.review_sessions import ReviewSessions
from evenhand.service.request_models import ReviewRequest
from tests.support.desk_play import QUICK, people

SEEN: dict[str, Any] = {
    "sides": {"left": "person 1", "right": "person 0"},
    "shown": ["income"],
    "hidden": ["gender"],
    "ids_shown": False,
    "probabilities": {"person 0": 0.5, "person 1": 0.1},
    "queue": {"reason": "random control", "place": 1},
    "answer": "unfair",
    "reason": "same income",
    "note": "see file 7",
    "started": "2026-11-05T10:00:00+01:00",
    "ended": "2026-11-05T09:00:41Z",
    "instruction": "paper form 3",
}


@pytest.fixture
def decision() -> Any:
    """A desk's decision about four people."""
    with Desk.open("memory:", "loans", **QUICK, seed=1) as desk:
        made = desk.decide(people(np.random.default_rng(0)))
        yield desk, made.id


def test_a_review_from_elsewhere_is_recorded_as_those_of_the_page(ledger: Ledger, name: str) -> None:
    """All that the page notes of a pair can be sent by name, and stands under the same names, of the same kinds."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        made, _ = (desk.decide(people(np.random.default_rng(0))) for _ in range(2))
        reported = desk.review(made.id, "partial", unfair=[("person 0", "person 1")], reviewer="Kim", **SEEN).body
        reviewing = ReviewSessions(desk)
        item = reviewing.next("Lee")
        assert item is not None
        remarks = {"reason": "x", "note": "y", "started": "2026-11-05T09:00Z", "ended": "2026-11-05T09:01Z"}
        command = reviewing.command(item, "unsure", {**remarks, "seconds": 60.0})
        (page,) = desk.execute([command])
        assert isinstance(page, Event)
        of_page, of_desk = page.body["circumstances"], reported["circumstances"]
        assert set(of_page) - set(of_desk) == {"item"}
        assert set(of_desk) <= set(of_page)
        for known in of_desk:
            assert type(of_page[known]) is type(of_desk[known]), known
        assert of_desk["pair"] == ["person 1", "person 0"]
        assert of_desk["seconds"] == 41.0
        assert of_desk["started"] == "2026-11-05T10:00:00+01:00"


def test_the_service_has_the_same_names() -> None:
    """The body of a review over HTTP has a field for each, and takes the same answers."""
    assert set(NAMES) <= set(ReviewRequest.model_fields)
    assert set(SEEN) | {"pair"} == set(NAMES)
    for answer in ANSWERS:
        assert ReviewRequest.model_validate({"kind": "partial", "answer": answer}).metadata() == {"answer": answer}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"pair": ["person 0"]}, "pair must be"),
    ({"pair": ["person 0", "person 0"]}, "two different"),
    ({"pair": ["person 0", "person 9"]}, "must be about candidates"),
    ({"pair": [["person 0"], ["person 1"]]}, "pair must be"),
    ({"sides": {"left": "person 0"}}, "sides must be"),
    ({"pair": ["person 0", "person 1"], "sides": {"left": "person 2", "right": "person 1"}}, "sides must be the two"),
    ({"shown": "income"}, "a list of attributes"),
    ({"shown": ["income"], "hidden": ["income"]}, "either shown or hidden"),
    ({"ids_shown": "no"}, "true or false"),
    ({"probabilities": {"person 0": 1.5}}, "from 0 to 1"),
    ({"probabilities": {"person 9": 0.5}}, "must be about candidates"),
    ({"queue": "first"}, "queue must be"),
    ({"queue": {"place": "first"}}, "queue must be"),
    ({"queue": {"why": "because"}}, "queue must be"),
    ({"answer": "perhaps"}, "one of unfair"),
    ({"answer": "unfair"}, "in a partial review"),
    ({"answer": "acceptable", "pair": ["person 0", "person 1"]}, "unfair must be empty"),
    ({"answer": "unfair", "pair": ["person 0", "person 2"]}, "alone with answer"),
    ({"reason": 7}, "reason must be text"),
    ({"note": "x" * 2001}, "up to 2000"),
    ({"started": "yesterday"}, "ISO 8601"),
    ({"started": "2026-11-05T10:00:00"}, "time zone"),
    ({"instruction": 2}, "instruction must be text"),
    ({"repeat": "yes"}, "true or false"),
    ({"again_of": []}, "id of a review"),
    ({"seconds": "41"}, "seconds must be"),
]


@pytest.mark.parametrize(("stated", "sentence"), WRONG)
def test_what_does_not_fit_is_refused(decision: Any, stated: dict[str, Any], sentence: str) -> None:
    """By name or in free metadata, with a sentence that names it; nothing is recorded."""
    desk, made = decision
    before, pairs = desk.head, [("person 0", "person 1")]
    (refused,) = desk.execute([GiveReview(made, "partial", pairs, circumstances=stated)])
    assert isinstance(refused, InvalidInput)
    assert sentence in str(refused)
    if set(stated) <= set(NAMES):
        with pytest.raises(InvalidInput, match=sentence):
            desk.review(made, "partial", unfair=pairs, **stated)
    assert desk.head == before


def test_an_unknown_or_repeated_field_is_refused(decision: Any) -> None:
    """A name that is no name, one sent in both places, an end before the beginning; free metadata stay free."""
    desk, made = decision
    with pytest.raises(InvalidInput, match="unknown review metadata shwon"):
        desk.review(made, shwon=["income"])
    with pytest.raises(InvalidInput, match="shown must be passed once"):
        desk.review(made, shown=["income"], circumstances={"shown": ["income"]})
    with pytest.raises(InvalidInput, match="before started"):
        desk.review(made, started="2026-11-05T10:00Z", ended="2026-11-05T09:00Z")
    kept = desk.review(made, shown=["income"], circumstances={"weather": {"rain": [1]}}).body["circumstances"]
    assert kept == {"shown": ["income"], "weather": {"rain": [1]}}
    assert desk.review(made, "one_bit", any_unfair=False).body["circumstances"] is None


def test_an_answer_of_an_interview_is_checked_too(decision: Any) -> None:
    """What its line says of seconds and of the answer is counted with the others."""
    desk, _ = decision
    stated = ([0.1, 0, 0], [0, 0.1, 0], 0.3, None, "Kim")
    refused, taken = desk.execute(
        [AnswerQuestion(*stated, {"seconds": "long"}), AnswerQuestion(*stated, {"seconds": 3, "answer": "skip"})]
    )
    assert isinstance(refused, InvalidInput)
    assert isinstance(taken, Event)


def test_a_first_ledger_that_took_anything_is_still_read(decision: Any) -> None:
    """A line with circumstances of another kind is a review like any other; the book of reviews goes on."""
    desk, made = decision
    recorded = desk.review(made, "partial", unfair=[("person 0", "person 1")], reviewer="Kim")
    with desk.ledger.reading("loans") as view:
        row = view.by_id([recorded.id])[recorded.id]
    content = {
        **recorded.content,
        "body": {**recorded.body, "circumstances": {"answer": "unfair", "pair": 3, "queue": 4}},
    }
    old = row._replace(text=canonical(content))
    assert [(one.answer, sorted(one.pair)) for one in answers_in(old)] == [("unfair", ["person 0", "person 1"])]


@pytest.mark.parametrize("answer", ["unsure", "skip", "conflict"])
def test_a_review_from_elsewhere_reaches_the_queue(ledger: Ledger, name: str, answer: str) -> None:
    """Whoever is unsure was asked, and the pair waits no more; what is declined waits on, for others."""
    with Desk.open(ledger, name, **QUICK, seed=1) as desk:
        desk.decide(people(np.random.default_rng(0)))
        desk.catch_up(wait=True)
        (first,) = desk.queue(1, reviewer="Kim")
        both = (first.first, first.second)
        desk.review(first.decision, "partial", pair=both, answer=answer, reviewer="Kim")
        desk.catch_up(wait=True)
        waiting = [[(one.first, one.second) for one in desk.queue(100, reviewer=who)] for who in ("Kim", "Lee")]
        assert [both in found for found in waiting] == [False, answer != "unsure"]
        book = ReviewBook(ledger, name)
        book.refresh()
        assert [one.answer for one in book.standing("Kim")] == [answer]


def test_a_command_that_cannot_be_read_takes_no_other_with_it(decision: Any) -> None:
    """Of two reviews in one batch the one that fits is recorded."""
    desk, made = decision
    bad, good = desk.execute([GiveReview(made, circumstances={"queue": 4}), GiveReview(made, reviewer="Kim")])
    assert isinstance(bad, EvenhandError)
    assert isinstance(good, Event)
