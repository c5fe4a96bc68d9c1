"""LedgerReader: reads every event of a ledger once, in order, and counts what a report needs of a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.intervals import mean_of_clusters
from evenhand.desk.event_records import decision_of, is_repeat, subject_of
from evenhand.desk.explain.explanation import NEGLIGIBLE, price_of
from evenhand.desk.settings import DeskSettings
from evenhand.ledger.event import SETTINGS_KINDS, Row
from evenhand.ledger.ledger import Ledger
from evenhand.report.figures import (
    FlagFigures,
    FlagRecord,
    ModeFigures,
    OverrideRecord,
    SettingsChange,
    UnderSettings,
)
from evenhand.report.people import CandidateTable
from evenhand.report.period import Period
from evenhand.review.review_book import KINDS, ReviewBook

POINTS = 60
"""Maximum points of the chart of flagged decisions."""

Body = dict[str, Any]


@dataclass(slots=True)
class SeenDecision:
    """What is kept of a decision until the end: events about it refer to it by its id."""

    number: int
    names: tuple[str, ...]
    drawn: tuple[str, ...]
    shadow: bool
    start: int | None
    """The row of its first candidate; None if it was made before the period."""
    told: bool = True
    overridden: bool = False


@dataclass(slots=True)
class SeenFlag:
    """A review that called something unfair, and the event that undid it."""

    seq: int
    time: str
    reviewer: str | None
    decision: str
    subject: str
    pairs: tuple[tuple[str, str], ...]
    repeat: bool
    undone: str = ""


class ModeSums:
    """Counts of the decisions of one mode."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.worst_residual: float | None = None
        self.prices: list[tuple[float, float, float]] = []
        """Of each decision: the price by optimistic rewards, by the estimates, and the best optimistic reward."""

    def add(self, body: Body) -> None:
        """Count a decision."""
        self.counts["decisions"] += 1
        for name in ("left_out", "counted_as", "tight_pairs"):
            self.counts[name] += len(body.get(name, ()))
        self.counts["unproved_pairs"] += body.get("unproved_pairs", 0)
        residual = body.get("worst_residual")
        if residual is not None:
            self.worst_residual = max(residual, self.worst_residual or 0.0)
        if "erased" in body and set(body["erased"]) & set(body["candidates"]):
            self.counts["erased"] += 1
            return
        made = decision_of(body)
        price = price_of(made, body["candidates"], np.array(body["estimated_rewards"]))
        best = float(made.optimistic_rewards @ made.probabilities) + price.optimistic_reward
        self.prices.append((price.optimistic_reward, price.expected_reward, best))


class LedgerReader:
    """Counts the events of a period; `add` gets every event from the first on.

    The period is the events from the first at or after its beginning to the last before the first at or after its end:
    clocks of several processes differ a little. Events after it are not read; those before it are read for what the
    period refers to.
    """

    def __init__(
        self,
        ledger: Ledger,
        desk: str,
        period: Period,
        settings: DeskSettings,
        groups: Sequence[str] | None = None,
        candidate: str | None = None,
    ) -> None:
        self._period, self.first, self.last = period, 0, 0
        self.last_hash: str | None = None
        self._is_over = False
        self.settings: Body = {}
        self.changes: list[SettingsChange] = []
        self.overrides: list[OverrideRecord] = []
        self.kinds: Counter[str] = Counter()
        self._under: Counter[tuple[int, str, bool]] = Counter()
        self.people = CandidateTable(settings, groups)
        self.book = ReviewBook(ledger, desk)
        self._modes = {False: ModeSums(), True: ModeSums()}
        self._made: dict[str, SeenDecision] = {}
        self._flags: dict[str, SeenFlag] = {}
        self._reviewed: dict[str, set[str]] = {}
        """The reviews of the desk's own probabilities that stand, by decision."""
        self._target: dict[str, str] = {}
        self._left: list[int] = []
        self._candidate = candidate
        self.took_part: list[str] = []
        """The decisions of the period that the candidate took part in, or was left out of."""
        self.made: list[str] = []
        """The decisions of the period, in order."""

    def add(self, row: Row) -> None:
        """Read the next event."""
        time = row.event.time
        self._is_over = self._is_over or (self._period.until is not None and time >= self._period.until)
        if self._is_over:
            return
        is_within = self.first > 0 or self._period.since is None or time >= self._period.since
        self.last, self.last_hash = row.seq, row.hash
        if is_within:
            self.first = self.first or row.seq
            self.kinds[row.kind] += 1
        if row.kind in KINDS or row.kind == "opened":
            made = self._made.get(row.target or "")
            self.book.add(row, 0 if made is None else len(made.names))
        handler = HANDLERS.get(row.kind)
        if handler is not None:
            handler(self, row, row.event.body, is_within=is_within)

    # One method for each kind of event.

    def _change(self, row: Row, body: Body, *, is_within: bool) -> None:
        self.settings = {name: value for name, value in body["settings"].items() if name != "seed"}
        if is_within:
            changes = {"switch": {"mode": body.get("to")}, "settings": body.get("changes", {})}.get(row.kind, {})
            about = (row.seq, row.event.time, row.event.actor, row.kind)
            self.changes.append(SettingsChange(*about, dict(changes), body.get("reason")))

    def _decision(self, row: Row, body: Body, *, is_within: bool) -> None:
        shadow, names = bool(body.get("shadow")), tuple(body["candidates"])
        drawn: tuple[str, ...] = tuple(body["would_choose"] if "would_choose" in body else body["chosen"])
        made = SeenDecision(body["number"], names, drawn, shadow, self.people.add(body) if is_within else None)
        self._made[row.id] = made
        action = body.get("action")
        made.told = not shadow or action is not None
        if not is_within:
            return
        self._modes[shadow].add(body)
        self._under[body["settings"], str(body["code"]), shadow] += 1
        self._choose(made, action["chosen"] if action is not None else body["chosen"])
        if "flags_left" in body:
            self._left.append(body["flags_left"])
        self.made.append(row.id)
        if self._candidate in (*names, *(one["id"] for one in body.get("left_out", ()))):
            self.took_part.append(row.id)

    def _choose(self, made: SeenDecision, chosen: Sequence[str]) -> None:
        if made.start is not None:
            self.people.choose(made.start, len(made.names), [made.names.index(name) for name in chosen])

    def _action(self, row: Row, body: Body, *, is_within: bool) -> None:
        made = self._made[body["decision"]]
        made.told = True
        self._choose(made, body["chosen"])

    def _override(self, row: Row, body: Body, *, is_within: bool) -> None:
        made = self._made[body["decision"]]
        made.overridden = True
        self._choose(made, body["chosen"])
        if is_within:
            about = (row.seq, row.event.time, row.event.actor, made.number, made.drawn)
            self.overrides.append(OverrideRecord(*about, tuple(body["chosen"]), body["reason"]))

    def _outcome(self, row: Row, body: Body, *, is_within: bool) -> None:
        made = self._made[body["decision"]]
        if made.start is not None:
            for name, reward in body["rewards"].items():
                self.people.reward(made.start + made.names.index(name), reward)

    def _review(self, row: Row, body: Body, *, is_within: bool) -> None:
        if body["supersedes"] is not None:
            self._undo(body["supersedes"], "superseded")
        subject, repeat = subject_of(body), is_repeat(body)
        self._target[row.id] = body["decision"]
        if subject == "desk" and not repeat:
            self._reviewed.setdefault(body["decision"], set()).add(row.id)
        if body["unfair"] or body["any_unfair"]:
            pairs = tuple((first, second) for first, second in body["unfair"])
            about = (row.seq, row.event.time, body["reviewer"], body["decision"], subject)
            self._flags[row.id] = SeenFlag(*about, pairs, repeat)

    def _withdrawal(self, row: Row, body: Body, *, is_within: bool) -> None:
        self._undo(body["review"], "withdrawn")

    def _undo(self, review: str, how: str) -> None:
        self._reviewed.get(self._target.get(review, ""), set()).discard(review)
        if review in self._flags:
            self._flags[review].undone = how

    # Figures.

    def under(self) -> tuple[UnderSettings, ...]:
        """Decisions by settings, version and mode."""
        return tuple(UnderSettings(*key, number) for key, number in sorted(self._under.items()))

    def mode(self, *, shadow: bool) -> ModeFigures:
        """The decisions of one mode."""
        sums, made = self._modes[shadow], self._made_in(shadow=shadow)
        decision, chosen = (self.people.column(name, shadow=shadow) for name in ("decision", "chosen"))
        reward = self.people.column("reward", shadow=shadow)
        known, prices = ~np.isnan(reward), np.array(sums.prices).reshape(-1, 3)
        with_choice = len(np.unique(decision[chosen > 0]))
        each = np.arange(len(prices))
        return ModeFigures(
            **sums.counts,
            candidates=len(decision),
            chosen=int(chosen.sum()),
            nobody=sum(one.told for one in made) - with_choice,
            untold=sum(not one.told for one in made),
            worst_residual=sums.worst_residual,
            overridden=sum(one.overridden for one in made),
            outcomes=int(known.sum()),
            reward=mean_of_clusters(decision[known], reward[known]),
            priced=len(prices),
            costly=int((prices[:, 0] >= NEGLIGIBLE).sum()),
            price_optimistic=mean_of_clusters(each, prices[:, 0]),
            price_expected=mean_of_clusters(each, prices[:, 1]),
            best_optimistic=float(prices[:, 2].mean()) if len(prices) else None,
        )

    def _made_in(self, *, shadow: bool) -> list[SeenDecision]:
        return [made for made in self._made.values() if made.start is not None and made.shadow == shadow]

    def flags(self) -> FlagFigures:
        """The flags of the period, and what became of them."""
        given = [(name, flag) for name, flag in self._flags.items() if flag.seq >= self.first > 0]
        stand = [flag for flag in self._flags.values() if flag.subject == "desk" and _became(flag) == "stands"]
        standing = {flag.decision for flag in stand}
        own = {name: made for name, made in self._made.items() if made.start is not None}
        reviewed = [name for name, reviews in self._reviewed.items() if reviews and name in own]
        flagged = sorted(own[name].number for name in standing if name in own)
        whole = [one for one in self.book.whole() if one.whole == "answer" and one.seq >= self.first > 0]
        return FlagFigures(
            reviews=self.kinds["review"],
            reviewed=len(reviewed),
            flagged=len(flagged),
            flags=tuple(_record(name, flag, self._made) for name, flag in given),
            answers=len(whole),
            answers_unfair=sum(one.answer == "unfair" for one in whole),
            by_decision=_by_decision(sorted(made.number for made in own.values()), flagged),
            first_left=self._left[0] if self._left else None,
            last_left=self._left[-1] if self._left else None,
        )


HANDLERS: dict[str, Callable[..., None]] = {
    **dict.fromkeys(SETTINGS_KINDS, LedgerReader._change),
    "decision": LedgerReader._decision,
    "action": LedgerReader._action,
    "override": LedgerReader._override,
    "outcome": LedgerReader._outcome,
    "review": LedgerReader._review,
    "withdrawal": LedgerReader._withdrawal,
}


def _became(flag: SeenFlag) -> str:
    return flag.undone or ("repeat" if flag.repeat else "stands")


def _record(name: str, flag: SeenFlag, made: Mapping[str, SeenDecision]) -> FlagRecord:
    number = made[flag.decision].number
    about = (name, flag.seq, flag.time, flag.reviewer, flag.decision, number, flag.subject)
    return FlagRecord(*about, flag.pairs, _became(flag))


def _by_decision(numbers: Sequence[int], flagged: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """So many of the flagged decisions up to each of some of all numbers, which are in order; the last one included."""
    if not numbers:
        return ()
    places = np.unique(np.linspace(0, len(numbers) - 1, min(POINTS, len(numbers))).round().astype(int))
    ends = [numbers[place] for place in places]
    return tuple(zip(ends, np.searchsorted(flagged, ends, side="right").tolist(), strict=True))
