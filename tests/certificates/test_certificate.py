"""Certificates say what is known of every pair, and go through JSON unchanged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from evenhand.auditors import MahalanobisAuditor
from evenhand.bandit import FairBandit
from evenhand.certificates import Certificate, Evidence, certify, check, lower_bounds
from evenhand.certificates.check import LIKELY
from evenhand.errors import InvalidCertificate, InvalidInput
from evenhand.metrics import Pairs, VersionSpace
from evenhand.metrics.features import MetricSpace, SpaceStructure
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision
from evenhand.testing.metric_worlds import random_A, random_contexts
from tests.support.reviewed import Floats, evidence_of, half, made_up, played


def decided(contexts: Floats, probabilities: list[float]) -> Decision:
    """A decision with these probabilities."""
    return Decision("a decision", 0, contexts, np.array(probabilities), (), None, np.zeros(len(probabilities)))


def test_every_pair_of_a_played_decision_has_a_certificate() -> None:
    """Status, probability and bound agree with each other and with the truth, and the whole passes the check."""
    bandit, A, history = played(3, 5, 130, seed=4)
    evidence, auditor = evidence_of(history[:120], 3), MahalanobisAuditor(A)
    counts = []
    for decision, review in history[120:]:
        certificate = certify(decision, evidence, bandit.metric.chance_unfair)
        distances = auditor.distances(decision.contexts)
        assert [pair.pair for pair in certificate.pairs] == Pairs.of(decision.contexts).names()
        for pair in certificate.pairs:
            assert pair.gap == decision.gap(*pair.pair)
            assert pair.bound <= distances[pair.pair] + PROBABILITY_TOLERANCE
            if pair.status == "proved":
                assert pair.pair not in review.unfair
                assert pair.probability == 1.0
                assert pair.gap <= pair.bound + 2 * PROBABILITY_TOLERANCE
            else:
                assert (pair.status == "likely") == (pair.probability >= LIKELY)
        assert check(certificate, history) == check(certificate)
        counts.append(check(certificate))
    assert sum(count.proved for count in counts) > 0.6 * 100


def test_equal_probabilities_need_no_proof() -> None:
    """Pairs with equal probabilities, and copies, need no evidence; the others cannot be proved without."""
    contexts = np.array([[0.6, 0.8], [0.6, 0.8], [1.0, 0.0]])
    certificate = certify(decided(contexts, [0.3, 0.3 + 1e-10, 0.1]), Evidence(MetricSpace(2)), half)
    assert [pair.status for pair in certificate.pairs] == ["proved", "unproven", "unproven"]
    assert all(pair.evidence == () and pair.bound == 0.0 for pair in certificate.pairs)
    assert check(certificate) == (1, 0, 2)


def test_a_sure_belief_is_likely_and_no_more() -> None:
    """What is not proved is likely from a probability of 0.95 on."""
    decision = decided(np.array([[0.6, 0.8], [1.0, 0.0]]), [0.3, 0.1])
    for chance, status in ((0.0, "likely"), (0.05, "likely"), (0.0501, "unproven"), (1.0, "unproven")):
        certificate = certify(decision, Evidence(MetricSpace(2)), lambda pairs, gaps, c=chance: np.array([c]))  # type: ignore[misc]
        assert certificate.pairs[0].status == status
        assert certificate.count(status) == 1
        check(certificate)


def test_a_single_candidate_has_no_pairs() -> None:
    """Nothing to prove."""
    certificate = certify(decided(np.array([[0.6, 0.8]]), [0.5]), Evidence(MetricSpace(2)), half)
    assert check(certificate) == (0, 0, 0)


@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_certificates_go_through_json_unchanged(structure: SpaceStructure) -> None:
    """Written, read and written again: the same text; the certificate read passes the check."""
    A = np.diag([0.9, 0.4, 0.1])
    history = list(made_up(A, "ball", k=5, rounds=60, seed=0))
    evidence = evidence_of(history, 3, structure)
    certificate = certify(history[0][0], evidence, half)
    text = json.dumps(certificate.to_dict())
    read = Certificate.from_dict(json.loads(text))
    assert json.dumps(read.to_dict()) == text
    assert read.pairs == certificate.pairs
    assert np.array_equal(read.contexts, certificate.contexts)
    plain = json.loads(text)
    counts = [
        check(each, sources, structure=structure) for each in (read, plain, certificate) for sources in (None, history)
    ]
    assert len(set(counts)) == 1
    assert counts[0].proved > 2


@pytest.mark.parametrize("kind", ["sphere", "lattice", "levels", "twins", "lopsided"])
@pytest.mark.parametrize("structure", ["full", "diagonal"])
def test_every_certificate_passes_the_check(kind: str, structure: SpaceStructure) -> None:
    """Contexts of every kind, metrics of every rank, before and after learning."""
    for rank in (1, 3):
        A = random_A(np.random.default_rng(rank), 3, rank=rank)
        A = A if structure == "full" else np.diag(np.sqrt(np.sum(A**2, axis=0)))
        history = list(made_up(A, kind, k=4, rounds=60, seed=rank))
        for rounds in (0, 5, 50):
            evidence = evidence_of(history[:rounds], 3, structure)
            for decision, _ in history[50:]:
                check(certify(decision, evidence, half), history, structure=structure)


def test_who_plays_the_lower_bounds_is_proved_fair() -> None:
    """Gaps as wide as the proved bounds are proved again, also pair by pair and in another order."""
    A = random_A(np.random.default_rng(3), 4)
    evidence = evidence_of(list(made_up(A, "sphere", k=5, rounds=150, seed=3)), 4)
    proved = 0
    for seed in range(20):
        contexts = random_contexts(np.random.default_rng(seed), 6, 4)
        pairs = Pairs.of(contexts)
        bounds = np.sqrt(lower_bounds(evidence, pairs))
        for row in reversed(range(len(pairs))):
            gap = float(min(bounds[row], 1.0))
            i, j = pairs.names()[row]
            certificate = certify(decided(contexts[[i, j]], [gap, 0.0]), evidence, half)
            assert certificate.pairs[0].status == "proved"
            proved += gap > 0.0
    assert proved > 200


def test_foreign_evidence_and_foreign_records_are_refused() -> None:
    """Evidence on other features, and a record that is none, raise InvalidInput."""
    decision = decided(np.array([[0.6, 0.8], [1.0, 0.0]]), [0.3, 0.1])
    with pytest.raises(InvalidInput, match="the decision must have 3 features as the evidence has, got 2"):
        certify(decision, Evidence(MetricSpace(3)), half)
    record = certify(decision, Evidence(MetricSpace(2)), half).to_dict()
    for name in record:
        with pytest.raises(InvalidInput, match="a certificate's record must be what to_dict wrote: KeyError"):
            Certificate.from_dict({key: value for key, value in record.items() if key != name})


def test_contradictory_evidence_certifies_nothing() -> None:
    """Not even what it would have proved without the contradiction."""
    A = random_A(np.random.default_rng(0), 2)
    history = list(made_up(A, "sphere", k=4, rounds=60, seed=0))
    decision = history[0][0]
    assert certify(decision, evidence_of(history, 2), half).count("proved") > 0
    liar = replace(history[0][1], unfair=tuple(Pairs.of(decision.contexts).names()))
    certificate = certify(decision, evidence_of([*history, (decision, liar)], 2), half)
    assert all(pair.status != "proved" or pair.gap <= PROBABILITY_TOLERANCE for pair in certificate.pairs)


def test_a_certificate_carries_its_makers_promise() -> None:
    """With its number, in the digest; of a learner without a theorem the record is what it was before."""
    contexts = np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]])
    promising = FairBandit(2, metric=VersionSpace(2, epsilon=0.05, error_rate=0.0, seed=0), seed=0)
    certificate = promising.certify(promising.decide(contexts))
    assert certificate.flags_left == promising.flags_left
    assert certificate.promise == promising.metric.promise
    record = json.loads(json.dumps(certificate.to_dict()))
    assert Certificate.from_dict(record).to_dict() == certificate.to_dict()
    check(record)
    with pytest.raises(InvalidCertificate, match="digest"):
        check({**record, "flags_left": 0})
    plain = FairBandit(2, seed=0, reviewer_error=1e-3)
    older = plain.certify(plain.decide(contexts)).to_dict()
    assert {"flags_left", "promise"}.isdisjoint(older)
    check(Certificate.from_dict(older))
    assert (Certificate.from_dict(older).flags_left, Certificate.from_dict(older).promise) == (None, None)
