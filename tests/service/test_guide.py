"""The requests that the guide of the service prints are taken as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.running_service import Asking

GUIDE = Path(__file__).parents[2] / "docs" / "service.md"
PRINTED = re.findall(r"```http\n(\w+) (\S+)\n(?:\n(.*?)\n)?```", GUIDE.read_text(), flags=re.DOTALL)
PEOPLE = {"a17": [0.3, 0.1], "b04": [0.5, 0.4], "c11": [0.1, 0.6]}


def test_the_guide_shows_every_body() -> None:
    """Outcomes, overrides, reviews of all kinds, answers and settings."""
    shown = {path.rsplit("/", 1)[1] for _, path, _ in PRINTED}
    assert {"outcomes", "overrides", "reviews", "answers", "settings"} <= shown
    kinds = re.findall(r'"kind": "(\w+)"', "".join(body for *_, body in PRINTED))
    assert set(kinds) == {"complete", "partial", "one_bit", "ratings", "comparisons"}


@pytest.mark.parametrize("printed", PRINTED, ids=lambda printed: f"{printed[0]} {printed[1].rsplit('/', 1)[1]}")
def test_a_printed_request_is_taken(ask: Asking, printed: tuple[str, str, str]) -> None:
    """With the ids of a decision and of a review in their places, each is answered with success."""
    method, path, body = printed
    while True:  # until the lottery draws the one whom the guide speaks of
        people = [{"id": name, "context": context} for name, context in PEOPLE.items()]
        made = ask("POST", "/api/desks/loans/decisions", {"candidates": people}).json()
        if made["chosen"] == ["a17"]:
            break
    about = f"/api/desks/loans/decisions/{made['id']}/reviews"
    review = ask("POST", about, {"kind": "partial", "unfair": [["b04", "c11"]]}).json()
    filled = [text.replace("{decision}", made["id"]).replace("{review}", review["id"]) for text in (path, body)]
    headers = {"Content-Type": "application/json"} if body else {}
    answer = ask(method, filled[0], content=filled[1].encode(), headers=headers)
    assert answer.status_code == (201 if method == "POST" else 200), answer.text
