"""certify: from a decision and the evidence to its certificate."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from evenhand.certificates.certificate import Certificate, PairCertificate, QuotedVerdict, Status
from evenhand.certificates.evidence import Evidence
from evenhand.certificates.exact import root_rounded_down
from evenhand.certificates.proof import Proof, proofs_of
from evenhand.certificates.statements import Statements
from evenhand.errors import InvalidInput
from evenhand.metrics.verdicts import Pairs
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair

Floats = NDArray[np.float64]

LIKELY = 0.95
"""A pair that is not proved counts as likely fair from this probability on."""


FLAGGED = 0.5
"""A pair that somebody called unfair is fair with at most this probability, unless that is proved."""


def certify(
    decision: Decision,
    evidence: Evidence,
    chance_unfair: Callable[[Pairs, Floats], Floats],
    flagged: Collection[Pair] = (),
) -> Certificate:
    """What is known of every pair of a decision.

    chance_unfair: how likely each pair with its gap is unfair, (n,), for what cannot be proved; a metric learner's
    `chance_unfair`. Pairs with equal odds are fair by definition, and proved by nothing at all. flagged: pairs of this
    decision that somebody called unfair, which are never likely to be fair.

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
            f"the decision has {decision.contexts.shape[1]} features, the evidence {evidence.space.n_features}; "
            "allowed is evidence of the same desk"
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
            _of_pair(pair, float(gaps[row]), float(fair[row]), proofs.get(row), evidence.statements)
            for row, pair in enumerate(pairs.names())
        ),
    ).signed()


def _of_pair(pair: Pair, gap: float, fair: float, proof: Proof | None, statements: Statements) -> PairCertificate:
    if proof is None:
        return PairCertificate(pair, gap, "proved", 1.0, 0.0, ())
    is_proved = proof.covers(gap)
    status: Status = "proved" if is_proved else "likely" if fair >= LIKELY else "unproven"
    bound = root_rounded_down(proof.square)
    return PairCertificate(pair, gap, status, 1.0 if is_proved else fair, bound, _quoted(proof, statements))


def _quoted(proof: Proof, statements: Statements) -> tuple[QuotedVerdict, ...]:
    return tuple(
        QuotedVerdict(
            decision=statements.sources[row],
            pair=(int(statements.pairs[row, 0]), int(statements.pairs[row, 1])),
            difference=tuple(statements.differences[row].tolist()),
            gap=float(statements.gaps[row]),
            unfair=bool(statements.unfair[row]),
            reviewer=statements.reviewers[row],
            weight=float(weight),
        )
        for row, weight in zip(proof.rows, proof.weights, strict=True)
    )
