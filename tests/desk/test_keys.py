"""Idempotency keys belong to the actor who used them, and may end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Decide, Desk, Ledger
from evenhand.desk.imports.importing import import_jsonl
from evenhand.errors import IdempotencyConflict
from evenhand.ledger.verify import to_jsonl, verify
from tests.support.desk_play import D, done, people


def test_actors_have_keys_of_their_own(durable_ledger: Ledger, name: str) -> None:
    """In one batch, in the next, and in another process: each gets the own event back."""
    rng = np.random.default_rng(0)
    asked = [Decide(people(rng), actor=actor, idempotency_key="k") for actor in ("intake", "night shift")]
    with Desk.open(durable_ledger, name, n_features=D) as desk:
        first = done(desk.execute([*asked, *asked]))
        assert first[:2] == first[2:]
        assert first[0] != first[1]
        with Desk.open(durable_ledger, name) as other:
            assert done(other.execute(asked)) == first[:2]
            (refused,) = other.execute([Decide(people(rng), actor="intake", idempotency_key="k")])
            assert isinstance(refused, IdempotencyConflict)
        assert verify(durable_ledger, name).decisions == 2


def test_a_key_ends_for_whoever_says_so(ledger: Ledger, name: str) -> None:
    """Programs that say nothing keep their keys for good; the newest event of a key counts."""
    rng = np.random.default_rng(0)
    same, other = people(rng), people(rng)
    with Desk.open(ledger, name, n_features=D) as desk:
        first = desk.decide(same, idempotency_key="k").event
        (second,) = done(desk.execute([Decide(other, idempotency_key="k", key_lifetime=0.0)]))
        assert second.seq > first.seq
        assert desk.decide(other, idempotency_key="k").event == second
        assert done(desk.execute([Decide(other, idempotency_key="k", key_lifetime=3600.0)])) == [second]
        with pytest.raises(IdempotencyConflict):
            desk.decide(same, idempotency_key="k")


def test_what_was_imported_is_known_whoever_imports_it_again(played: Desk, tmp_path: Path) -> None:
    """Under another name it adds nothing; nor does a key that somebody took before the import stop it."""
    file = tmp_path / "loans.jsonl"
    file.write_text("".join(f"{line}\n" for line in to_jsonl(played.ledger, played.name)))
    outcome = played.events(kinds=["outcome"])[0].id
    with Desk.open("memory:", "new", n_features=D) as desk:
        desk.answer([0.5, 0, 0], [0, 0.5, 0], gap=0.2, unfair=True, actor="Mal", idempotency_key=f"import-{outcome}")
        first = import_jsonl(desk, file, actor="Ada")
        assert not first.refused
        assert first.added
        again = import_jsonl(desk, file, actor="Bea")
        assert (again.added, again.known, again.refused) == (0, first.added, [])
