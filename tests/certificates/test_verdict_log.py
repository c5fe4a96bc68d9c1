"""VerdictLog: it keeps the newest verdicts that may prove something, in every version and through files."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.certificates import VerdictLog
from evenhand.certificates._verdict_log import FAIR_PER_UNKNOWN, UNFAIR_PER_UNKNOWN
from evenhand.metrics.features import MetricSpace
from evenhand.metrics.verdicts import Pairs, Verdicts


def _verdicts(rng: np.random.Generator, n: int, reviewer: str | None = None, unfair: float = 0.2) -> Verdicts:
    pairs = Pairs(np.stack([np.arange(n), np.arange(n) + 1], axis=1), rng.normal(size=(n, 2)) / 4)
    gaps = rng.uniform(0.01, 0.1, size=n)
    return Verdicts(pairs, gaps, rng.uniform(size=n) < unfair, rng.uniform(size=n) < 0.3, reviewer)


def _filled(reviews: int, rows: int, seed: int = 0) -> tuple[VerdictLog, list[tuple[Verdicts, str]]]:
    rng, log = np.random.default_rng(seed), VerdictLog(MetricSpace(2))
    added = [(_verdicts(rng, rows, "Ada" if turn % 2 else None), f"{turn}") for turn in range(reviews)]
    for verdicts, source in added:
        log = log.extended(verdicts, source)
    return log, added


def test_early_verdicts_are_all_kept() -> None:
    """As long as there are few, every verdict is kept, in order, with where it comes from."""
    log, added = _filled(reviews=3, rows=5)
    kept = log.verdicts()
    assert kept.sources == ("0",) * 5 + ("1",) * 5 + ("2",) * 5
    assert kept.reviewers == (None,) * 5 + ("Ada",) * 5 + (None,) * 5
    assert np.array_equal(kept.differences, np.concatenate([verdicts.pairs.differences for verdicts, _ in added]))
    assert np.array_equal(kept.pairs, np.concatenate([verdicts.pairs.indices for verdicts, _ in added]))
    assert np.array_equal(kept.gaps, np.concatenate([verdicts.gaps for verdicts, _ in added]))
    assert np.array_equal(kept.unfair, np.concatenate([verdicts.unfair for verdicts, _ in added]))


@pytest.mark.parametrize("rows", [7, 94])
def test_later_only_those_that_bind(rows: int) -> None:
    """Then pairs that were neither unfair nor bound the probabilities are left out, however many came at once."""
    log, added = _filled(reviews=60, rows=rows)
    last, source = added[-1]
    expected = last.take(last.unfair | last.tight)
    kept = log.verdicts()
    here = np.flatnonzero([where == source for where in kept.sources])
    assert 0 < len(here) < rows
    assert np.array_equal(kept.gaps[here], expected.gaps)
    assert np.array_equal(kept.differences[here], expected.pairs.differences)
    assert log.flagged(source) == frozenset(last.take(last.unfair).pairs.names())


def test_the_oldest_are_forgotten() -> None:
    """However long it goes on, the newest of each kind are there, and not more than twice as many as are promised."""
    log, added = _filled(reviews=400, rows=12)
    m, kept = 3, log.verdicts()
    assert len(kept) == len(log) <= 2 * (FAIR_PER_UNKNOWN + UNFAIR_PER_UNKNOWN) * m
    binding = [verdicts.take(verdicts.unfair | verdicts.tight) for verdicts, _ in added]
    gaps = np.concatenate([verdicts.gaps for verdicts in binding])
    unfair = np.concatenate([verdicts.unfair for verdicts in binding])
    for kind, least in ((True, UNFAIR_PER_UNKNOWN * m), (False, FAIR_PER_UNKNOWN * m)):
        assert np.array_equal(gaps[unfair == kind][-least:], kept.gaps[kept.unfair == kind][-least:])
    assert log.flagged("0") == frozenset()


def test_versions_and_saved_logs_go_on_alike() -> None:
    """Extending leaves a log as it is; one that was saved and loaded is extended to the same, to the bit."""
    log, _ = _filled(reviews=50, rows=9)
    before = log.state()
    longer, loaded = log, VerdictLog.from_state(log.state())
    rng = np.random.default_rng(1)
    more = [_verdicts(rng, 9, "Eve") for _ in range(60)]
    for turn, verdicts in enumerate(more):
        longer = longer.extended(verdicts, f"more {turn}")
        loaded = loaded.extended(verdicts, f"more {turn}")
    _assert_same(longer.state(), loaded.state())
    _assert_same(log.state(), before)
    assert len(longer) != len(log)
    _assert_same(longer.evidence.state()["statements"], loaded.evidence.state()["statements"])


def test_a_state_that_does_not_fit_together_is_refused() -> None:
    """Rows that belong to nobody, or to nobody who is there, are refused."""
    log, _ = _filled(reviews=3, rows=5)
    for change in ({"ends": np.array([5, 10, 14])}, {"ends": np.array([10, 5, 15])}, {"sources": ["0", "1"]}):
        with pytest.raises(ValueError, match=r"does not fit|zip"):
            VerdictLog.from_state({**log.state(), **change})


def _assert_same(one: dict[str, object], other: dict[str, object]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, np.asarray(other[name])), name
        else:
            assert value == other[name], name
