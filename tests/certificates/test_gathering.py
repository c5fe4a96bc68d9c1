"""What is gathered for proofs: the newest of what may be of use, the same whenever it is asked for, copied or saved."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.certificates import Gathering
from evenhand.certificates.verdict_log import FAIR_PER_UNKNOWN, FEW, UNFAIR_PER_UNKNOWN
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import Pairs, Verdicts


def _verdicts(rng: np.random.Generator, n: int, reviewer: str | None = None, unfair: float = 0.2) -> Verdicts:
    pairs = Pairs(np.stack([np.arange(n), np.arange(n) + 1], axis=1), rng.normal(size=(n, 2)) / 4)
    gaps = rng.uniform(0.01, 0.1, size=n)
    return Verdicts(pairs, gaps, rng.uniform(size=n) < unfair, rng.uniform(size=n) < 0.3, reviewer)


def _gathered(reviews: int, rows: int, seed: int = 0) -> tuple[Gathering, list[tuple[Verdicts, str]]]:
    rng, gathering = np.random.default_rng(seed), Gathering(MetricSpace(2))
    said = [(_verdicts(rng, rows, "Ada" if turn % 2 else None), f"{turn}") for turn in range(reviews)]
    for verdicts, source in said:
        gathering.hear(verdicts, source)
    return gathering, said


def test_early_verdicts_are_all_kept() -> None:
    """As long as there are few, every verdict is kept, in order, with where it comes from."""
    gathering, said = _gathered(reviews=3, rows=5)
    kept = gathering.statements()
    assert kept.sources == ("0",) * 5 + ("1",) * 5 + ("2",) * 5
    assert kept.reviewers == (None,) * 5 + ("Ada",) * 5 + (None,) * 5
    assert np.array_equal(kept.differences, np.concatenate([verdicts.pairs.differences for verdicts, _ in said]))
    assert np.array_equal(kept.pairs, np.concatenate([verdicts.pairs.indices for verdicts, _ in said]))
    assert np.array_equal(kept.gaps, np.concatenate([verdicts.gaps for verdicts, _ in said]))
    assert np.array_equal(kept.unfair, np.concatenate([verdicts.unfair for verdicts, _ in said]))


@pytest.mark.parametrize("rows", [7, FEW + 30])
def test_later_only_those_that_bind(rows: int) -> None:
    """Then pairs that were neither unfair nor bound the odds are left out, however many came at once."""
    gathering, said = _gathered(reviews=60, rows=rows)
    last, source = said[-1]
    expected = last.take(last.unfair | last.tight)
    kept = gathering.statements()
    here = np.flatnonzero([where == source for where in kept.sources])
    assert 0 < len(here) < rows
    assert np.array_equal(kept.gaps[here], expected.gaps)
    assert np.array_equal(kept.differences[here], expected.pairs.differences)
    assert gathering.flagged(source) == frozenset(last.take(last.unfair).pairs.names())


def test_the_oldest_are_forgotten() -> None:
    """However long it goes on, the newest of each kind are there, and not more than twice as many as are promised."""
    gathering, said = _gathered(reviews=400, rows=12)
    m, kept = 3, gathering.statements()
    assert len(kept) == len(gathering) <= 2 * (FAIR_PER_UNKNOWN + UNFAIR_PER_UNKNOWN) * m
    binding = [verdicts.take(verdicts.unfair | verdicts.tight) for verdicts, _ in said]
    gaps = np.concatenate([verdicts.gaps for verdicts in binding])
    unfair = np.concatenate([verdicts.unfair for verdicts in binding])
    for kind, least in ((True, UNFAIR_PER_UNKNOWN * m), (False, FAIR_PER_UNKNOWN * m)):
        assert np.array_equal(gaps[unfair == kind][-least:], kept.gaps[kept.unfair == kind][-least:])
    assert gathering.flagged("0") == frozenset()


def test_copies_and_saved_ones_go_on_alike() -> None:
    """A copy hears on its own; one that was saved and loaded hears on as if nothing had been, to the bit."""
    gathering, _ = _gathered(reviews=50, rows=9)
    before = gathering.state()
    copied, loaded = gathering.copied(), Gathering.from_state(gathering.state())
    rng = np.random.default_rng(1)
    more = [_verdicts(rng, 9, "Eve") for _ in range(60)]
    for turn, verdicts in enumerate(more):
        copied.hear(verdicts, f"more {turn}")
        loaded.hear(verdicts, f"more {turn}")
    _assert_same(copied.state(), loaded.state())
    _assert_same(gathering.state(), before)
    assert len(copied) != len(gathering)
    _assert_same(copied.evidence.state()["statements"], loaded.evidence.state()["statements"])


def test_a_state_that_does_not_fit_together_is_refused() -> None:
    """Rows that belong to nobody, or to nobody who is there, are no gathering."""
    gathering, _ = _gathered(reviews=3, rows=5)
    for change in ({"ends": np.array([5, 10, 14])}, {"ends": np.array([10, 5, 15])}, {"sources": ["0", "1"]}):
        with pytest.raises(ValueError, match=r"fit together|zip"):
            Gathering.from_state({**gathering.state(), **change})


def _assert_same(one: dict[str, object], other: dict[str, object]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, np.asarray(other[name])), name
        else:
            assert value == other[name], name
