"""Interviews and erased people: who is erased is not asked about, and answers about them are gone."""

from __future__ import annotations

import pytest

from evenhand.desk import Desk
from evenhand.errors import Erased
from evenhand.review._interview_people import known_people
from evenhand.review.interview_sessions import InterviewSessions

CSV = "id,a,b\nwanda,0.9,0.1\nbob,0.1,0.9\ncleo,0.5,0.5\ndan,0.2,0.3\n"


@pytest.mark.parametrize("uploaded", [True, False])
def test_an_interview_forgets(uploaded: bool) -> None:
    """Answers carry the ids of their people; an erased person leaves the list, and the answers about them."""
    with Desk.open("memory:", "loans", features=["a", "b"], seed=1) as desk:
        desk.project_in_background()
        interviewing = InterviewSessions(desk)
        if uploaded:
            assert interviewing.upload_people(CSV) == 4
        else:
            rows = [line.split(",") for line in CSV.splitlines()[1:]]
            desk.decide([{"id": name, "features": {"a": float(a), "b": float(b)}} for name, a, b in rows])
        question = interviewing.next("Kim")
        content = interviewing.decrypt(question["item"], "Kim")
        assert len(set(content["people"])) == 2
        command = interviewing.command(content, "unfair", {"note": "a note"})
        (event,) = desk.execute([command])
        assert not isinstance(event, Exception)
        interviewing.answered(content, "unfair", event.id)
        desk.catch_up(wait=True)
        assert desk.projection.history.taught == 1
        gone = content["people"][0]
        desk.erase(gone)
        desk.catch_up(wait=True)
        assert desk.event(event.id).body["circumstances"] is None
        assert desk.projection.history.taught == 0
        people = known_people(desk.ledger, "loans", desk.settings)
        assert people.ids is not None
        assert sorted(people.ids) == sorted({"wanda", "bob", "cleo", "dan"} - {gone})
        following = interviewing.decrypt(interviewing.next("Kim")["item"], "Kim")
        assert gone not in following["people"]
        with pytest.raises(Erased):  # a page that was open meanwhile
            desk.answer(content["x"], content["y"], gap=0.3, unfair=True, people=content["people"])
