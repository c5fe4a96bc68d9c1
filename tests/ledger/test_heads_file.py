"""Signed heads in a file: found by desk and size, however many there are, and after a machine that stopped."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DamagedLedger, InvalidInput
from evenhand.ledger.event import now
from evenhand.ledger.signed_head import SignedHead
from evenhand.ledger.verification.heads_file import HeadsFile, KeptHeads, append_line

MANY = 5_000


def head(size: int, desk: str = "loans") -> SignedHead:
    """A head in the right form; nobody signed it."""
    return SignedHead(desk, size, "a" * 64, "b" * 64, now(), "c" * 64, "d" * 128)


def write(file: Path, *heads: SignedHead) -> Path:
    """A file of heads."""
    file.write_text("".join(one.to_line() + "\n" for one in heads))
    return file


@given(sizes=st.lists(st.integers(1, 40), unique=True))
def test_heads_come_in_order_of_size(sizes: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    """In whatever order they are in the file, and those of another desk apart."""
    heads = [head(size) for size in sizes]
    other = head(7, "jobs")
    found = HeadsFile(write(tmp_path_factory.mktemp("heads") / "heads.jsonl", *heads, other))
    assert list(found.of("loans")) == sorted(heads, key=lambda one: one.size)
    assert found.size_of("loans") == max(sizes, default=0)
    assert (found.latest("jobs"), found.latest("people")) == (other, None)
    for size in (3, 7):
        assert found.find("loans", size) == next((one for one in heads if one.size == size), None)
    assert found.desks == ({"loans"} if sizes else set()) | {"jobs"}


def test_heads_of_several_files(tmp_path: Path) -> None:
    """Merged; a file that is not there is an error."""
    one = write(tmp_path / "one", head(1), first := head(5))
    two = write(tmp_path / "two", first, head(3), head(2, "jobs"))
    kept = KeptHeads([one, two])
    assert [each.size for each in kept.of("loans")] == [1, 3, 5, 5]
    assert kept.desks == {"loans", "jobs"}
    with pytest.raises(InvalidInput, match="no such file"):
        KeptHeads([one, tmp_path / "three"])


def test_few_bytes_of_each_head_are_in_memory(tmp_path: Path) -> None:
    """A head has half a kilobyte of text and more as an object; a year of them would not fit."""
    file = write(tmp_path / "heads", *(head(size) for size in range(1, MANY + 1)))
    tracemalloc.start()
    try:
        found = HeadsFile(file)
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        assert sum(1 for _ in found.of("loans")) == MANY
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < 24 * MANY
    assert peak < held + 50_000


def test_a_line_that_was_being_written(tmp_path: Path) -> None:
    """Its only writer drops it and goes on; others name it, and never append to it."""
    file = write(tmp_path / "heads", head(1))
    whole = file.read_bytes()
    file.write_bytes(whole + head(2).to_line().encode()[:90])
    with pytest.raises(DamagedLedger, match=f"line 2 of {file} cannot be read"):
        HeadsFile(file)
    append_line(file, third := head(3).to_line())
    assert file.read_text().splitlines()[2:] == [third]
    file.write_bytes(whole + head(2).to_line().encode()[:90])
    own = HeadsFile(file, is_own=True)
    assert file.read_bytes() == whole
    later = head(2)
    own.append(later.to_dict(), later.to_line())
    assert own.latest("loans") == later
    assert [one.size for one in HeadsFile(file).of("loans")] == [1, 2]


def test_what_is_not_a_head(tmp_path: Path) -> None:
    """A line of something else is named; a file that cannot be read, too; one that is missing has no heads."""
    file = write(tmp_path / "heads", head(1))
    file.write_bytes(file.read_bytes() + b'{"size": 3}\n')
    with pytest.raises(DamagedLedger, match="line 2"):
        HeadsFile(file)
    with pytest.raises(InvalidInput, match="cannot be read"):
        HeadsFile(tmp_path)
    assert HeadsFile(tmp_path / "none").desks == set()
