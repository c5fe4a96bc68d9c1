"""The certificate of a decision: what the evidence shows about each pair, and the verdicts that prove it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand._internal.checks import check_number_or_none
from evenhand._internal.jit import frozen
from evenhand.certificates._budget import UNLIMITED, OutOfBudget, SearchBudget
from evenhand.certificates._proof import Proof, proofs_of, root_rounded_down
from evenhand.certificates._sourced_verdicts import SourcedVerdicts
from evenhand.certificates._verdict_log import VerdictLog
from evenhand.certificates.check import LIKELY, digest_of
from evenhand.certificates.evidence import Evidence
from evenhand.errors import InvalidInput
from evenhand.metrics.features import SpaceStructure
from evenhand.metrics.verdicts import Pairs
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import PROBABILITY_TOLERANCE, Decision, Pair

Status = Literal["proved", "likely", "unproven", "not attempted"]

FLAGGED = 0.5  # Upper limit on the probability that a flagged pair is fair, unless that is proved.


@dataclass(frozen=True)
class QuotedVerdict:
    """A reviewer's verdict on a pair of some decision, and its weight in a proof."""

    decision: str
    """The id of the reviewed decision, or ANSWER."""
    pair: Pair
    difference: tuple[float, ...]
    """x_i - x_j of that pair."""
    gap: float
    unfair: bool
    reviewer: str | None
    weight: float
    """lambda if the pair was fair, mu if it was not."""


@dataclass(frozen=True)
class PairCertificate:
    """What is known about one pair.

    proved: every metric that fits the quoted verdicts allows the gap. likely: not proved, but fair with probability >=
    0.95. unproven: neither. not attempted: the time was too short to look for a proof.
    """

    pair: Pair
    gap: float
    status: Status
    probability: float
    """Of the pair being fair: 1 if proved."""
    bound: float
    """The lower bound on the distance that the quoted verdicts prove."""
    evidence: tuple[QuotedVerdict, ...]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is known about every pair of a decision. Make it with `certify`."""

    decision: str
    contexts: Floats
    """(k, d)."""
    probabilities: Floats
    """(k,)."""
    structure: SpaceStructure
    """The class of metrics that the proofs hold for."""
    pairs: tuple[PairCertificate, ...]
    """All pairs i < j, in order."""
    flags_left: int | None = None
    """How many decisions of its maker can still be flagged at most, by the metric learner's theorem; None without
    one. `check` does not check this: it follows from all answers, not from those quoted."""
    promise: str | None = None
    """The same in a sentence, with its conditions."""
    digest: str = ""
    """A hash of all the rest: it detects changes, not who made the certificate."""

    def count(self, status: Status) -> int:
        """How many pairs have this status."""
        return sum(pair.status == status for pair in self.pairs)

    def signed(self) -> Certificate:
        """The same with its digest."""
        return replace(self, digest=digest_of(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings, exact through JSON; each verdict is written once."""
        verdicts: dict[QuotedVerdict, int] = {}
        pairs = []
        for pair in self.pairs:
            rows = [verdicts.setdefault(replace(quoted, weight=0.0), len(verdicts)) for quoted in pair.evidence]
            evidence = [[row, quoted.weight] for row, quoted in zip(rows, pair.evidence, strict=True)]
            pairs.append({**vars(pair), "pair": list(pair.pair), "evidence": evidence})
        written = [{**vars(one), "pair": list(one.pair), "difference": list(one.difference)} for one in verdicts]
        for verdict in written:
            del verdict["weight"]
        arrays = {"contexts": self.contexts.tolist(), "probabilities": self.probabilities.tolist()}
        record = {**vars(self), **arrays, "verdicts": written, "pairs": pairs}
        if self.promise is None:  # as certificates were before there were promises, so that their digests still fit
            del record["flags_left"], record["promise"]
        return record

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Certificate:
        """The certificate that `to_dict` wrote; `check` tells whether it is a proof."""
        try:
            verdicts = [
                {**verdict, "pair": tuple(verdict["pair"]), "difference": tuple(verdict["difference"])}
                for verdict in record["verdicts"]
            ]
            pairs = tuple(
                PairCertificate(
                    **{name: pair[name] for name in ("gap", "status", "probability", "bound")},
                    pair=tuple(pair["pair"]),
                    evidence=tuple(QuotedVerdict(**verdicts[row], weight=weight) for row, weight in pair["evidence"]),
                )
                for pair in record["pairs"]
            )
            probabilities = frozen(np.array(record["probabilities"], dtype=np.float64))
            named = {name: record[name] for name in ("decision", "structure", "digest")}
            named |= {name: record.get(name) for name in ("flags_left", "promise")}
            return cls(**named, contexts=as_contexts(record["contexts"]), probabilities=probabilities, pairs=pairs)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidInput(f"a certificate's record must be what to_dict wrote: {error!r}") from None


def certify(
    decision: Decision,
    evidence: Evidence,
    chance_unfair: Callable[[Pairs, Floats], Floats],
    flagged: Collection[Pair] = (),
    *,
    flags_left: int | None = None,
    promise: str | None = None,
    budget: SearchBudget = UNLIMITED,
) -> Certificate:
    """The certificate of a decision: what is known about every pair.

    chance_unfair: the probability that each pair with its gap is unfair, (n,), for pairs without a proof; a metric
    learner's `chance_unfair`. Pairs with equal probabilities are fair by definition and need no evidence. flagged:
    pairs of this decision that somebody flagged, which are never "likely". flags_left, promise: the metric learner's.
    budget: what the search for proofs may cost; pairs beyond it are "not attempted".

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
    found = proofs_of(evidence, pairs.differences[unequal], budget)
    proofs: dict[int, Proof | None] = dict(zip(unequal.tolist(), found, strict=True))
    return Certificate(
        decision=decision.id,
        contexts=decision.contexts,
        probabilities=decision.probabilities,
        structure=evidence.space.structure,
        pairs=tuple(
            _of_pair(pair, float(gaps[row]), float(fair[row]), proofs[row], evidence.verdicts)
            if row in proofs
            else PairCertificate(pair, float(gaps[row]), "proved", 1.0, 0.0, ())
            for row, pair in enumerate(pairs.names())
        ),
        flags_left=flags_left,
        promise=promise,
    ).signed()


def certify_from_log(
    decision: Decision,
    log: VerdictLog,
    chance_unfair: Callable[[Pairs, Floats], Floats],
    *,
    seconds: float | None = None,
    **promised: Any,
) -> Certificate:
    """The certificate of a decision from all verdicts of a log; promised: flags_left and promise.

    seconds: about how long to look for proofs. What was prepared by then need not be prepared again.
    """
    budget = SearchBudget(seconds=check_number_or_none("seconds", seconds, above=0))
    try:
        evidence = log.evidence_within(budget)
    except OutOfBudget:
        evidence = Evidence(log.space)  # of which nothing will be attempted
    return certify(decision, evidence, chance_unfair, log.flagged(decision.id), **promised, budget=budget)


def _of_pair(pair: Pair, gap: float, fair: float, proof: Proof | None, verdicts: SourcedVerdicts) -> PairCertificate:
    if proof is None:
        return PairCertificate(pair, gap, "not attempted", fair, 0.0, ())
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
