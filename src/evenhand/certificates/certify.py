"""certify: from a decision and the evidence to its certificate."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.certificates._exact import root_rounded_down
from evenhand.certificates.certificate import Certificate, PairCertificate, QuotedVerdict, Status
from evenhand.certificates.evidence import Evidence
from evenhand.certificates.proof import Proof, proofs_of
from evenhand.certificates.sourced_verdicts import SourcedVerdicts
from evenhand.errors import InvalidInput
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair

LIKELY = 0.95  # A pair without a proof counts as likely fair from this probability on.
FLAGGED = 0.5  # Upper limit on the probability that a flagged pair is fair, unless that is proved.


def certify(
    decision: Decision,
    evidence: Evidence,
    chance_unfair: Callable[[Pairs, Floats], Floats],
    flagged: Collection[Pair] = (),
) -> Certificate:
    """The certificate of a decision: what is known about every pair.

    chance_unfair: the probability that each pair with its gap is unfair, (n,), for pairs without a proof; a metric
    learner's `chance_unfair`. Pairs with equal probabilities are fair by definition and need no evidence. flagged:
    pairs of this decision that somebody flagged, which are never "likely".

    >>> from evenhand import FairBandit
    >>> from evenhand.metrics.features import MetricSpace
    >>> bandit = FairBandit(2, seed=0)
    >>> decision = bandit.decide([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> certificate = certify(decision, Evidence(MetricSpace(2)), bandit.metric.chance_unfair)
    >>> [pair.pair for pair in certificate.pairs if pair.status == "proved"]
    [(1, 2)]
    """
    if decision.contexts.shape[1] != evidence.space.n_features:
        raise InvalidInput(
            f"the decision must have {evidence.space.n_features} features as the evidence has, "
            f"got {decision.contexts.shape[1]}"
        )
    pairs = Pairs.of(decision.contexts)
    gaps = np.abs(decision.probabilities[pairs.indices[:, 0]] - decision.probabilities[pairs.indices[:, 1]])
    fair = 1.0 - np.clip(chance_unfair(pairs, gaps), 0.0, 1.0) if len(pairs) else gaps
    named = np.array([pair in flagged for pair in pairs.names()], dtype=np.bool_)
    fair = np.where(named, np.minimum(fair, FLAGGED), fair)
    unequal = np.flatnonzero(gaps > PROBABILITY_TOLERANCE)
    proofs: dict[int, Proof] = dict(zip(unequal.tolist(), proofs_of(evidence, pairs.differences[unequal]), strict=True))
    return Certificate(
        decision=decision.id,
        contexts=decision.contexts,
        probabilities=decision.probabilities,
        structure=evidence.space.structure,
        pairs=tuple(
            _of_pair(pair, float(gaps[row]), float(fair[row]), proofs.get(row), evidence.verdicts)
            for row, pair in enumerate(pairs.names())
        ),
    ).signed()


def _of_pair(pair: Pair, gap: float, fair: float, proof: Proof | None, verdicts: SourcedVerdicts) -> PairCertificate:
    if proof is None:
        return PairCertificate(pair, gap, "proved", 1.0, 0.0, ())
    is_proved = proof.covers(gap)
    status: Status = "proved" if is_proved else "likely" if fair >= LIKELY else "unproven"
    bound = root_rounded_down(proof.square)
    return PairCertificate(pair, gap, status, 1.0 if is_proved else fair, bound, _quoted(proof, verdicts))


def _quoted(proof: Proof, verdicts: SourcedVerdicts) -> tuple[QuotedVerdict, ...]:
    return tuple(
        QuotedVerdict(
            decision=verdicts.sources[row],
            pair=(int(verdicts.pairs[row, 0]), int(verdicts.pairs[row, 1])),
            difference=tuple(verdicts.differences[row].tolist()),
            gap=float(verdicts.gaps[row]),
            unfair=bool(verdicts.unfair[row]),
            reviewer=verdicts.reviewers[row],
            weight=float(weight),
        )
        for row, weight in zip(proof.rows, proof.weights, strict=True)
    )
