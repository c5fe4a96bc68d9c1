"""Candidates that the door reads and packs for the office are those that the desk would have read itself."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.desk.candidates import read_candidates, with_contexts
from evenhand.desk.commands import Decide
from evenhand.desk.parsed_command import Wish
from evenhand.desk.settings import DeskSettings
from evenhand.service.asked import Packed
from tests.support.running_service import Asking

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=6))
def test_packed_candidates_are_the_same_to_the_bit_and_have_the_same_fingerprint(rows: list[list[float]]) -> None:
    """On the other side stand the same ids and numbers; a key sent by either way is the same command."""
    settings = DeskSettings.create(n_features=3)
    entries = [{"id": f"p{i}", "context": row} for i, row in enumerate(rows)]
    candidates = with_contexts(entries)
    assert candidates is not None
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(Packed.of(candidates)), type=Packed).candidates()
    plain = read_candidates(entries, settings)
    assert sent.ids == plain.ids
    assert np.array_equal(np.signbit(sent.contexts), np.signbit(plain.contexts))
    assert np.array_equal(sent.contexts, plain.contexts)
    prints = [Wish.of(Decide(given, idempotency_key="k"), settings).fingerprint for given in (entries, sent)]
    assert prints[0] == prints[1]


def test_what_is_no_table_with_good_ids_is_left_to_the_desk() -> None:
    """Rows of different lengths, ids twice or unprintable, features: none of them is packed."""
    odd: list[list[dict[str, Any]]] = [
        [{"id": "a", "context": [0.1]}, {"id": "b", "context": [0.1, 0.2]}],
        [{"id": "a", "context": [0.1]}, {"id": "a", "context": [0.2]}],
        [{"id": "a\n", "context": [0.1]}],
        [{"id": "a", "context": [0.1]}, {"id": "b", "features": {"x": 0.1}}],
        [{"id": "a", "context": [0.1]}, {"id": "b", "context": [0.1], "features": {"x": 0.1}}],
    ]
    assert [with_contexts(entries) for entries in odd] == [None] * len(odd)


def test_what_is_wrong_with_candidates_is_said_in_the_same_words_as_before(ask: Asking) -> None:
    """Whatever the door or the office finds is a 422 that names it, and no decision is made."""
    for candidates, words in (
        ([{"id": "a", "context": [0.1, 0.2]}, {"id": "b", "context": [0.1]}], "contexts must be"),
        ([{"id": "a", "context": [0.1, 0.2]}, {"id": "a", "context": [0.2, 0.2]}], "two candidates have the id 'a'"),
        ([{"id": "a", "context": [3.0, 4.0]}], "candidate 0 has a context of norm 5"),
        ([{"id": "a", "context": [0.1, "x"]}], "candidates[0].context[1] is 'x'"),
        ([{"id": "a", "context": [0.1]}], "contexts have 1 features"),
        ([{"id": "a", "context": [0.1, 0.2], "features": {"x": 1.0}}], "candidate 0 has a context and features"),
        ([{"id": str(i), "context": [0.0, 0.0]} for i in range(501)], "there are 501 candidates"),
    ):
        answer = ask("POST", "/api/desks/loans/decisions", {"candidates": candidates})
        assert answer.status_code == 422
        assert words in answer.json()["detail"]
    assert ask.decide()["number"] == 0
