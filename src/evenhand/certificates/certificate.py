"""The certificate of a decision: what is known about each pair, and the verdicts that prove it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.errors import InvalidInput
from evenhand.metrics.features import Structure
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Pair

Status = Literal["proved", "likely", "unproven"]

STATUSES: tuple[Status, ...] = get_args(Status)

ANSWER = "answer"  # The source of a verdict without a decision: an interview's answer on two people.


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
    0.95. unproven: neither.
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
    structure: Structure
    """The class of metrics that the proofs hold for."""
    pairs: tuple[PairCertificate, ...]
    """All pairs i < j, in order."""
    digest: str = ""
    """A hash of all the rest: it detects changes, not who made the certificate."""

    def count(self, status: Status) -> int:
        """How many pairs have this status."""
        return sum(pair.status == status for pair in self.pairs)

    def signed(self) -> Certificate:
        """The same with its digest."""
        return replace(self, digest=_digest(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings, exact through JSON; each verdict is written once."""
        verdicts: dict[tuple[Any, ...], int] = {}
        pairs = []
        for pair in self.pairs:
            evidence = [[verdicts.setdefault(_named(quoted), len(verdicts)), quoted.weight] for quoted in pair.evidence]
            pairs.append(
                {
                    "pair": list(pair.pair),
                    "gap": pair.gap,
                    "status": pair.status,
                    "probability": pair.probability,
                    "bound": pair.bound,
                    "evidence": evidence,
                }
            )
        return {
            "decision": self.decision,
            "contexts": self.contexts.tolist(),
            "probabilities": self.probabilities.tolist(),
            "structure": self.structure,
            "verdicts": [
                {
                    "decision": decision,
                    "pair": list(pair),
                    "difference": list(difference),
                    "gap": gap,
                    "unfair": unfair,
                    "reviewer": reviewer,
                }
                for decision, pair, difference, gap, unfair, reviewer in verdicts
            ],
            "pairs": pairs,
            "digest": self.digest,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Certificate:
        """The certificate that `to_dict` wrote; `check` tells whether it is a proof."""
        try:
            verdicts = [
                {
                    **{name: verdict[name] for name in ("decision", "gap", "unfair", "reviewer")},
                    "pair": tuple(verdict["pair"]),
                    "difference": tuple(verdict["difference"]),
                }
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
            probabilities = np.array(record["probabilities"], dtype=np.float64)
            probabilities.flags.writeable = False
            named = {name: record[name] for name in ("decision", "structure", "digest")}
            return cls(**named, contexts=as_contexts(record["contexts"]), probabilities=probabilities, pairs=pairs)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidInput(f"a certificate's record must be what to_dict wrote: {error!r}") from None


def _named(quoted: QuotedVerdict) -> tuple[Any, ...]:
    return (quoted.decision, quoted.pair, quoted.difference, quoted.gap, quoted.unfair, quoted.reviewer)


def _digest(record: dict[str, Any]) -> str:
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
