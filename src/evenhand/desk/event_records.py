"""From events back to records: Decision, Review, the answers of reviewers on pairs, and DeskDecision for notebooks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand._internal.counted import counted
from evenhand._internal.text_table import probability_table
from evenhand.desk.commands import RATED_FIELDS
from evenhand.errors import AlreadyRecorded, ContradictoryReview, UnknownPair
from evenhand.ledger.event import Event, Row
from evenhand.ledger.ledger import Ledger
from evenhand.ledger.waiting_pairs import FIRST_PLACE, Subject
from evenhand.records.decision import Decision, Pair, Review
from evenhand.records.review_metadata import ANSWERS, DECLINED, invalid_field

CHUNK = 250
"""Decisions read at once."""

REVERSED = "reversed"
"""The answer on a pair of which the one who comes first has the lower probability: no judgement of the gap."""

MOST_SHOWN = 6
"""Maximum number of probabilities in the repr."""


def decision_of(body: Mapping[str, Any]) -> Decision:
    """The decision of an event of kind "decision", to the bit; erased candidates have zeros, and no signature."""
    place = {name: i for i, name in enumerate(body["candidates"])}
    contexts = body["contexts"]
    if "erased" in body:
        blank = [0.0] * max((len(context) for context in contexts if context is not None), default=1)
        contexts = [blank if context is None else context for context in contexts]
    return Decision(
        id=body["seal"] if "seal" in body else f"{body['number']}-erased",
        round=body["number"],
        contexts=np.array(contexts, dtype=np.float64),
        probabilities=np.array(body["probabilities"], dtype=np.float64),
        chosen=tuple(place[name] for name in body.get("would_choose", body["chosen"])),
        capacity=body["capacity"],
        optimistic_rewards=np.array([reward or 0.0 for reward in body["optimistic_rewards"]], dtype=np.float64),
        tight_pairs=tuple((i, j) for i, j in body["tight_pairs"]),
        worst_residual=body.get("worst_residual"),  # the first ledgers have none
        unproved_pairs=body.get("unproved_pairs", 0),
        **{name: np.array(body[name], dtype=np.float64) for name in ("lower", "upper") if name in body},
        mode=body.get("mode", "lottery"),
    )


def decisions_with_events(ledger: Ledger, desk: str, numbers: Sequence[int]) -> Iterator[tuple[Row, list[Row]]]:
    """The decisions with these numbers, ascending; each with the events about it that were not withdrawn."""
    for at in range(0, len(numbers), CHUNK):
        with ledger.reading(desk) as view:
            decisions = view.by_number(numbers[at : at + CHUNK])
            rows = view.following([row.id for row in decisions.values()])
        withdrawn, later = {row.undoes for row in rows}, defaultdict[str | None, list[Row]](list)
        for row in rows:
            if row.seq not in withdrawn:
                later[row.target].append(row)
        yield from ((row, later[row.id]) for _, row in sorted(decisions.items()))


def review_of(body: Mapping[str, Any], candidates: Sequence[str]) -> Review:
    """The review of an event of kind "review", with indices in place of ids; of ratings, as they were given."""
    if body["kind"] in RATED_FIELDS:
        return _rated_review_of(body, candidates)
    unfair, fair = _pairs(body["unfair"], candidates), _pairs(body["fair"], candidates)
    both = {frozenset(pair) for pair in unfair} & {frozenset(pair) for pair in fair}
    if both:
        names = [candidates[i] for i in sorted(min(both, key=sorted))]
        raise ContradictoryReview(f"a pair must be either fair or unfair, got {names} in both")
    return Review(body["kind"], unfair=unfair, fair=fair, any_unfair=body["any_unfair"], reviewer=body["reviewer"])


def _rated_review_of(body: Mapping[str, Any], candidates: Sequence[str]) -> Review:
    """The review of an event with ratings or comparisons."""
    common = {"tolerance": body["tolerance"], "reviewer": body["reviewer"]}
    if body["kind"] == "ratings":
        scores = dict(zip(indices_of(list(body["ratings"]), candidates), body["ratings"].values(), strict=True))
        return Review.ratings(scores, scale=(body["scale"][0], body["scale"][1]), **common)
    triples = [(*indices_of(one["pair"], candidates), one["answer"]) for one in body["comparisons"]]
    return Review("comparisons", compared=tuple(triples), **common)


def implied_fields(review: Review, candidates: Sequence[str], probabilities: Sequence[float]) -> dict[str, Any]:
    """What ratings or comparisons imply, for the event: unfair, fair and reversed, as pairs of ids.

    An event has the answers as they were given, which the bandit learns from, and beside them what they imply for the
    decision's probabilities: whoever counts flags need not know how the reviewer was asked.
    """
    verdicts = review.as_verdicts(probabilities)
    pairs = {"unfair": verdicts.unfair, "fair": verdicts.fair, "reversed": review.reversed_pairs(probabilities)}
    return {name: [[candidates[i], candidates[j]] for i, j in found] for name, found in pairs.items()}


def _pairs(pairs: Sequence[Sequence[str]], candidates: Sequence[str]) -> tuple[Pair, ...]:
    return tuple((i, j) for i, j in (indices_of(pair, candidates) for pair in pairs))


def indices_of(names: Sequence[str], candidates: Sequence[str]) -> list[int]:
    """The index of each of these candidates; UnknownPair for one who is not a candidate."""
    for name in names:
        if name not in candidates:
            raise UnknownPair(f"unknown candidate {name!r}; the candidates of this decision are {list(candidates)}")
    return [candidates.index(name) for name in names]


def subject_of(body: Mapping[str, Any]) -> Subject:
    """Whose decision a review is about: the desk's own, or what the system in force did beside a shadow decision."""
    return "system" if body.get("subject") == "system" else "desk"


def is_repeat(body: Mapping[str, Any]) -> bool:
    """Whether a review is of a pair that was shown again on purpose: it is recorded, but not learned from."""
    return bool((body.get("circumstances") or {}).get("repeat"))


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """One answer of one reviewer: on a pair, on a whole decision, or in an interview."""

    review: str
    """The id of the event."""
    seq: int
    time: str
    reviewer: str | None
    decision: str
    pair: frozenset[str]
    answer: str
    place: int = 0
    """Which of the pair's planned places it took."""
    repeat_of: str | None = None
    """The answer that it is to be compared with."""
    again_of: str | None = None
    """The withdrawn answer that it replaces."""
    seconds: float | None = None
    """From seeing the pair to answering."""
    whole: str = ""
    """"complete" or "one_bit" of a review of a whole decision, "answer" in an interview; the pair is then empty."""
    item: str | None = None
    """The item that it answers, on the review page."""
    pairs: int = 0
    """Of a complete review: how many pairs the decision has."""
    left: str | None = None
    """The candidate shown on the left, on the review page."""
    subject: Subject = "desk"
    """Whose decision it is about."""

    @property
    def treated(self) -> tuple[str, Subject]:
        """The decision and whose it is: answers on a pair can be compared if these are the same."""
        return self.decision, self.subject


def metadata_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a review or an answer; empty if its fields are invalid."""
    metadata: dict[str, Any] = body["circumstances"] or {}
    return metadata if invalid_field(metadata) is None else {}  # the first ledgers accepted anything


def answers_in(row: Row) -> list[ReviewAnswer]:
    """The answers on single pairs in a review: one from the review page, else all pairs that it names."""
    event = row.event
    body, metadata = event.body, metadata_of(event.body)
    common = (row.id, row.seq, event.time, body["reviewer"], body["decision"])
    subject = subject_of(body)
    if metadata.get("answer") is not None and metadata.get("pair") is not None:
        answer = ReviewAnswer(
            *common,
            frozenset(metadata["pair"]),
            _judgement(metadata["answer"], body),
            int((metadata.get("queue") or {}).get("place", FIRST_PLACE[subject])),
            metadata.get("repeat_of"),
            metadata.get("again_of"),
            metadata.get("seconds"),
            item=metadata.get("item"),
            left=(metadata.get("sides") or {}).get("left"),
            subject=subject,
        )
        return [answer]
    named = (("unfair", body["unfair"]), ("acceptable", body["fair"]), (REVERSED, body.get("reversed", ())))
    known: dict[str, Any] = {"place": FIRST_PLACE[subject], "subject": subject}
    return [ReviewAnswer(*common, frozenset(pair), answer, **known) for answer, pairs in named for pair in pairs]


def _judgement(answer: str, body: Mapping[str, Any]) -> str:
    """An answer of the review page; of a rating or a comparison, what it implies for the pair."""
    if answer in ANSWERS:
        return answer
    return "unfair" if body["unfair"] else "acceptable" if body["fair"] else REVERSED


def refuse_second_answer(body: Mapping[str, Any], standing: Iterable[Row]) -> None:
    """AlreadyRecorded if a review answers on a pair that its reviewer has answered before, in another window perhaps.

    It may supersede the earlier one; what was skipped may be answered. standing: the decision's standing reviews, of
    the same subject.
    """
    metadata, reviewer = body["circumstances"] or {}, body["reviewer"]
    if metadata.get("answer") is None or reviewer is None:
        return
    pair = frozenset(metadata["pair"])
    for row in standing:
        for answer in answers_in(row) if row.id != body["supersedes"] else ():
            is_answer = answer.repeat_of is None and answer.answer not in DECLINED
            if is_answer and answer.pair == pair and answer.reviewer == reviewer:
                raise AlreadyRecorded(f"this pair was answered before by {reviewer}, see {row.id}")


@dataclass(frozen=True, repr=False)
class DeskDecision:
    """The event of a decision, and its most used fields."""

    event: Event

    def __repr__(self) -> str:
        shown = [f"{name!r}: {p:.3g}" for name, p in self.probabilities.items()]
        if len(shown) > MOST_SHOWN:
            shown = [*shown[:MOST_SHOWN], f"... {len(shown)} in all"]
        return (
            f"DeskDecision({self.id}, number {self.number}, probabilities {{{', '.join(shown)}}}, chosen {self.chosen})"
        )

    def __str__(self) -> str:
        ids, chosen = self.candidates, set(self.chosen)
        places = [place for place, name in enumerate(ids) if name in chosen]
        is_draw = self.mode == "lottery"
        rows = probability_table(ids, self.event.body["probabilities"], places if is_draw else None)
        left_out = [f"left out: {name}: {'; '.join(reasons)}" for name, reasons in self.left_out.items()]
        n = len(self.counted_as)
        others = [f"{counted(n, 'value')} counted as another: see counted_as"] if n else []
        did = "chosen" if is_draw else "got a share"
        was = "nobody is chosen in shadow mode" if self.shadow else f"{len(chosen)} of {len(ids)} candidates {did}"
        headline = f"{was} in decision {self.number}, {self.id}"
        return "\n".join([headline, *rows, *left_out, *others])

    def to_rows(self) -> list[dict[str, Any]]:
        """A dict for each candidate, as in `pandas.DataFrame(decision.to_rows())`."""
        chosen, bounds = set(self.chosen), self.bounds
        rows = [{"id": name, "probability": p, "chosen": name in chosen} for name, p in self.probabilities.items()]
        return [row | dict(zip(("lower", "upper"), bounds.get(str(row["id"]), ()), strict=False)) for row in rows]

    @property
    def id(self) -> str:
        """The id of the decision, for outcomes and reviews."""
        return self.event.id

    @property
    def seq(self) -> int:
        """The number of its event in the ledger."""
        return self.event.seq

    @property
    def hash(self) -> str:
        """The hash of its event: keep it with `seq`, and `evenhand ledger verify --known` finds a rewritten ledger."""
        return self.event.hash

    @property
    def number(self) -> int:
        """How many decisions the desk had made before."""
        return int(self.event.body["number"])

    @property
    def candidates(self) -> list[str]:
        """The candidates' ids, in order."""
        return list(self.event.body["candidates"])

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each candidate; with mode "shares" the share of what was asked that each of them gets."""
        return dict(zip(self.candidates, self.event.body["probabilities"], strict=True))

    @property
    def mode(self) -> str:
        """ "lottery" or "shares"."""
        return str(self.event.body.get("mode", "lottery"))

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The floor and the ceiling of each candidate; empty if none were given."""
        body = self.event.body
        return dict(zip(self.candidates, zip(body.get("lower", ()), body.get("upper", ()), strict=True), strict=False))

    @property
    def chosen(self) -> list[str]:
        """The ids of the candidates drawn, or, with mode "shares", of all who get a share; nobody in shadow mode."""
        return list(self.event.body["chosen"])

    @property
    def shadow(self) -> bool:
        """Whether it was made in shadow mode: the system in force decides, and nobody is chosen here."""
        return bool(self.event.body.get("shadow"))

    @property
    def would_choose(self) -> list[str]:
        """The ids of the candidates drawn, also in shadow mode, where nobody acts on it."""
        return list(self.event.body.get("would_choose", self.event.body["chosen"]))

    @property
    def left_out(self) -> dict[str, list[str]]:
        """The ids of candidates who do not fit and took no part, each with the reasons."""
        return {one["id"]: list(one["reasons"]) for one in self.event.body.get("left_out", ())}

    @property
    def counted_as(self) -> list[dict[str, Any]]:
        """Values that were counted as another - clipped, not listed, or missing - by candidate and feature."""
        return [dict(one) for one in self.event.body.get("counted_as", ())]
