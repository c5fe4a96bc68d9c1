"""Every number of a report is counted again from the raw export."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from evenhand.desk import Desk
from evenhand.ledger.ledger import SERVICE
from evenhand.ledger.verify import to_jsonl
from evenhand.report import AuditReport, Period, audit_report
from tests.support.report_play import DESK, SETTINGS, play_for_report
from tests.support.report_recount import Json, Recount, by_carried, by_yes_no
from tests.support.report_text import text_of, tokens, written

DATA_SECTIONS = ("summary", "settings", "decisions", "flags", "reviewers", "groups")
GROUPED = {"sex": by_carried("sex"), "region": by_carried("region"), "has_guarantor": by_yes_no("has_guarantor")}


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """A desk that was played."""
    with Desk.open("memory:", DESK, **SETTINGS) as desk:
        play_for_report(desk)
        yield desk


@pytest.fixture(scope="module")
def lines(desk: Desk) -> list[str]:
    """Its raw export."""
    return list(to_jsonl(desk.ledger, DESK))


def times(lines: list[str], *seqs: int) -> list[str]:
    """When these events happened."""
    return [json.loads(lines[seq - 1])["time"] for seq in seqs]


@pytest.fixture(scope="module", params=["all", "part"])
def reported(request: pytest.FixtureRequest, desk: Desk, lines: list[str]) -> tuple[AuditReport, Recount]:
    """The report of everything, and of a period within, each with its recount."""
    if request.param == "all":
        return audit_report(desk.ledger, DESK, model=False), Recount(lines, 1, len(lines))
    numbered = {e["body"]["number"]: e["seq"] for e in map(json.loads, lines) if e["kind"] == "decision"}
    first, end = numbered[2], numbered[9]
    since, until = times(lines, first, end)
    report = audit_report(desk.ledger, DESK, period=Period.create(since, until), model=False)
    return report, Recount(lines, first, end - 1)


def same(found: Any, expected: Any, where: str = "") -> None:
    """Equal, numbers up to rounding; tuples count as lists."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for name in expected:
            same(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for place, one in enumerate(expected):
            same(found[place], one, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), where
    else:
        assert found == expected, where


def recounted(recount: Recount, report: AuditReport) -> Json:
    """All figures of the report that are counted from events."""
    return {
        "kinds": recount.kinds(),
        "settings": recount.settings(),
        "changes": recount.changes(),
        "overrides": recount.overrides(),
        "under": recount.under(),
        "live": recount.mode(shadow=False),
        "shadow": recount.mode(shadow=True),
        "flags": recount.flags(),
        "erasures": recount.kinds().get("erasure", 0),
        "groups": [
            {
                "attribute": name,
                "shadow": shadow,
                "learned_from": name == "has_guarantor",
                "groups": recount.groups(label, shadow=shadow),
            }
            for shadow in (False, True)
            for name, label in GROUPED.items()
        ],
    }


def test_every_figure_is_recounted(reported: tuple[AuditReport, Recount], lines: list[str]) -> None:
    """Counts, shares, means, intervals, flags, prices and groups are those of the raw export, and none is left out."""
    report, recount = reported
    found, expected = report.to_dict(), recounted(recount, report)
    for name, value in expected.items():
        same(found[name], value, name)
    elsewhere = {"code", "desk", "period", "model", "model_missing", "candidate", "notices"}
    assert set(found) == set(expected) | elsewhere | {"integrity", "reviewers", "agreement", "consistency"}


def test_reviewers_are_recounted(reported: tuple[AuditReport, Recount]) -> None:
    """Each reviewer's counts, and their agreement, follow from the reviews of the export."""
    report, recount = reported
    found = report.to_dict()
    for person in found["reviewers"]:
        same({name: person[name] for name in person if name != "consistency"}, recount.reviewer(person["name"]))
    assert {person["name"] for person in found["reviewers"]} == {"Kim", "Lee"}
    expected = recount.agreement()
    same(found["agreement"], expected)
    assert found["agreement"]["pairs"] >= 4
    repeats = recount.repeats()
    same(found["consistency"], repeats)
    assert repeats["repeats"] == 1
    by_name = {person["name"]: person["consistency"]["repeats"] for person in found["reviewers"]}
    assert by_name == {"Kim": 1, "Lee": 0}


def test_integrity_is_that_of_the_export(reported: tuple[AuditReport, Recount], lines: list[str], desk: Desk) -> None:
    """Events, hashes and heads are those of the export."""
    report, recount = reported
    found, last = report.figures.integrity, recount.known[-1]
    assert (found.events, found.last_hash) == (len(lines), json.loads(lines[-1])["hash"])
    assert (found.first, found.last, found.last_hash_of_period) == (recount.first, last["seq"], last["hash"])
    assert (found.heads, found.heads_in_period, len(found.keys)) == (1, 1, 1)
    gone = sum(content is None for event in recount.whole for content in event.get("contents") or ())
    assert found.erased == gone > 0
    began = json.loads(next(iter(to_jsonl(desk.ledger, SERVICE))))["time"]  # with the key that signed; it has no token
    assert found.without_token == Counter(event["actor"] for event in recount.whole if event["time"] >= began)


def test_no_other_number_is_shown(reported: tuple[AuditReport, Recount]) -> None:
    """Every number in the sections of figures is one of the recounted, as it is written."""
    report, recount = reported
    known = {**recounted(recount, report), **{name: report.to_dict()[name] for name in ("reviewers", "agreement")}}
    known |= {"consistency": report.to_dict()["consistency"], "integrity": report.to_dict()["integrity"]}
    allowed = set(tokens(" ".join(written(known)))) | {"95", "1", "0"}  # 95% intervals; kappa from 0 to 1
    derived = shares(report)
    for name in DATA_SECTIONS:
        shown = set(tokens(text_of(report.html, name)))
        assert shown <= allowed | derived, (name, shown - allowed - derived)
        assert shown


def shares(report: AuditReport) -> set[str]:
    """Numbers that sections derive from two figures, and the ends of charts' axes."""
    found = [len(report.figures.flags.flags), report.figures.decisions]
    flags = report.figures.flags
    found += [
        flags.became(what, of)
        for what in ("stands", "withdrawn", "superseded", "repeat")
        for of in (None, "desk", "system")
    ]
    made = {str(number) for number in found}
    for mode in (report.figures.live, report.figures.shadow):
        made |= set(tokens(f"{mode.chosen / mode.candidates:.1%}"))
        made |= set(tokens(f"{(mode.price_optimistic.value or 0) / (mode.best_optimistic or 1):.1%}"))
    for one in report.figures.groups:
        most = max(group.chance.upper or group.chance.value or 0.0 for group in one.groups)
        made |= set(tokens(f"{min(1.0, 1.05 * most):.0%}"))
    return made
