"""The metric for people: the numbers of the learner, in JSON, with or without names."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from evenhand.desk import Desk
from evenhand.desk.projection.projection import Projection
from evenhand.desk.settings import DeskSettings
from evenhand.review.review_book import ReviewBook
from evenhand.service.dashboard.overview import Overview, metric_part, reviewers_part
from tests.support.dashboard_past import SETTINGS, judged, play


def test_bars_and_words_are_the_schemas() -> None:
    """Every feature in the schema's order, with the distance and ends that the schema's explanation has."""
    with Desk.open("memory:", "loans", **SETTINGS) as desk:
        play(desk, 15)
        desk.catch_up(wait=True)
        part = metric_part(desk.projection, desk.settings)
        explained = desk.projection.bandit.explain(SETTINGS["schema"])
        assert [effect["name"] for effect in part["effects"]] == list(SETTINGS["schema"].names)
        for effect in part["effects"]:
            distance = explained[effect["name"]].distance
            assert (effect["value"], effect["lower"]) == (distance.value, distance.lower)
            assert effect["upper"] is None or effect["upper"] == distance.upper
        assert part["sentences"] == list(explained.sentences)
        assert part["coordinates"] == [*SETTINGS["schema"].names]
        assert len(part["matrix"]) == len(part["matrix"][0]) == len(part["coordinates"])


@pytest.mark.parametrize("settings", [{"n_features": 3}, {"features": ["age", "income"]}])
@pytest.mark.parametrize("metric", ["BayesPoint", "Ellipsoid"])
def test_without_a_schema(settings: dict[str, object], metric: str) -> None:
    """A bar and a sentence for each coordinate, and nothing JSON cannot hold, on a desk that knows nothing yet."""
    with Desk.open("memory:", "loans", seed=1, metric=metric, epsilon=0.1, **settings) as desk:
        part = orjson.loads(orjson.dumps(metric_part(desk.projection, desk.settings)))
        assert len(part["effects"]) == desk.settings.n_features == len(part["coordinates"])
        names = settings.get("features") or ["feature 1", "feature 2", "feature 3"]
        assert isinstance(names, list)
        for name in names:
            assert any(f" {name} " in f" {sentence} " for sentence in part["sentences"])
        assert all(effect["value"] is not None for effect in part["effects"])


def test_parts_are_made_when_they_may_be_another() -> None:
    """A decision changes the desk's part alone; a review changes the metric's and the reviewers' too."""
    with Desk.open("memory:", "loans", **SETTINGS) as desk:
        overview = Overview(desk)
        play(desk, 4)
        desk.catch_up(wait=True)
        first = overview.since(None)
        assert set(first) == {"version", "desk", "metric", "reviewers"}
        assert set(overview.since(first["version"])) == {"version"}
        decision = desk.decide([{"id": "x", "context": [0.0] * 5}, {"id": "y", "context": [0.2] * 5}])
        desk.catch_up(wait=True)
        second = overview.since(first["version"])
        assert set(second) == {"version", "desk"}
        assert second["desk"]["latest"][0]["id"] == decision.id
        desk.review(decision.id, "partial", unfair=[("x", "y")], reviewer="Kim")
        desk.catch_up(wait=True)
        third = overview.since(second["version"])
        assert set(third) == {"version", "desk", "metric", "reviewers"}
        assert third["desk"]["latest"][0]["flagged"]
        assert "Kim" in [person["name"] for person in third["reviewers"]["people"]]


def test_what_takes_long_is_computed_once_and_then_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many look; after a review viewers get what there was for a while, but never less than they had."""
    made: list[int] = []

    def counted(projection: Projection, settings: DeskSettings) -> dict[str, Any]:
        made.append(projection.history.news)
        return {"state": projection.seq}

    monkeypatch.setattr("evenhand.service.dashboard.overview.metric_part", counted)
    monkeypatch.setattr("evenhand.service.dashboard.overview.SLOW_SECONDS", -1.0)
    monkeypatch.setattr("evenhand.service.dashboard.overview.REST", 1e9)
    with Desk.open("memory:", "loans", **SETTINGS) as desk:
        play(desk, 1)
        overview = Overview(desk)
        first = overview.since(None)
        assert overview.since(None) == first
        assert len(made) == 1
        play(desk, 1, seed=1)
        assert overview.since(None)["metric"] == first["metric"]
        assert set(overview.since(first["version"])) == {"version", "desk"}
        newer = f"0.0.{desk.projection.history.news}"  # as another process has shown it
        assert set(overview.since(newer)) == {"version", "desk"}
        assert made == [made[0], desk.projection.history.news]
        play(desk, 1, seed=2)
        monkeypatch.setattr("evenhand.service.dashboard.overview.REST", 0.0)
        assert overview.since(None)["metric"]["state"] == desk.projection.seq


def test_viewers_do_not_wait_for_what_is_being_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has something to look at gets that."""
    begun, go = threading.Event(), threading.Event()

    def held(projection: Projection, settings: DeskSettings) -> dict[str, Any]:
        begun.set()
        go.wait(60)
        return {"state": projection.seq}

    with Desk.open("memory:", "loans", **SETTINGS) as desk, ThreadPoolExecutor(1) as other:
        play(desk, 1)
        overview = Overview(desk)
        first = overview.since(None)
        play(desk, 1, seed=1)
        monkeypatch.setattr("evenhand.service.dashboard.overview.metric_part", held)
        slow = other.submit(overview.since, None)
        begun.wait(60)
        assert overview.since(None)["metric"] == first["metric"]
        go.set()
        assert slow.result(60)["metric"] == {"state": desk.projection.seq}


def test_reviewers_are_counted_without_what_was_taken_back() -> None:
    """Answers of each person that stand, against a count of the ledger; error rates are the bandit's."""
    with Desk.open("memory:", "loans", **SETTINGS) as desk:
        play(desk, 30)
        desk.catch_up(wait=True)
        reviewers = Overview(desk).since(None)["reviewers"]
        events = desk.events(limit=10_000)
        gone = {event.body["review"] for event in events if event.kind == "withdrawal"}
        reviews = [event for event in events if event.kind == "review"]
        for person in reviewers["people"]:
            mine = [event for event in reviews if event.body["reviewer"] == person["name"]]
            counted = [event.body for event in mine if event.id not in gone]
            assert person["unfair"] == sum(len(body["unfair"]) for body in counted)
            assert person["acceptable"] == sum(len(body["fair"]) for body in counted)
            assert person["error"]["rate"] == desk.projection.bandit.reviewers()[person["name"]].error_rate
        assert reviewers["errors_are_learned"]


def test_somebodys_first_answer_may_come_while_reviewers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread reads it into the book that all views share."""
    standing = ReviewBook.standing
    with Desk.open("memory:", "loans", n_features=2, seed=1) as desk:
        made = desk.decide([[0.9, 0.0], [0.0, 0.9]])
        book = ReviewBook(desk.ledger, desk.name)

        def meanwhile(self: ReviewBook, reviewer: str | None = None) -> Any:
            if not self.reviewers():
                desk.review(made.id, "partial", fair=[("0", "1")], reviewer="Ana")
                book.refresh()
            return standing(self, reviewer)

        monkeypatch.setattr(ReviewBook, "standing", meanwhile)
        part = reviewers_part(book, desk.projection, desk.settings)
        assert [(one["name"], one["acceptable"]) for one in part["people"]] == [("Ana", 1)]


def test_reviews_given_over_http_count() -> None:
    """Complete and one-bit reviews and answers of interviews are work too, and complete ones agree or differ."""
    with Desk.open("memory:", "loans", n_features=2, seed=1) as desk:
        made = [desk.decide([[0.9, 0.0], [0.0, 0.9], [0.5, 0.5]]) for _ in range(3)]
        desk.review(made[0].id, "complete", unfair=[("0", "1")], reviewer="Kim")
        desk.review(made[0].id, "complete", unfair=[("0", "1"), ("1", "2")], reviewer="Lee")
        desk.review(made[1].id, "one_bit", any_unfair=False, reviewer="Kim")
        gone = desk.review(made[2].id, "complete", reviewer="Kim")
        desk.withdraw(gone.id, actor="Kim")
        desk.answer([0.9, 0.0], [0.0, 0.9], gap=0.3, unfair=None, reviewer="Ana")
        desk.catch_up(wait=True)
        reviewers = Overview(desk).since(None)["reviewers"]
    people = {person["name"]: person for person in reviewers["people"]}
    assert set(people) == {"Kim", "Lee", "Ana"}
    seen = {
        name: [one[key] for key in ("answers", "unfair", "acceptable", "withdrawn")] for name, one in people.items()
    }
    assert seen == {"Kim": [2, 1, 1, 1], "Lee": [1, 2, 0, 0], "Ana": [1, 0, 0, 0]}
    assert people["Ana"]["unsure"] == 1
    (two,) = reviewers["agreement"]["between"]
    assert (two["pairs"], two["same"]) == (3, 2)


@pytest.mark.parametrize("metric", ["Score", "auto", "BayesPoint"])
def test_each_reviewer_is_compared_with_the_others(metric: str) -> None:
    """Softness, lapses, deviation and agreement are the bandit's; a desk that models nobody one by one has no panel."""
    with Desk.open("memory:", "loans", n_features=2, seed=1, metric=metric, reviewer_error=None) as desk:
        judged(desk, 60 if metric == "Score" else 20)  # a panel needs some answers
        desk.catch_up(wait=True)
        reports = desk.projection.bandit.reviewers()
        part = orjson.loads(orjson.dumps(Overview(desk).since(None)["reviewers"]))
    assert part["errors_are_learned"]
    assert part["panel_is_learned"] == (metric == "Score")
    for person in part["people"]:
        report, error = reports[person["name"]], person["error"]
        known = (error["softness"], error["deviation"], error["agreement"])
        assert known == (report.softness, report.deviation, report.agreement)
    if metric == "Score":
        assert all(person["error"]["agreement"] > 0.5 for person in part["people"])
        assert all(person["error"]["deviation"] is not None for person in part["people"])
