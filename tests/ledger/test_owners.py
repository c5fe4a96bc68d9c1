"""Whoever owns the database can rewrite it and recompute everything; one head that somebody kept shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from evenhand.desk import Desk, open_ledger
from evenhand.errors import DamagedLedger
from evenhand.ledger.event import now
from evenhand.ledger.ledger import SERVICE, Ledger
from evenhand.ledger.service_stream import check_tokens
from evenhand.ledger.signed_head import SignedHead
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.signing_keys import signing_key
from evenhand.ledger.verification.verify_history import verify_history
from evenhand.service.tokens import TokenStore, new_token
from tests.support.desk_play import D, play
from tests.support.owner import Owner, before, copy_of

ON_EVENTS = ("rewrite", "cut", "remove", "swap", "insert", "backdate")
ON_TOKENS = ("change_token", "plant_token")
TAMPERINGS = (*ON_EVENTS, *ON_TOKENS)


def sign_all(ledger: Ledger) -> list[SignedHead]:
    """New heads of everything."""
    heads, key = SignedHeads(ledger), signing_key(ledger)
    return [head for desk in heads.streams() if (head := heads.sign(desk, key)) is not None]


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, list[SignedHead]]:
    """A database whose desk went on after heads were signed; and these heads, as somebody kept them."""
    file = tmp_path / "ledger.db"
    with closing(open_ledger(f"sqlite:///{file}")) as ledger:
        store = TokenStore(ledger)
        for name, roles in (("owner", ["admin"]), ("intake", ["decide"]), ("kim", ["review"])):
            store.add(new_token(name, roles, ["loans"])[0])
        store.revoke("kim", now())
        with Desk.open(ledger, "loans", n_features=D, seed=1) as desk:
            play(desk, 3)
            heads = sign_all(ledger)
            play(desk, 1)
            store.add(new_token("lee", ["review"])[0])
            sign_all(ledger)
    assert sorted(head.desk for head in heads) == [SERVICE, "loans"]
    return file, heads


def verify_all(file: Path, kept: Sequence[SignedHead]) -> None:
    """All that `evenhand ledger verify` verifies."""
    with closing(open_ledger(f"sqlite:///{file}")) as ledger:
        for desk in (*ledger.names(), SERVICE):
            verify_history(ledger, desk, kept=kept)
        check_tokens(ledger)


def tamper(owner: Owner, what: str, sizes: dict[str, int], *, thorough: bool) -> None:
    """One change, up to the sizes that were signed. thorough: tokens are changed where they are recorded, too."""
    if what in ON_TOKENS:
        getattr(owner, what)(in_record=thorough)
        return
    desk = str(owner.rng.choice(["loans", SERVICE])) if what in ("rewrite", "insert") else "loans"
    getattr(owner, what)(desk, sizes[desk])


def test_nothing_is_found_where_nothing_was_changed(kept: tuple[Path, list[SignedHead]], tmp_path: Path) -> None:
    """The ledger as it is fits the kept heads; so it does after somebody wrote it anew with the same events."""
    file, heads = kept
    verify_all(file, heads)
    verify_all(file, [])
    with Owner(copy_of(file, tmp_path / "copy.db"), np.random.default_rng(0)):
        pass
    verify_all(tmp_path / "copy.db", heads)


@pytest.mark.statistical
def test_an_owner_who_recomputes_everything_is_found(kept: tuple[Path, list[SignedHead]], tmp_path: Path) -> None:
    """A thousand random tamperings with what was signed, every hash and signature recomputed: the kept heads show all.

    Without them none is found, but those of tokens by somebody who forgot where they are recorded: the tampering is
    good, and the kept heads are what shows it.
    """
    file, heads = kept
    sizes = {head.desk: head.size for head in heads}
    rng, found = np.random.default_rng(7), Counter[str]()
    for number in range(1000):
        what, thorough = TAMPERINGS[number % len(TAMPERINGS)], bool(rng.random() < 0.75)
        target = copy_of(file, tmp_path / "tampered.db")
        with Owner(target, rng) as owner:
            tamper(owner, what, sizes, thorough=thorough)
            if rng.random() < 0.3:
                owner.take_new_key()
            owner.signs_again = bool(rng.random() < 0.5)
        with pytest.raises(DamagedLedger):
            verify_all(target, heads)
        found[what] += 1
        if what in ON_TOKENS and not thorough:
            with pytest.raises(DamagedLedger, match="token"):
                verify_all(target, [])
        else:
            verify_all(target, [])
        target.unlink()
    assert found == dict.fromkeys(TAMPERINGS, 125)


@pytest.mark.parametrize("what", TAMPERINGS)
def test_each_kind_of_tampering_is_found(kept: tuple[Path, list[SignedHead]], tmp_path: Path, what: str) -> None:
    """One of each, by the kept heads: whether the owner signs the stored ones again, or drops them."""
    file, heads = kept
    for signs_again, message in ((True, "forked|cut off|backdated"), (False, "rewritten|cut off|backdated")):
        target = copy_of(file, tmp_path / f"tampered {signs_again}.db")
        with Owner(target, np.random.default_rng(3)) as owner:
            tamper(owner, what, {head.desk: head.size for head in heads}, thorough=True)
            owner.signs_again = signs_again
        with pytest.raises(DamagedLedger, match=message):
            verify_all(target, heads)


def test_another_key_alone_is_found(kept: tuple[Path, list[SignedHead]], tmp_path: Path) -> None:
    """The same events, all heads signed with another key: the kept head is signed with one that is not recorded."""
    file, heads = kept
    target = copy_of(file, tmp_path / "tampered.db")
    with Owner(target, np.random.default_rng(3)) as owner:
        owner.take_new_key()
    with pytest.raises(DamagedLedger, match="which the service has not recorded"):
        verify_all(target, heads)


def test_what_came_after_a_kept_head_is_not_shown_by_it(kept: tuple[Path, list[SignedHead]], tmp_path: Path) -> None:
    """The limit: events after the size of a kept head can be rewritten unnoticed by it; a later head shows that."""
    file, heads = kept
    with closing(open_ledger(f"sqlite:///{file}")) as ledger:
        later = [head for desk in ("loans", SERVICE) if (head := SignedHeads(ledger).latest(desk)) is not None]
    size = next(head.size for head in heads if head.desk == "loans")
    target = copy_of(file, tmp_path / "tampered.db")
    with Owner(target, np.random.default_rng(3)) as owner:
        owner.lines["loans"][size + 1][1]["actor"] = "somebody else"
    verify_all(target, heads)
    with pytest.raises(DamagedLedger, match="forked"):
        verify_all(target, later)


def test_an_event_after_a_head_is_not_from_before_it(kept: tuple[Path, list[SignedHead]], tmp_path: Path) -> None:
    """What came after a kept head cannot claim to be from before it, but for the difference of two clocks."""
    file, heads = kept
    for hours in (1, 0):
        target = copy_of(file, tmp_path / f"tampered {hours}.db")
        with Owner(target, np.random.default_rng(3)) as owner:
            _, last = owner.lines["loans"][-1]
            last["time"] = before(last["time"], timedelta(hours=hours, seconds=20))
        if hours:
            with pytest.raises(DamagedLedger, match="it was backdated, or a clock was set back"):
                verify_all(target, heads)
        else:
            verify_all(target, heads)
