"""check: whether a certificate proves what it says. It shares nothing with what made it, and rounds nothing.

Read it before you trust it: with z = x_i - x_j of a pair, z_v and g_v of the verdicts quoted, and weights w_v >= 0,

    R = zz' - sum over fair w_v z_v z_v' + sum over unfair w_v z_v z_v'    must be positive semidefinite,
    S =       sum over fair w_v (g_v - t)^2 - sum over unfair w_v (g_v + t)^2

and then d^2 = z'Gz >= S for every metric G that agrees with the verdicts, t being the tolerance of odds. Doubles are
fractions, so all of this is computed exactly; differences and gaps are those of double precision.

The file needs nothing but Python: a copy of it checks certificates where nothing else of evenhand is.
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
except ImportError:  # somewhere else, alone

    class InvalidCertificate(ValueError):  # type: ignore[no-redef]
        """A certificate that does not prove what it says."""


TOLERANCE = Fraction(1e-9)
"""A gap is too wide only if it exceeds the distance by more than this; reviewers are exact to it."""

LIKELY = 0.95
"""From this probability on a pair that is not proved counts as likely fair."""

ANSWER = "answer"
"""What stands for a decision's id in a verdict that was given without one, in an interview."""

Record = Mapping[str, Any]


class Checked(NamedTuple):
    """How many pairs of a sound certificate have each status."""

    proved: int
    likely: int
    unproven: int


def check(
    certificate: Any,
    sources: Mapping[str, Any] | Iterable[Any] | None = None,
    *,
    structure: Literal["full", "diagonal"] = "full",
) -> Checked:
    """Raise InvalidCertificate unless the certificate, or its dict, proves what it says.

    sources: what the ledger holds, to check as well that every verdict quoted was really given, that the certified
    decision was really made, and that nobody called unfair what is proved; without, verdicts are taken as quoted.
    Each source is a decision with its review or reviews, or an interview's answer: the arguments of learn_pair. All
    may be evenhand's objects or their dicts. structure: the metrics that a proof must hold for; "diagonal" accepts
    proofs that hold only if features count separately. Cost: some milliseconds a pair.
    """
    record = _plain(certificate)
    _require(isinstance(record, Mapping), f"{type(certificate).__name__} is no record; give the certificate's dict")
    try:
        _check_digest(record)
        _require(isinstance(record["decision"], str), "it names no decision")
        contexts, odds = record["contexts"], record["probabilities"]
        _require(record["structure"] in ("full", "diagonal"), f"its structure is {record['structure']!r}")
        _require(
            record["structure"] in ("full", structure),
            "its proofs hold for diagonal metrics only; where that was agreed, check with structure='diagonal'",
        )
        _require(len(contexts) == len(odds), "contexts and probabilities speak of different numbers of candidates")
        everybody = [[i, j] for i in range(len(odds)) for j in range(i + 1, len(odds))]
        _require([pair["pair"] for pair in record["pairs"]] == everybody, "its pairs are not all pairs in order")
        for pair in record["pairs"]:
            i, j = pair["pair"]
            gap, z = abs(odds[i] - odds[j]), [a - b for a, b in zip(contexts[i], contexts[j], strict=True)]
            _require(pair["gap"] == gap, f"pair {(i, j)} has a gap of {gap}, not of {pair['gap']}")
            _check_pair(pair, z, record["verdicts"], diagonal=record["structure"] == "diagonal")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InvalidCertificate):
            raise
        raise InvalidCertificate(f"the certificate cannot be read: {type(error).__name__}: {error}") from None
    if sources is not None:
        _check_sources(record, *_read_sources(sources))
    statuses = [pair["status"] for pair in record["pairs"]]
    return Checked(*(statuses.count(status) for status in ("proved", "likely", "unproven")))


def _plain(thing: Any) -> Any:
    return thing.to_dict() if hasattr(thing, "to_dict") else thing


def _check_digest(record: Record) -> None:
    content = {name: value for name, value in record.items() if name != "digest"}
    found = hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    _require(record["digest"] == found, "it was changed: its digest does not fit")


def _check_pair(pair: Record, z: list[float], verdicts: list[Any], *, diagonal: bool) -> None:
    name = f"pair {tuple(pair['pair'])}"
    used = [(verdicts[_index(row)], _number(weight)) for row, weight in pair["evidence"]]
    _require(all(weight >= 0 for _, weight in used), f"{name}: a weight is negative")
    terms = [(Fraction(1), [_number(x) for x in z])]
    square = Fraction(0)
    for verdict, weight in used:
        _require(len(verdict["difference"]) == len(z), f"{name}: a verdict speaks of other features")
        _require(isinstance(verdict["unfair"], bool), f"{name}: a verdict is neither fair nor unfair")
        gap, side = _number(verdict["gap"]), -1 if verdict["unfair"] else 1
        _require(gap > TOLERANCE, f"{name}: a verdict on equal odds says nothing")
        terms.append((-side * weight, [_number(x) for x in verdict["difference"]]))
        square += side * weight * (gap - side * TOLERANCE) ** 2
    d = len(z)
    rest = [[sum((w * v[a] * v[b] for w, v in terms), Fraction(0)) for b in range(d)] for a in range(d)]
    holds = all(rest[a][a] >= 0 for a in range(d)) if diagonal else _is_semidefinite(rest)
    _require(holds, f"{name}: the weights prove nothing, what they leave is not positive semidefinite")
    bound, probability = _number(pair["bound"]), _number(pair["probability"])
    _require(bound >= 0 and bound**2 <= max(square, Fraction(0)), f"{name}: its evidence does not prove the bound")
    _require(0 <= probability <= 1, f"{name}: its probability is {pair['probability']}")
    beyond = max(_number(pair["gap"]) - TOLERANCE, Fraction(0))
    if pair["status"] == "proved":
        _require(beyond**2 <= max(square, Fraction(0)), f"{name}: its evidence does not prove that the gap is fair")
        _require(probability == 1, f"{name}: what is proved has probability 1")
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
    given: dict[str, tuple[Record, list[Record]]] = {}
    answers: list[Any] = []
    try:
        for source in sources.values() if isinstance(sources, Mapping) else sources:
            if isinstance(source, Mapping):
                z = [float(a) - float(b) for a, b in zip(source["x"], source["y"], strict=True)]
                answers.append([z, source["gap"], source["unfair"], source.get("reviewer")])
                continue
            decision, reviews = _plain(source[0]), _plain(source[1])
            entry = given.setdefault(decision["id"], (decision, []))[1]
            entry.extend([reviews] if isinstance(reviews, Mapping) else [_plain(review) for review in reviews])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InvalidCertificate(
            f"the sources cannot be read ({type(error).__name__}: {error}); allowed are decisions with their reviews, "
            "and answers as dicts of x, y, gap, unfair and reviewer"
        ) from None
    return given, answers


def _check_sources(record: Record, given: dict[str, tuple[Record, list[Record]]], answers: list[Any]) -> None:
    _require(record["decision"] in given, f"decision {record['decision']!r} itself is not among the sources")
    own, reviews = given[record["decision"]]
    same = own["contexts"] == record["contexts"] and own["probabilities"] == record["probabilities"]
    _require(same, f"decision {record['decision']!r} had other contexts or other odds")
    for pair in record["pairs"]:
        flagged = pair["gap"] > TOLERANCE and any(_says(review, pair["pair"]) for review in reviews)
        _require(pair["status"] == "unproven" or not flagged, f"pair {tuple(pair['pair'])} was called unfair")
    for verdict in record["verdicts"]:
        if verdict["decision"] == ANSWER:
            quoted = [verdict["difference"], verdict["gap"], verdict["unfair"], verdict["reviewer"]]
            _require(quoted in answers, "an answer it quotes was never given")
        else:
            _check_quote(verdict, given)


def _check_quote(verdict: Record, given: dict[str, tuple[Record, list[Record]]]) -> None:
    (i, j), name = verdict["pair"], f"the verdict on pair {tuple(verdict['pair'])} of {verdict['decision']!r}"
    _require(verdict["decision"] in given, f"{name}: that decision is not among the sources")
    decision, reviews = given[verdict["decision"]]
    contexts, odds = decision["contexts"], decision["probabilities"]
    _require(0 <= i < j < len(odds), f"{name}: that decision has no such pair")
    z = [a - b for a, b in zip(contexts[i], contexts[j], strict=True)]
    _require(verdict["difference"] == z, f"{name}: the two differed by {z}")
    _require(verdict["gap"] == abs(odds[i] - odds[j]), f"{name}: its gap was {abs(odds[i] - odds[j])}")
    said = any(r["reviewer"] == verdict["reviewer"] and _says(r, [i, j]) is verdict["unfair"] for r in reviews)
    _require(said, f"{name}: nobody of that name said that")


def _says(review: Record, pair: list[int]) -> bool | None:
    """Whether the review calls the pair unfair; None if it says nothing of it."""
    if review["kind"] == "one_bit":
        return None if review["any_unfair"] else False
    if pair in review["unfair"]:
        return True
    return False if review["kind"] == "complete" or pair in review["fair"] else None


def _number(value: Any) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InvalidCertificate(f"{value!r} stands where a finite number must")
    return Fraction(value)


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidCertificate(f"{value!r} stands where the number of a verdict must")
    return value


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise InvalidCertificate(f"the certificate is not valid: {sentence}")
