"""AuditReport: a desk's report for a period, from its ledger alone."""

from __future__ import annotations

import os
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from evenhand._internal.atomic_write import atomic_write
from evenhand.desk.event_records import ReviewAnswer
from evenhand.desk.opening import first_settings
from evenhand.desk.projection.projector import Projector
from evenhand.desk.settings import DeskSettings
from evenhand.errors import Erased, UnknownRecord
from evenhand.ledger.event import check_name
from evenhand.ledger.ledger import Ledger, open_ledger
from evenhand.ledger.signed_head import SignedHead
from evenhand.ledger.signed_heads import SignedHeads
from evenhand.ledger.tree import has_trees
from evenhand.ledger.verification.verify_history import Kept, VerifiedHistory, kept_of, verify_history
from evenhand.records.review_metadata import ANSWERS, JUDGEMENTS
from evenhand.report.figures import Integrity, ReportFigures, ReviewerFigures
from evenhand.report.model import ModelFigures, model_figures
from evenhand.report.notice import CandidateNotice, notices
from evenhand.report.period import Period
from evenhand.report.reader import LedgerReader
from evenhand.review.agreement import agreement, consistency
from evenhand.review.review_book import ReviewBook
from evenhand.version import __version__


@dataclass(frozen=True)
class AuditReport:
    """Figures and notices; `html` and `to_dict` show them, `write` and `write_pdf` keep them."""

    figures: ReportFigures
    model: ModelFigures | None
    """None if it was not asked for, or cannot be computed."""
    model_missing: str | None
    """Why there is none."""
    candidate: str | None
    notices: tuple[CandidateNotice, ...]
    code: str = __version__
    """The version of evenhand that made the report."""

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain dicts, lists and numbers."""
        return {
            "code": self.code,
            **self.figures.to_dict(),
            "model": None if self.model is None else self.model.to_dict(),
            "model_missing": self.model_missing,
            "candidate": self.candidate,
            "notices": [one.to_dict() for one in self.notices],
        }

    @property
    def html(self) -> str:
        """The report as one page that needs no other file and no network."""
        from evenhand.report.html import page
        from evenhand.report.sections import all_sections

        return page(self, all_sections(self))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page; a new file can be read by its owner only, as it is about people."""
        with atomic_write(path, private=True) as file:
            file.write(self.html.encode())

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write all figures as JSON."""
        with atomic_write(path, private=True) as file:
            file.write(orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY))

    def write_pdf(self, path: str | os.PathLike[str]) -> None:
        """Write the same page as PDF; needs evenhand[report] and the system's Pango."""
        from evenhand.report.pdf import pdf_of

        made = pdf_of(self.html)
        with atomic_write(path, private=True) as file:
            file.write(made)


def audit_report(
    ledger: str | Ledger,
    desk: str,
    *,
    period: Period | None = None,
    groups: Sequence[str] | None = None,
    candidate: str | None = None,
    model: bool = True,
    heads: Kept = (),
) -> AuditReport:
    """The report of a desk for a period; DamagedLedger, and no report, if an event or a signed head does not verify.

    ledger: a URL, or an open Ledger; it is only read. groups: attributes to group candidates by, or several joined by
    commas, as in "sex,race"; by default what is carried, and features with levels. candidate: for whom reasons are
    given. model: False to leave out what needs learning again, which may take long without snapshots. heads: signed
    heads that were kept elsewhere.

    >>> from evenhand.desk import Desk
    >>> with Desk.open("memory:", "loans", n_features=2, seed=7) as desk:
    ...     made = desk.decide([[1.0, 0.0], [0.0, 1.0]])
    ...     report = audit_report(desk.ledger, "loans")
    >>> report.figures.live.decisions, report.figures.live.candidates, report.html[:15]
    (1, 2, '<!doctype html>')
    """
    check_name(desk, "desk name")
    if isinstance(ledger, str):
        opened = open_ledger(ledger, make=False, reads=True)
        try:
            return _report(opened, desk, period or Period(), groups, candidate, heads, model=model)
        finally:
            opened.close()
    return _report(ledger, desk, period or Period(), groups, candidate, heads, model=model)


def _report(
    ledger: Ledger,
    desk: str,
    period: Period,
    groups: Sequence[str] | None,
    candidate: str | None,
    heads: Kept,
    *,
    model: bool,
) -> AuditReport:
    with ledger.reading(desk) as view:
        opened = first_settings(view)
    reader = LedgerReader(ledger, desk, period, opened, groups, candidate)
    kept = _kept(ledger, desk, heads)
    verified = verify_history(ledger, desk, kept=heads, reader=reader.add)
    figures = _figures(desk, period, reader, verified, kept)
    if candidate is not None and not reader.took_part:
        raise UnknownRecord(f"candidate {candidate!r} took part in no decision of the period")
    projector = Projector(ledger, desk, opened) if reader.first and (model or candidate is not None) else None
    made, missing, given = None, None if model else "not asked for", list[CandidateNotice]()
    if projector is not None and candidate is not None:
        given = notices(ledger, desk, candidate, reader.took_part, reader.last, opened, projector.at)
    if projector is not None and model:
        try:
            settings = DeskSettings.from_dict({**reader.settings, "seed": f"{opened.seed:x}"})
            projection = projector.at(reader.last)
            made = model_figures(ledger, desk, projection, settings, reader.made, figures.flags.flags)
        except Erased as error:
            missing = str(error)
    elif model:
        missing = "the period has no events"
    return AuditReport(figures, made, missing, candidate, tuple(given))


def _kept(ledger: Ledger, desk: str, heads: Kept) -> list[SignedHead]:
    stored = SignedHeads(ledger).all(desk) if has_trees(ledger) else ()
    return sorted({*stored, *kept_of(heads, desk)}, key=lambda head: (head.size, head.time))


def _figures(
    desk: str, period: Period, reader: LedgerReader, verified: VerifiedHistory, heads: Sequence[SignedHead]
) -> ReportFigures:
    since, until = period.since or "", period.until
    within = [head for head in heads if head.time >= since and (until is None or head.time < until)]
    is_empty = reader.first == 0
    integrity = Integrity(
        verified.head.seq,
        verified.head.hash,
        None if is_empty else reader.first,
        None if is_empty else reader.last,
        None if is_empty else reader.last_hash,
        verified.heads,
        len(within),
        heads[-1].size if heads else 0,
        heads[-1].time if heads else None,
        tuple(sorted({head.key for head in heads})),
        verified.erased,
        verified.without_token,
    )
    given = [one for one in reader.book.standing() if one.seq >= reader.first > 0]
    whole = [one for one in reader.book.whole() if one.seq >= reader.first > 0]
    compared = [one for one in reader.book.compared() if one.seq >= reader.first > 0]
    return ReportFigures(
        desk,
        period,
        integrity,
        dict(sorted(reader.kinds.items())),
        reader.settings,
        tuple(reader.changes),
        tuple(reader.overrides),
        reader.under(),
        reader.mode(shadow=False),
        reader.mode(shadow=True),
        reader.flags(),
        _reviewers(reader.book, reader.first, given, whole, compared),
        agreement(sorted(given, key=lambda one: one.seq), whole),
        consistency(compared),
        (*reader.people.tables(shadow=False), *reader.people.tables(shadow=True)),
        reader.kinds["erasure"],
    )


def _reviewers(
    book: ReviewBook,
    first: int,
    given: Sequence[ReviewAnswer],
    whole: Sequence[ReviewAnswer],
    compared: Sequence[ReviewAnswer],
) -> tuple[ReviewerFigures, ...]:
    """Everybody who answered in the period, those with the most reviews first."""
    found = []
    for name in book.reviewers():
        answers = [one for one in (*given, *whole) if one.reviewer == name]
        withdrawn = book.withdrawn(name, first) if first else 0
        if not answers and not withdrawn:
            continue
        # Of a complete review that found something unfair, the pairs it named are counted.
        counts = Counter(one.answer for one in answers if one.whole != "complete" or one.answer == "acceptable")
        seconds = [one.seconds for one in answers if one.seconds is not None]
        passed = sum(counts[answer] for answer in ANSWERS if answer not in JUDGEMENTS)
        own = consistency(one for one in compared if one.reviewer == name)
        figures = (counts["unfair"], counts["acceptable"], passed, withdrawn)
        median = statistics.median(seconds) if seconds else None
        found.append(ReviewerFigures(name, len({one.review for one in answers}), *figures, median, own))
    return tuple(sorted(found, key=lambda one: (-one.reviews, one.name or "")))
