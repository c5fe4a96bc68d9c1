"""check: whether a certificate proves what it claims, in exact arithmetic, independent of the code that made it.

The proof: with z = x_i - x_j of a pair, z_v and g_v of the verdicts quoted, and weights w_v >= 0,

    R = zz' - sum over fair w_v z_v z_v' + sum over unfair w_v z_v z_v'    must be positive semidefinite,
    S =       sum over fair w_v (g_v - t)^2 - sum over unfair w_v (g_v + t)^2

and then d^2 = z'Gz >= S for every metric G that agrees with the verdicts, t being the tolerance of probabilities.
Doubles are fractions, so all of this is computed exactly; differences and gaps are those of double precision.

The file needs only Python: a copy of it checks certificates without the rest of evenhand.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal, NamedTuple

try:
    from evenhand.errors import InvalidCertificate
except ImportError:  # a copy of this file alone

    class InvalidCertificate(ValueError):  # type: ignore[no-redef]
        """A certificate that does not prove what it claims."""


TOLERANCE = Fraction(1e-9)
"""A gap is too wide only if it exceeds the distance by more than this; reviewers are exact to it."""

LIKELY = 0.95
"""From this probability on a pair that is not proved counts as likely fair."""

ANSWER = "answer"
"""The source of a verdict without a decision: an interview's answer."""

Record = Mapping[str, Any]


class Checked(NamedTuple):
    """How many pairs of a sound certificate have each status."""

    proved: int
    likely: int
    unproven: int
    """With those that were not attempted."""


def check(
    certificate: Any,
    sources: Mapping[str, Any] | Iterable[Any] | None = None,
    *,
    structure: Literal["full", "diagonal"] = "full",
) -> Checked:
    """Raise InvalidCertificate unless the certificate, or its dict, proves what it claims.

    sources: the ledger's records, to check as well that every quoted verdict and the certified decision exist, and
    that nobody flagged what is proved; without them, verdicts are taken as quoted.
    Each source is a decision with its review or reviews, or an interview's answer: the arguments of learn_pair. All
    may be evenhand's objects or their dicts. structure: the metrics that a proof must hold for; "diagonal" accepts
    proofs that hold only if features count separately. Cost: some milliseconds per pair.
    """
    record = _plain(certificate)
    _require(isinstance(record, Mapping), f"it must be a Certificate or its dict, got {type(certificate).__name__}")
    try:
        _require(record["digest"] == digest_of(record), "it was changed: its digest does not fit")
        _require(isinstance(record["decision"], str), "it names no decision")
        contexts, probabilities, found = record["contexts"], record["probabilities"], record["structure"]
        _require(found in ("full", "diagonal"), f"its structure must be 'full' or 'diagonal', got {found!r}")
        _require(
            found in ("full", structure),
            "its proofs hold for diagonal metrics only; where that was agreed, check with structure='diagonal'",
        )
        _require(len(contexts) == len(probabilities), "contexts and probabilities have different lengths")
        everybody = [[i, j] for i in range(len(probabilities)) for j in range(i + 1, len(probabilities))]
        _require([pair["pair"] for pair in record["pairs"]] == everybody, "its pairs are not all pairs in order")
        for pair in record["pairs"]:
            i, j = pair["pair"]
            gap, z = _gap_and_difference(record, i, j)
            _require(pair["gap"] == gap, f"pair {(i, j)} has a gap of {gap}, not of {pair['gap']}")
            _check_pair(pair, z, record["verdicts"], diagonal=found == "diagonal")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InvalidCertificate):
            raise
        raise InvalidCertificate(f"the certificate cannot be read: {type(error).__name__}: {error}") from None
    if sources is not None:
        _check_sources(record, *_read_sources(sources))
    statuses = [pair["status"] for pair in record["pairs"]]
    proved, likely = statuses.count("proved"), statuses.count("likely")
    return Checked(proved, likely, len(statuses) - proved - likely)


def _plain(thing: Any) -> Any:
    return thing.to_dict() if hasattr(thing, "to_dict") else thing


def digest_of(record: Record) -> str:
    """The digest of a certificate's record: of everything in it but the digest."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _gap_and_difference(record: Record, i: int, j: int) -> tuple[float, list[float]]:
    """|p_i - p_j| and x_i - x_j of a certificate's or a decision's record."""
    p, x = record["probabilities"], record["contexts"]
    return abs(p[i] - p[j]), [a - b for a, b in zip(x[i], x[j], strict=True)]


def _check_pair(pair: Record, z: list[float], verdicts: list[Any], *, diagonal: bool) -> None:
    name = f"pair {tuple(pair['pair'])}"
    used = [(verdicts[_index(row)], _number(weight)) for row, weight in pair["evidence"]]
    _require(all(weight >= 0 for _, weight in used), f"{name}: a weight is negative")
    terms = [(Fraction(1), [_number(x) for x in z])]
    square = Fraction(0)
    for verdict, weight in used:
        _require(len(verdict["difference"]) == len(z), f"{name}: a verdict has another number of features")
        _require(isinstance(verdict["unfair"], bool), f"{name}: a verdict is neither fair nor unfair")
        gap, side = _number(verdict["gap"]), -1 if verdict["unfair"] else 1
        _require(gap > TOLERANCE, f"{name}: a verdict on equal probabilities proves nothing")
        terms.append((-side * weight, [_number(x) for x in verdict["difference"]]))
        square += side * weight * (gap - side * TOLERANCE) ** 2
    d = len(z)
    rest = [[sum((w * v[a] * v[b] for w, v in terms), Fraction(0)) for b in range(d)] for a in range(d)] if used else []
    holds = not used or (all(rest[a][a] >= 0 for a in range(d)) if diagonal else _is_semidefinite(rest))
    _require(holds, f"{name}: the weights prove nothing, what they leave is not positive semidefinite")
    bound, probability = _number(pair["bound"]), _number(pair["probability"])
    _require(bound >= 0 and bound**2 <= max(square, Fraction(0)), f"{name}: its evidence does not prove the bound")
    _require(0 <= probability <= 1, f"{name}: its probability must be from 0 to 1, got {pair['probability']}")
    beyond = max(_number(pair["gap"]) - TOLERANCE, Fraction(0))
    if pair["status"] == "proved":
        _require(beyond**2 <= max(square, Fraction(0)), f"{name}: its evidence does not prove that the gap is fair")
        _require(probability == 1, f"{name}: what is proved has probability 1")
    elif pair["status"] == "not attempted":
        _require(not used and bound == 0, f"{name}: evidence for a pair that was not attempted")
    else:
        right = "likely" if probability >= LIKELY else "unproven"
        _require(pair["status"] == right, f"{name}: its status is {pair['status']!r}, by its probability {right!r}")


def _is_semidefinite(rest: list[list[Fraction]]) -> bool:
    """Gaussian elimination: no pivot is negative, and a pivot of zero stands in a row of zeros."""
    for p in range(len(rest)):
        if rest[p][p] < 0 or (rest[p][p] == 0 and any(rest[p][p + 1 :])):
            return False
        for a in range(p + 1, len(rest)) if rest[p][p] else ():
            factor = rest[a][p] / rest[p][p]
            rest[a] = [x - factor * y for x, y in zip(rest[a], rest[p], strict=True)]
    return True


def _read_sources(
    sources: Mapping[str, Any] | Iterable[Any],
) -> tuple[dict[str, tuple[Record, list[Record]]], list[Any]]:
    """Decisions by id, each with all its reviews; and answers."""
    decisions: dict[str, tuple[Record, list[Record]]] = {}
    answers: list[Any] = []
    try:
        for source in sources.values() if isinstance(sources, Mapping) else sources:
            if isinstance(source, Mapping):
                z = [float(a) - float(b) for a, b in zip(source["x"], source["y"], strict=True)]
                answers.append([z, source["gap"], source["unfair"], source.get("reviewer")])
                continue
            decision, reviews = _plain(source[0]), _plain(source[1])
            entry = decisions.setdefault(decision["id"], (decision, []))[1]
            entry.extend([reviews] if isinstance(reviews, Mapping) else [_plain(review) for review in reviews])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InvalidCertificate(
            "sources must be decisions with their reviews, or answers as dicts of x, y, gap, unfair and reviewer: "
            f"{type(error).__name__}: {error}"
        ) from None
    return decisions, answers


def _check_sources(record: Record, decisions: dict[str, tuple[Record, list[Record]]], answers: list[Any]) -> None:
    _require(record["decision"] in decisions, f"decision {record['decision']!r} itself is not among the sources")
    own, reviews = decisions[record["decision"]]
    same = own["contexts"] == record["contexts"] and own["probabilities"] == record["probabilities"]
    _require(same, f"decision {record['decision']!r} had other contexts or other probabilities")
    for pair in record["pairs"]:
        flagged = pair["gap"] > TOLERANCE and any(_verdict(review, own, pair["pair"]) for review in reviews)
        _require(
            pair["status"] in ("unproven", "not attempted") or not flagged, f"pair {tuple(pair['pair'])} was flagged"
        )
    for verdict in record["verdicts"]:
        if verdict["decision"] == ANSWER:
            quoted = [verdict["difference"], verdict["gap"], verdict["unfair"], verdict["reviewer"]]
            _require(quoted in answers, "an answer it quotes is not among the sources")
        else:
            _check_quote(verdict, decisions)


def _check_quote(verdict: Record, decisions: dict[str, tuple[Record, list[Record]]]) -> None:
    (i, j), name = verdict["pair"], f"the verdict on pair {tuple(verdict['pair'])} of {verdict['decision']!r}"
    _require(verdict["decision"] in decisions, f"{name}: that decision is not among the sources")
    decision, reviews = decisions[verdict["decision"]]
    _require(0 <= i < j < len(decision["probabilities"]), f"{name}: that decision has no such pair")
    gap, z = _gap_and_difference(decision, i, j)
    _require(verdict["difference"] == z, f"{name}: the two differed by {z}")
    _require(verdict["gap"] == gap, f"{name}: its gap was {gap}")
    found = any(
        r["reviewer"] == verdict["reviewer"] and _verdict(r, decision, [i, j]) is verdict["unfair"] for r in reviews
    )
    _require(found, f"{name}: no review by that reviewer contains it")


def _verdict(review: Record, decision: Record, pair: list[int]) -> bool | None:
    """Whether the review flags the pair; None if it has no verdict on it."""
    if review["kind"] in ("ratings", "comparisons"):
        lead = float(decision["probabilities"][pair[0]]) - float(decision["probabilities"][pair[1]])
        return _rated(review, pair, lead) if review["kind"] == "ratings" else _compared(review, pair, lead)
    if review["kind"] == "one_bit":
        return None if review["any_unfair"] else False
    if pair in review["unfair"]:
        return True
    return False if review["kind"] == "complete" or pair in review["fair"] else None


def _rated(review: Record, pair: list[int], lead: float) -> bool | None:
    """Whether ratings say that the pair is unfair: the gap exceeds the share of the scale between them + tolerance."""
    scores = dict(review["scores"])
    if pair[0] not in scores or pair[1] not in scores:
        return None
    share = abs(scores[pair[0]] - scores[pair[1]]) / (review["scale"][1] - review["scale"][0])
    return bool(abs(lead) > share + review["tolerance"] + TOLERANCE)


def _compared(review: Record, pair: list[int], lead: float) -> bool | None:
    """Whether comparisons do; where the one who comes first has the lower probability, there is no verdict."""
    answer_on_pair = next((answer for i, j, answer in review["compared"] if [i, j] == pair), None)
    if answer_on_pair in (None, "alike"):
        return None if answer_on_pair is None else bool(abs(lead) > review["tolerance"] + TOLERANCE)
    return False if (lead if answer_on_pair == "first" else -lead) >= -TOLERANCE else None


def _number(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InvalidCertificate(f"a weight, gap or bound must be a finite number, got {value!r}")
    return Fraction(value)


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidCertificate(f"the index of a verdict must be a whole number >= 0, got {value!r}")
    return value


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise InvalidCertificate(f"the certificate is not valid: {sentence}")
