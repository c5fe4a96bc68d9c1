"""Reducer: a bandit moved along a ledger, line by line; the state of a desk is what it has become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

from evenhand.desk.event_records import decision_of, indices_of, review_of
from evenhand.desk.imports.past import learn_past
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.projection.round_history import RoundHistory
from evenhand.desk.settings import DeskSettings
from evenhand.errors import DamagedLedger, EvenhandError
from evenhand.ledger.ledger import EventToApply, Ledger, LedgerView, Row, Stamp

CHUNK = 2000
"""So many lines are read at once."""

Undone = Sequence[tuple[int, int]]
"""All that was taken back: the seq of the line that did it, and of the review."""


@dataclass
class Reducer:
    """A bandit that has taken in the lines that `stamp` says."""

    bandit: QuietBandit
    stamp: Stamp
    skipped: list[int] = field(default_factory=list)
    """Lines that the bandit could not learn from: an answer too coarse for the metric learner, for instance."""
    has_learned_metric: bool = True
    """Whether anything but decisions and outcomes was applied since this was last set to False."""
    history: RoundHistory = field(default_factory=RoundHistory)
    """What became of the decisions."""

    @classmethod
    def initial(cls, settings: DeskSettings) -> Reducer:
        """Before the first line."""
        return cls(settings.first_bandit(), Stamp(0, 0))

    def reaches(self, target: int, undone: Undone) -> bool:
        """Whether folding on from here comes to the state at `target`."""
        return reaches(self.stamp, target, undone)

    def advance(
        self, ledger: Ledger, name: str, target: int, undone: Undone, kept: Callable[[Reducer], None] | None = None
    ) -> None:
        """Take in all lines up to `target`, without the reviews that were taken back by then.

        kept: called after each chunk of a long way, to keep a snapshot if one is due.
        """
        gone = {review for by, review in undone if by <= target}
        while self.stamp.seq < target:
            with ledger.reading(name) as view:
                lines = view.to_apply(self.stamp.seq, target, CHUNK)
                decisions = _decisions(view, lines)
            if not lines:
                raise DamagedLedger(f"the ledger of desk {name!r} ends at line {self.stamp.seq}, before line {target}")
            for line in lines:
                self._take_in(line, decisions, gone)
                self.stamp = Stamp(line.seq, target)  # after an error a fold goes on where it stopped
            if kept is not None:
                kept(self)
        self.stamp = Stamp(target, target)

    def _take_in(self, line: EventToApply, decisions: dict[str, dict[str, Any]], gone: set[int]) -> None:
        body, decision = _told(line), decisions.get(line.target or "")
        if decision is None and line.kind in ("outcome", "review"):
            raise DamagedLedger(f"line {line.seq} speaks of decision {line.target}, which is not in the ledger")
        self.history.line(line.seq, line.kind)
        if line.kind == "decision":
            self.history.decided(self.bandit.rounds, self.bandit.safeguards.margin.target)
            self.bandit.count_decisions()
        elif line.seq not in gone and line.kind in LEARNING:
            self.has_learned_metric = self.has_learned_metric or line.kind != "outcome"
            safeguards = self.bandit.safeguards
            flagged, promised = len(safeguards.flagged_rounds), safeguards.margin.is_working
            try:
                LEARNING[line.kind](self.bandit, body, decision)
                self.history.heard(line.kind, body)
            except (EvenhandError, np.linalg.LinAlgError):
                self.skipped.append(line.seq)
            if decision is not None and line.kind == "outcome":
                self.history.outcome(decision["number"], body["rewards"])
            elif decision is not None and len(self.bandit.safeguards.flagged_rounds) > flagged:
                self.history.flag(self.bandit.rounds, promised=promised)


def _told(line: EventToApply) -> dict[str, Any]:
    """What a line says; nothing for a decision, which only counts."""
    if line.text is None:
        return {}
    try:
        body: dict[str, Any] = orjson.loads(line.text)["body"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise DamagedLedger(f"line {line.seq} of the ledger cannot be read; verify it") from None
    return body


def reaches(stamp: Stamp, target: int, undone: Undone) -> bool:
    """Whether folding on from a stamp comes to the state at `target`: it left out the same of what it took in.

    >>> reaches(Stamp(5, 5), 9, [(8, 3)]), reaches(Stamp(5, 5), 9, [(8, 6)]), reaches(Stamp(5, 9), 9, [(8, 3)])
    (False, True, True)
    """
    between = sorted((stamp.until, target))
    return stamp.seq <= target and not any(
        between[0] < by <= between[1] and review <= stamp.seq for by, review in undone
    )


def newest_start(stamps: Iterable[Stamp], target: int, undone: Undone) -> Stamp | None:
    """The stamp from which the way to `target` is the shortest."""
    return max((stamp for stamp in stamps if reaches(stamp, target, undone)), default=None)


def _decisions(view: LedgerView, lines: Sequence[EventToApply]) -> dict[str, dict[str, Any]]:
    """The decisions that outcomes and reviews among these lines speak of."""
    wanted = {line.target for line in lines if line.target is not None and line.kind in ("outcome", "review")}
    found: dict[str, Row] = view.by_id(wanted)
    return {name: row.event.body for name, row in found.items()}


def _outcome(bandit: QuietBandit, body: dict[str, Any], decision: dict[str, Any] | None) -> None:
    assert decision is not None
    places = indices_of(list(body["rewards"]), decision["candidates"])
    rewards = dict(zip(places, body["rewards"].values(), strict=True))
    bandit.learn_outcomes(decision_of(decision), rewards)


def _review(bandit: QuietBandit, body: dict[str, Any], decision: dict[str, Any] | None) -> None:
    assert decision is not None
    if not (body["circumstances"] or {}).get("repeat"):
        bandit.learn(decision_of(decision), review=review_of(body, decision["candidates"]))


def _answer(bandit: QuietBandit, body: dict[str, Any], decision: dict[str, Any] | None) -> None:
    if body["unfair"] is None:  # unsure: it stands in the ledger, and teaches nothing
        return
    said = {name: body[name] for name in ("gap", "unfair", "reviewer")}
    bandit.learn_pair(body["x"], body["y"], **said)


def _settings(bandit: QuietBandit, body: dict[str, Any], decision: dict[str, Any] | None) -> None:
    DeskSettings.from_dict(body["settings"]).apply_to(bandit)


def _imported(bandit: QuietBandit, body: dict[str, Any], decision: dict[str, Any] | None) -> None:
    learn_past(bandit, body)


LEARNING: dict[str, Callable[[QuietBandit, dict[str, Any], dict[str, Any] | None], None]] = {
    "outcome": _outcome,
    "review": _review,
    "answer": _answer,
    "settings": _settings,
    "imported": _imported,
}
"""What is learned from each kind of line; from the others nothing is."""
