"""Certificates with a limit in time: what was not attempted is said, and is no claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand as eh
from evenhand.certificates import Certificate, OutOfBudget, SearchBudget, VerdictLog, check
from evenhand.certificates._proof import proofs_of
from evenhand.errors import InvalidCertificate, InvalidInput
from evenhand.metrics import Pairs, Verdicts
from evenhand.testing.metric_worlds import random_contexts


def interviewed(d: int, n: int) -> tuple[eh.FairBandit, np.random.Generator]:
    """A bandit with answers as evidence, about gaps near the distances of a random metric."""
    rng = np.random.default_rng(0)
    root, bandit = rng.normal(size=(d, d)) * 0.7 / np.sqrt(d), eh.FairBandit(d, seed=0, reviewer_error=1e-3)
    for _ in range(n):
        x, y = random_contexts(rng, 2, d)
        distance = float(np.linalg.norm(root @ (x - y)))
        gap = min(1.0, distance * float(rng.uniform(0.5, 1.5)))
        verdicts = Verdicts.between(x, y, gap=gap, unfair=gap > distance)
        bandit.safeguards.add_evidence(verdicts)  # as learn_pair does, without learning distances
    return bandit, rng


def test_the_largest_certificate_ends_in_time_and_says_what_was_not_attempted() -> None:
    """46 features, 50 candidates: without a limit it takes hours."""
    bandit, rng = interviewed(46, 400)
    decision = bandit.decide(random_contexts(rng, 50, 46))
    certificate = bandit.certify(decision, seconds=0.5)
    assert certificate.count("not attempted") > 0
    assert sum(check(certificate)) == len(certificate.pairs) == 1225
    for pair in certificate.pairs:
        if pair.status == "not attempted":
            assert (pair.bound, pair.evidence) == (0.0, ())
    assert Certificate.from_dict(certificate.to_dict()).count("not attempted") == certificate.count("not attempted")


def test_with_enough_time_nothing_is_left_out() -> None:
    """The same certificate as without a limit."""
    bandit, rng = interviewed(2, 30)
    decision = bandit.decide(random_contexts(rng, 5, 2))
    assert bandit.certify(decision, seconds=600).to_dict() == bandit.certify(decision).to_dict()
    with pytest.raises(InvalidInput, match="seconds must be"):
        bandit.certify(decision, seconds=0)


def test_a_pair_that_was_not_attempted_claims_nothing() -> None:
    """The check refuses evidence or a bound for it; it may have been flagged."""
    bandit, rng = interviewed(3, 30)
    decision = bandit.decide(random_contexts(rng, 4, 3))
    record: dict[str, Any] = bandit.certify(decision, seconds=1e-9).to_dict()
    assert {pair["status"] for pair in record["pairs"]} <= {"not attempted", "proved"}
    at = next(i for i, pair in enumerate(record["pairs"]) if pair["status"] == "not attempted")
    review = eh.Review.complete(unfair=[tuple(record["pairs"][at]["pair"])])
    assert sum(check(Certificate.from_dict(record), [(decision, review)])) == 6
    record["pairs"][at]["bound"] = 0.1
    with pytest.raises(InvalidCertificate):
        check(Certificate.from_dict(record).signed())


def test_a_budget_of_work_finds_the_first_proofs_and_no_others() -> None:
    """The same proofs as without a budget, then None."""
    bandit, rng = interviewed(3, 40)
    evidence, differences = bandit.safeguards.log.evidence, Pairs.of(random_contexts(rng, 6, 3)).differences
    everything, some = proofs_of(evidence, differences), proofs_of(evidence, differences, SearchBudget(work=1e7))
    found = [proof for proof in some if proof is not None]
    assert 0 < len(found) < len(everything)
    assert [proof.square for proof in found] == [proof.square for proof in everything[: len(found)] if proof]


def test_evidence_goes_on_where_the_time_ended() -> None:
    """Half-computed evidence is kept, and in the end the same as computed at once."""
    bandit, _ = interviewed(8, 400)
    log = bandit.safeguards.log
    attempts = 0
    while True:
        attempts += 1
        try:
            evidence = log.evidence_within(SearchBudget(work=2.1e9))
            break
        except OutOfBudget:
            assert attempts < 1000
    again = VerdictLog.from_state(log.state()).evidence
    assert evidence.verdicts.sources == again.verdicts.sources
    assert np.array_equal(evidence.verdicts.gaps, again.verdicts.gaps)


def test_versions_of_a_log_share_what_was_computed_and_nothing_else() -> None:
    """Two logs grown from one have each their own evidence."""
    bandit, _ = interviewed(3, 40)
    log = bandit.safeguards.log
    common = log.evidence
    verdicts = [_verdict(0.2), _verdict(0.9)]
    one, two = (log.extended(verdict, f"1-{gap}") for gap, verdict in enumerate(verdicts))
    assert one.evidence.verdicts.sources[-1] == "1-0"
    assert two.evidence.verdicts.sources[-1] == "1-1"
    assert len(log.evidence) == len(common) == 40
    assert np.array_equal(one.evidence.verdicts.gaps, VerdictLog.from_state(one.state()).evidence.verdicts.gaps)


def test_a_loaded_log_takes_over_what_was_computed_for_the_same_verdicts() -> None:
    """Of a log that it continues; of another one nothing."""
    bandit, _ = interviewed(3, 40)
    log = bandit.safeguards.log
    common, longer = log.evidence, VerdictLog.from_state(log.extended(_verdict(0.2), "1-0").state())
    longer.adopt(VerdictLog.from_state(log.state()))  # for which nothing was computed
    assert longer._processed[0].n == 0
    longer.adopt(log)
    assert longer._processed[0].evidence is common
    assert len(longer.evidence) == len(common) + 1
    other = VerdictLog(log.space).extended(_verdict(0.3), "other")
    other.adopt(log)
    assert other._processed[0].n == 0


def _verdict(gap: float) -> Verdicts:
    return Verdicts.between(np.array([0.9, 0.1, 0.2]), np.array([0.1, -0.3, 0.5]), gap=gap, unfair=gap > 0.5)
