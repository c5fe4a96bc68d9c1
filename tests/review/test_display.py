"""What reviewers see of candidates whose contexts no schema made."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.desk import Desk
from evenhand.desk.settings import DeskSettings
from evenhand.review._interview_people import known_people
from evenhand.review.display import MINUS, features_of_contexts, rows_of
from evenhand.review.interview_sessions import InterviewSessions
from evenhand.review.review_sessions import ReviewSessions
from evenhand.schema import Category, Number, Schema

SCHEMA = Schema([Number("income", low=0, high=100_000, unit="EUR"), Category("purpose", levels=("car", "home"))])
FIT = {"income": 50_000.0, "purpose": "car"}


def raw(number: int) -> list[dict[str, object]]:
    """Four candidates given as contexts that are nobody's features."""
    rng = np.random.default_rng(number)
    contexts = rng.uniform(-0.4, 0.4, (4, SCHEMA.n_features)).tolist()
    return [{"id": f"p{number}-{i}", "context": context} for i, context in enumerate(contexts)]


def shown_pair(desk: Desk) -> dict[str, dict[str, object]]:
    """The rows of the pair before a reviewer, by name; its answer can be recorded."""
    desk.catch_up(wait=True)
    reviewing = ReviewSessions(desk)
    item = reviewing.next("Kim")
    assert item is not None
    rows = {row["name"]: row for row in reviewing.display(item)["rows"]}
    reported = reviewing.command(item, "unfair", {}).circumstances
    assert reported is not None
    assert reported["shown"] == list(rows)
    return rows


def test_contexts_that_are_nobodys_features_are_shown_by_coordinate() -> None:
    """A pair of them can be reviewed: every coordinate has its name, says that it is encoded, and has no unit."""
    with Desk.open("memory:", "loans", schema=SCHEMA, seed=1) as desk:
        made = [desk.decide(raw(number)) for number in range(4)]
        rows = shown_pair(desk)
        assert set(rows) == {f"{name} (encoded)" for name in SCHEMA.coordinates}
        assert all("EUR" not in str(row["left"]) for row in rows.values())
        body = desk.event(made[0].id).body
        assert list(features_of_contexts(body["contexts"], desk.settings)[0].values()) == body["contexts"][0]


def test_coordinates_of_a_hidden_feature_are_hidden() -> None:
    """Hiding an attribute hides it in whatever form it would be shown."""
    with Desk.open("memory:", "loans", schema=SCHEMA, seed=1, reviewing={"hidden": ["purpose"]}) as desk:
        for number in range(4):
            desk.decide(raw(number))
        assert not [name for name in shown_pair(desk) if "purpose" in name]


@pytest.mark.parametrize("encoded", [True, False])
def test_an_interview_shows_two_people_by_the_same_rows(encoded: bool) -> None:
    """Where some people are nobody's features, all are shown by coordinates; else all in words."""
    with Desk.open("memory:", "loans", schema=SCHEMA, seed=1) as desk:
        if encoded:
            desk.decide(raw(0))
        other = {"income": 10_000.0, "purpose": "home"}
        desk.decide([{"id": "a", "features": FIT}, {"id": "b", "features": other}])
        rows = known_people(desk.ledger, desk.name, desk.settings).rows
        assert len({frozenset(row) for row in rows}) == 1
        assert ("income (encoded)" in rows[0]) == encoded
        assert ("income" in rows[0]) != encoded
        desk.catch_up(wait=True)
        assert InterviewSessions(desk).next("Kim")["item"] is not None


def decide_about_many(desk: Desk) -> None:
    """Decisions about people with features a and b, far enough from each other for an interview to have questions."""
    rng = np.random.default_rng(3)
    for _ in range(6):
        people = rng.uniform(-0.7, 0.7, (4, 2)).tolist()
        desk.decide([{"id": str(i), "features": {"a": a, "b": b}} for i, (a, b) in enumerate(people)])
    desk.catch_up(wait=True)


def test_an_interview_hides_what_the_desk_hides() -> None:
    """In its rows; the record says what was shown and what was not, and who stood on the left."""
    with Desk.open("memory:", "loans", features=["a", "b"], seed=5, reviewing={"hidden": ["b"]}) as desk:
        decide_about_many(desk)
        interviewing = InterviewSessions(desk)
        question = interviewing.next("Kim")
        assert [row["name"] for row in question["rows"]] == ["a"]
        assert question["withheld"] is True
        content = interviewing.decrypt(question["item"], "Kim")
        desk.change_settings(reviewing={})
        stated = interviewing.command(content, "unfair", {})
        reported = stated.circumstances or {}
        assert (reported["shown"], reported["hidden"]) == (["a"], ["b"])
        left = {"x": stated.x, "y": stated.y}[reported["left"]]
        assert float(question["rows"][0]["left"].replace(MINUS, "-")) == pytest.approx(left[0], abs=1e-4)


def test_an_interview_draws_sides_at_random() -> None:
    """Who comes first in the list of people stands now on the left, now on the right; asked again, where they stood."""
    with Desk.open("memory:", "loans", features=["a", "b"], seed=5) as desk:
        decide_about_many(desk)
        interviewing, lefts = InterviewSessions(desk), set()
        for number in range(12):
            question = interviewing.next(f"reviewer {number}")
            again = interviewing.next(f"reviewer {number}")
            assert (question["rows"], question["probabilities"]) == (again["rows"], again["probabilities"])
            content = interviewing.decrypt(question["item"], f"reviewer {number}")
            side = "xy".index(content["left"])
            assert question["probabilities"][0] == content["question"]["probabilities"][side]
            lefts.add(content["left"])
        assert lefts == {"x", "y"}


@pytest.mark.parametrize(
    ("left", "right", "more"),
    [
        (20_000.0, 23_200.0, {"side": "right", "by": "3,200"}),
        (0.3, 0.1, {"side": "left", "by": "0.2"}),
        (0.12345678, 0.5, {"side": "right", "by": "0.3765"}),  # of what is shown: 0.1235 and 0.5
        (0.123451, 0.123452, {"side": "right", "by": "0.000001"}),
        (7.0, 7.0, None),
        (None, 3.0, None),
        (True, False, None),
        ("car", "home", None),
    ],
)
def test_a_difference_of_numbers_is_shown(left: object, right: object, more: dict[str, str] | None) -> None:
    """Who has more and by how much, such that whoever subtracts what is shown finds it; of all else nothing."""
    (row,) = rows_of({"a": left}, {"a": right}, DeskSettings.create(features=["a"]), [])
    assert row["more"] == more
    if more is not None:
        shown = [float(str(row[side]).replace(",", "")) for side in ("left", "right")]
        assert abs(shown[0] - shown[1]) == pytest.approx(float(more["by"].replace(",", "")))


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        (-0.1065, 2.0, [f"{MINUS}0.1065", "2"]),
        (-51_500.0, -1.0, [f"{MINUS}51,500", f"{MINUS}1"]),
        (-0.123451, -0.123452, [f"{MINUS}0.123451", f"{MINUS}0.123452"]),
        ("-5", "non-smoker", ["-5", "non-smoker"]),
    ],
)
def test_numbers_below_zero_have_a_minus_sign(left: object, right: object, shown: list[str]) -> None:
    """Not a hyphen, also where they are written in full; what is no number stays as it was written."""
    (row,) = rows_of({"a": left}, {"a": right}, DeskSettings.create(features=["a"]), [])
    assert [row["left"], row["right"]] == shown


def test_no_difference_is_shown_of_encoded_coordinates() -> None:
    """They are in nobody's units: how much more of one is there says nothing."""
    with Desk.open("memory:", "loans", schema=SCHEMA, seed=1) as desk:
        for number in range(4):
            desk.decide(raw(number))
        assert all(row["differs"] and row["more"] is None for row in shown_pair(desk).values())
