"""The checker: no change of a certificate goes unnoticed."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand import Review
from evenhand.certificates import certify, check
from evenhand.errors import InvalidCertificate
from evenhand.records.decision import PROBABILITY_TOLERANCE
from evenhand.testing.metric_worlds import random_A
from tests.support.reviewed import Reviewed, evidence_of, half, made_up

Record = dict[str, Any]


@pytest.fixture(scope="module")
def history() -> list[Reviewed]:
    """Decisions and reviews of a small desk."""
    return list(made_up(random_A(np.random.default_rng(1), 3), "sphere", k=4, rounds=80, seed=1))


@pytest.fixture(scope="module")
def record(history: list[Reviewed]) -> Record:
    """The certificate of its last decision, from the others."""
    certificate = certify(history[-1][0], evidence_of(history[:-1], 3), half)
    assert certificate.count("proved") >= 2
    return certificate.to_dict()


def resealed(record: Record) -> Record:
    """With a digest that fits again."""
    content = {name: value for name, value in record.items() if name != "digest"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return {**record, "digest": hashlib.sha256(text.encode()).hexdigest()}


def proved(record: Record) -> Record:
    """The first pair that is proved from evidence."""
    return next(pair for pair in record["pairs"] if pair["status"] == "proved" and pair["evidence"])


def _unproved(record: Record) -> Record:
    """The first pair that is not proved."""
    return next(pair for pair in record["pairs"] if pair["status"] != "proved")


def scale(record: Record, factor: float) -> None:
    """Scale all weights of a proof."""
    pair = proved(record)
    pair["evidence"] = [[row, weight * factor] for row, weight in pair["evidence"]]


def unfair_used(record: Record) -> Record:
    """An unfair verdict that weighs in the proof of a pair."""
    rows = [row for row, _ in sorted(proved(record)["evidence"], key=lambda used: -used[1])]
    return next(record["verdicts"][row] for row in rows if record["verdicts"][row]["unfair"])


def fair_used(record: Record) -> Record:
    """The fair verdict that weighs most in the proof of a pair."""
    used = sorted(proved(record)["evidence"], key=lambda used: -used[1])
    return next(record["verdicts"][row] for row, _ in used if not record["verdicts"][row]["unfair"])


def put(part: Record, name: str, value: Any) -> None:
    """Change one entry."""
    part[name] = value


def widen(record: Record) -> None:
    """Probabilities that are a little further apart than the evidence proves."""
    pair = proved(record)
    i, j = pair["pair"]
    higher, lower = (i, j) if record["probabilities"][i] > record["probabilities"][j] else (j, i)
    record["probabilities"][higher] = record["probabilities"][lower] + pair["bound"] + 2e-9
    for other in record["pairs"]:
        a, b = other["pair"]
        other["gap"] = abs(record["probabilities"][a] - record["probabilities"][b])


# Changes that the certificate itself gives away, even with a digest that fits.
LIES: dict[str, tuple[Callable[[Record], object], str]] = {
    "weights doubled": (lambda r: scale(r, 2.0), "not positive semidefinite"),
    "weights a billionth larger": (lambda r: scale(r, 1 + 1e-9), "not positive semidefinite"),
    "weights halved": (lambda r: scale(r, 0.5), "does not prove the bound"),
    "negative weight": (lambda r: put(proved(r), "evidence", [[0, -1.0]]), "a weight is negative"),
    "no evidence": (lambda r: put(proved(r), "evidence", []), "does not prove the bound"),
    "unknown verdict": (lambda r: put(proved(r), "evidence", [[10**6, 1.0]]), "cannot be read"),
    "verdict from the end": (
        lambda r: put(proved(r), "evidence", [[-1, 1.0]]),
        "the index of a verdict must be a whole number >= 0, got -1",
    ),
    "weight of infinity": (lambda r: put(proved(r), "evidence", [[0, math.inf]]), "finite number"),
    "weight of nan": (lambda r: put(proved(r), "evidence", [[0, math.nan]]), "finite number"),
    "fair verdict flipped": (lambda r: put(fair_used(r), "unfair", True), "does not prove the bound"),
    "unfair verdict flipped": (lambda r: put(unfair_used(r), "unfair", False), "not positive semidefinite"),
    "verdict neither": (lambda r: put(unfair_used(r), "unfair", 1), "neither fair nor unfair"),
    "fair gap narrowed": (lambda r: put(fair_used(r), "gap", fair_used(r)["gap"] * 0.9), "does not prove the bound"),
    "fair gap of nothing": (
        lambda r: put(fair_used(r), "gap", 1e-10),
        "a verdict on equal probabilities proves nothing",
    ),
    "unfair gap widened": (lambda r: put(unfair_used(r), "gap", 0.999), "does not prove"),
    "other difference": (lambda r: put(fair_used(r), "difference", [1.0, -1.0, 0.5]), "semidefinite"),
    "other features": (
        lambda r: put(fair_used(r), "difference", [1.0, -1.0]),
        "a verdict has another number of features",
    ),
    "higher bound": (lambda r: put(proved(r), "bound", proved(r)["bound"] + 1e-9), "does not prove the bound"),
    "negative bound": (lambda r: put(proved(r), "bound", -0.1), "does not prove the bound"),
    "wider probabilities": (widen, "does not prove that the gap is fair"),
    "other gap": (lambda r: put(proved(r), "gap", proved(r)["gap"] * 0.9), "has a gap of"),
    "other probabilities": (lambda r: put(r, "probabilities", r["probabilities"][::-1]), "has a gap of"),
    "fewer probabilities": (
        lambda r: put(r, "probabilities", r["probabilities"][:-1]),
        "the certificate is not valid: contexts and probabilities have different lengths",
    ),
    "other contexts": (lambda r: put(r, "contexts", [[0.1 * x for x in row] for row in r["contexts"]]), "pair"),
    "other structure": (
        lambda r: put(r, "structure", "any"),
        "the certificate is not valid: its structure must be 'full' or 'diagonal', got 'any'",
    ),
    "status raised": (lambda r: put(_unproved(r), "status", "proved"), "does not prove that the gap is fair"),
    "status lowered": (lambda r: put(proved(r), "status", "unproven"), "by its probability 'likely'"),
    "unknown status": (lambda r: put(proved(r), "status", "sure"), "its status is 'sure'"),
    "probability of a proof": (lambda r: put(proved(r), "probability", 0.99), "probability 1"),
    "probability above one": (
        lambda r: put(proved(r), "probability", 1.5),
        r"its probability must be from 0 to 1, got 1\.5",
    ),
    "pair left out": (lambda r: r["pairs"].pop(), "not all pairs"),
    "pair twice": (lambda r: r["pairs"].append(r["pairs"][0]), "not all pairs"),
    "pair turned": (lambda r: proved(r)["pair"].reverse(), "not all pairs"),
    "no verdicts": (lambda r: r.pop("verdicts"), "cannot be read"),
    "a word for a number": (lambda r: put(proved(r), "bound", "high"), "finite number"),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_are_found(record: Record, lie: str) -> None:
    """Each change is refused: by the digest, and with a digest that fits by what it says."""
    change, sentence = LIES[lie]
    changed = copy.deepcopy(record)
    change(changed)
    with pytest.raises(InvalidCertificate, match="digest"):
        check(changed)
    with pytest.raises(InvalidCertificate, match=sentence):
        check(resealed(changed))


# Changes that may pass for a proof as long as the sources are not checked.
FALSE_QUOTES: dict[str, tuple[Callable[[Record], object], str]] = {
    "a tighter verdict": (lambda r: put(fair_used(r), "gap", fair_used(r)["gap"] * (1 + 1e-12)), "its gap was"),
    "another reviewer": (
        lambda r: put(fair_used(r), "reviewer", "somebody"),
        "no review by that reviewer contains it",
    ),
    "an unknown decision": (lambda r: put(fair_used(r), "decision", "none"), "not among the sources"),
    "another decision": (lambda r: put(fair_used(r), "decision", "sphere-1-2"), "differed by"),
    "another pair": (lambda r: put(fair_used(r), "pair", _other(fair_used(r)["pair"])), "differed by"),
    "a pair that is none": (lambda r: put(fair_used(r), "pair", [0, 9]), "no such pair"),
    "a pair turned": (lambda r: fair_used(r)["pair"].reverse(), "no such pair"),
    "another decision certified": (lambda r: put(r, "decision", "sphere-1-2"), "other contexts or other probabilities"),
    "a shorter difference": (
        lambda r: put(unfair_used(r), "difference", [x * (1 + 1e-15) for x in unfair_used(r)["difference"]]),
        "differed by",
    ),
}


def _other(pair: list[int]) -> list[int]:
    return [0, 1] if pair != [0, 1] else [0, 2]


@pytest.mark.parametrize("quote", FALSE_QUOTES)
def test_false_quotes_are_found_by_their_sources(record: Record, history: list[Reviewed], quote: str) -> None:
    """With a digest that fits, each is refused when it is compared with the real verdicts."""
    change, sentence = FALSE_QUOTES[quote]
    assert check(record, history).proved > 0
    changed = copy.deepcopy(record)
    change(changed)
    with pytest.raises(InvalidCertificate, match=sentence):
        check(resealed(changed), history)


def test_sources_may_be_a_mapping(record: Record, history: list[Reviewed]) -> None:
    """From ids to a decision with its reviews, or its only one."""
    expected = check(record)
    assert check(record, {decision.id: (decision, [review]) for decision, review in history}) == expected
    assert check(record, {decision.id: (decision, review) for decision, review in history}) == expected
    with pytest.raises(InvalidCertificate, match="not among the sources"):
        check(record, {})
    assert check(record, [(decision.to_dict(), review.to_dict()) for decision, review in history]) == expected


@pytest.mark.parametrize("flip", [False, True], ids=["fair", "unfair"])
def test_reviews_say_what_they_say(record: Record, history: list[Reviewed], flip: bool) -> None:
    """Complete, partial and one-bit reviews are read as they are meant; a verdict to the contrary is no source."""
    verdict = unfair_used(record) if flip else fair_used(record)
    pair = tuple(verdict["pair"])
    everything = [(decision, review) for decision, review in history if decision.id != verdict["decision"]]
    decision, review = next(entry for entry in history if entry[0].id == verdict["decision"])
    rest = [p for p in review.unfair if p != pair]
    agreeing = [Review.partial(unfair=review.unfair, fair=_fair(decision.n_candidates, review.unfair))]
    silent = [Review.one_bit(any_unfair=True), Review.partial(unfair=rest)]
    if flip:
        contrary = [Review.complete(unfair=rest), Review.one_bit(any_unfair=False), Review.partial(fair=[pair])]
    else:
        agreeing += [Review.one_bit(any_unfair=False)] if not review.unfair else []
        contrary = [Review.complete(unfair=[*rest, pair]), Review.partial(unfair=[pair])]
    for review in agreeing:
        check(record, [*everything, (decision, review)])
    for review in silent + contrary:
        with pytest.raises(InvalidCertificate, match=r"no review by that reviewer|that decision"):
            check(record, [*everything, (decision, review)])


def _fair(k: int, unfair: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    return [(i, j) for i in range(k) for j in range(i + 1, k) if (i, j) not in unfair]


def test_a_copy_of_the_checker_works_alone(record: Record, tmp_path: Path) -> None:
    """Without any package and anything else of evenhand the file accepts the certificate, and refuses a lie."""
    checker = sys.modules["evenhand.certificates.check"]
    (tmp_path / "check.py").write_text(Path(checker.__file__ or "").read_text())
    (tmp_path / "sound.json").write_text(json.dumps(record))
    lie = copy.deepcopy(record)
    scale(lie, 2.0)
    (tmp_path / "lie.json").write_text(json.dumps(resealed(lie)))
    (tmp_path / "run.py").write_text(
        "import json, sys; sys.path.insert(0, sys.argv[1]); from check import check, InvalidCertificate\n"
        "print(check(json.load(open(sys.argv[1] + '/sound.json'))).proved)\n"
        "try: check(json.load(open(sys.argv[1] + '/lie.json')))\n"
        "except InvalidCertificate as error: print(error)\n"
        "print('numpy' in sys.modules, 'evenhand' in sys.modules)\n"
    )
    call = [sys.executable, "-I", "-S", str(tmp_path / "run.py"), str(tmp_path)]
    lines = subprocess.run(call, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    assert int(lines[0]) == check(record).proved
    assert "semidefinite" in lines[1]
    assert lines[2] == "False False"


def test_the_checker_has_the_tolerance_of_the_rest() -> None:
    """It states the tolerance itself, since a copy of the file must work alone."""
    assert sys.modules["evenhand.certificates.check"].TOLERANCE == PROBABILITY_TOLERANCE


def test_proofs_for_diagonal_metrics_must_be_asked_for(record: Record) -> None:
    """Relabelled as diagonal, where less is enough for a proof, a certificate is refused unless that was agreed."""
    relabelled = resealed({**record, "structure": "diagonal"})
    with pytest.raises(InvalidCertificate, match="diagonal metrics only"):
        check(relabelled)
    check(relabelled, structure="diagonal")
    check(record, structure="diagonal")


def test_the_certified_decision_must_be_among_the_sources(record: Record, history: list[Reviewed]) -> None:
    """Otherwise its probabilities could be anything."""
    with pytest.raises(InvalidCertificate, match="itself is not among the sources"):
        check(record, history[:-1])
    with pytest.raises(InvalidCertificate, match="names no decision"):
        check(resealed({**record, "decision": None}), history)


def test_what_somebody_called_unfair_is_not_proved(record: Record, history: list[Reviewed]) -> None:
    """A flag on the certified pair itself contradicts the proof, whoever raised it."""
    pair = tuple(proved(record)["pair"])
    check(record, [*history, (history[-1][0], Review.partial(fair=[pair], reviewer="Bob"))])
    with pytest.raises(InvalidCertificate, match=r"the certificate is not valid: pair \(0, 2\) was flagged"):
        check(record, [*history, (history[-1][0], Review.partial(unfair=[pair], reviewer="Bob"))])


@pytest.mark.parametrize("value", ["{}", None, 5, []])
def test_what_is_no_certificate_is_refused_with_a_sentence(value: Any) -> None:
    """A text, nothing, a number."""
    with pytest.raises(
        InvalidCertificate, match="the certificate is not valid: it must be a Certificate or its dict, got "
    ):
        check(value)


@pytest.mark.parametrize("sources", [[5], [("a", "b")], {"x": 1}, [{"x": [1.0]}]])
def test_sources_that_cannot_be_read_are_named_as_such(record: Record, sources: Any) -> None:
    """It is not the certificate that cannot be read then."""
    with pytest.raises(
        InvalidCertificate,
        match="sources must be decisions with their reviews, or answers as dicts of",
    ):
        check(record, sources)
