"""Why a candidate was not chosen, in words that a person can be sent: the features that counted, the most first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from evenhand._internal.arrays import Floats
from evenhand.desk.explain.explanation import NEGLIGIBLE
from evenhand.desk.projection.projection import Projection
from evenhand.desk.remaining import erased_in
from evenhand.desk.settings import DeskSettings, coordinates
from evenhand.desk.shadow import action_of
from evenhand.errors import Erased
from evenhand.ledger.event import Row
from evenhand.ledger.ledger import Ledger
from evenhand.review.display import features_of, in_words
from evenhand.rewards.model import RewardModel
from evenhand.schema.words import label

MOST_REASONS = 4
"""More are unlikely to help the reader: Regulation B's commentary on 1002.9(b)(2) says so, too."""
MOST_NOTICES = 5
"""The newest decisions of a candidate that are explained: each needs what the desk knew at its time."""
UNKNOWN = "Less is known about some of the other applicants, which raised their {}."
"""If what is not known counted against the candidate: the desk explores."""
SMALLEST = 1e-9
"""A contribution below this is none."""


@dataclass(frozen=True)
class Contribution:
    """How far a feature moved the candidate's optimistic reward from the average of the decision's candidates."""

    feature: str
    words: str
    """The candidate's value."""
    amount: float


@dataclass(frozen=True)
class CandidateNotice:
    """A decision in which a candidate was not chosen, and why."""

    decision: str
    number: int
    time: str
    kind: str
    """"declined" by the draw, "overridden" by somebody, "shadow": by the system in force, "left out", or "erased"."""
    candidates: int
    chosen: int
    chance: float | None
    contributions: tuple[Contribution, ...] = ()
    """Of all features, the most harmful first."""
    unknown: float = 0.0
    """The same for how much was unknown of people like the candidate."""
    together: float = 0.0
    """What features do together in a model that is not linear; with the others it adds up to `difference`."""
    difference: float = 0.0
    """The candidate's optimistic reward less the average."""
    sentences: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers."""
        return asdict(self)

    @property
    def reasons(self) -> tuple[Contribution, ...]:
        """The features that lowered the chance most."""
        return tuple(one for one in self.contributions if one.amount < -SMALLEST)[:MOST_REASONS]


def notices(
    ledger: Ledger,
    desk: str,
    candidate: str,
    decisions: Sequence[str],
    last: int,
    settings: DeskSettings,
    projection_at: Callable[[int], Projection],
) -> list[CandidateNotice]:
    """The newest decisions in which the candidate was not chosen, as known at event `last`, the newest first."""
    found: list[CandidateNotice] = []
    for name in reversed(decisions):
        if len(found) == MOST_NOTICES:
            break
        with ledger.reading(desk) as view:
            row, about = view.by_id([name])[name], [one for one in view.about([name]) if one.seq <= last]
        notice = _notice(row, about, candidate, settings, projection_at)
        found += [] if notice is None else [notice]
    return found


def _notice(
    row: Row,
    about: Sequence[Row],
    candidate: str,
    settings: DeskSettings,
    projection_at: Callable[[int], Projection],
) -> CandidateNotice | None:
    """The notice of one decision; None if the candidate was chosen, or what was done is not known."""
    body, time = row.event.body, row.event.time
    chosen, kind = body["chosen"], "declined"
    if body.get("shadow"):
        action = action_of(body, about)
        chosen, kind = None if action is None else [*action["chosen"], *action.get("left_out", ())], "shadow"
    overrides = [one for one in about if one.kind == "override"]
    if overrides:
        chosen = overrides[-1].event.body["chosen"]
        kind = "overridden" if candidate in body["chosen"] else "declined"
    if chosen is None or candidate in chosen:
        return None
    where = (row.id, body["number"], time)
    if candidate not in body["candidates"]:
        reasons = [reason for one in body["left_out"] if one["id"] == candidate for reason in one["reasons"]]
        words = tuple(f"The application could not be considered: {reason}." for reason in reasons)
        return CandidateNotice(*where, "left out", len(body["candidates"]), len(chosen), None, sentences=words)
    place = body["candidates"].index(candidate)
    counts = (len(body["candidates"]), len(chosen), body["probabilities"][place])
    if candidate in erased_in(body):
        return CandidateNotice(*where, "erased", *counts, sentences=("The candidate's data were erased.",))
    if kind != "declined":
        return CandidateNotice(*where, kind, *counts, sentences=_by_others(kind))
    return _explained(where, counts, body, place, settings, projection_at)


def _by_others(kind: str) -> tuple[str, ...]:
    if kind == "shadow":
        return ("Another system made this decision; its reasons are not in this ledger.",)
    return ("The draw had chosen this candidate, and a person decided otherwise; that person has to give the reasons.",)


def _explained(
    where: tuple[str, int, str],
    counts: tuple[int, int, float],
    body: dict[str, Any],
    place: int,
    settings: DeskSettings,
    projection_at: Callable[[int], Projection],
) -> CandidateNotice:
    try:
        model = projection_at(body["state"]).bandit.reward
        if erased_in(body) & set(body["candidates"]):
            raise Erased("somebody of the decision was erased")
    except Erased:
        words = "Which features counted cannot be computed any more: somebody was erased since."
        return CandidateNotice(*where, "declined", *counts, sentences=(words,))
    contexts = np.array(body["contexts"], dtype=np.float64)
    amounts = _by_feature(model, contexts[place], contexts.mean(axis=0), settings)
    values = features_of(body, [body["candidates"][place]], settings)[0]
    parts = [Contribution(name, _value(values, name, settings), amount) for name, amount in amounts.items()]
    optimistic = np.array(body["optimistic_rewards"])
    widths = optimistic - np.array(body["estimated_rewards"])
    difference, unknown = (float(one[place] - one.mean()) for one in (optimistic, widths))
    together = difference - unknown - sum(amounts.values())
    ordered = tuple(sorted(parts, key=lambda part: part.amount))
    notice = CandidateNotice(
        *where,
        "declined",
        *counts,
        contributions=ordered,
        unknown=unknown,
        together=together,
        difference=difference,
    )
    return replace(notice, sentences=_words(notice, is_share=body.get("mode") == "shares"))


def _by_feature(model: RewardModel, own: Floats, average: Floats, settings: DeskSettings) -> dict[str, float]:
    """How much the estimate of a context loses if a feature takes its average; all features one by one.

    Of a linear model that is theta_f (x_f - mean x_f). Nobody differs in the intercept.
    """
    schema = settings.schema
    named = settings.features or coordinates(settings.n_features)
    blocks = {name: slice(i, i + 1) for i, name in enumerate(named)} if schema is None else schema.blocks
    contexts = np.tile(own, (1 + len(blocks), 1))
    for row, block in enumerate(blocks.values(), start=1):
        contexts[row, block] = average[block]
    estimates = model.estimate(contexts)
    return dict(zip(blocks, (estimates[0] - estimates[1:]).tolist(), strict=True))


def _value(values: dict[str, Any], name: str, settings: DeskSettings) -> str:
    return in_words(values.get(name), settings.schema, name)


def _words(notice: CandidateNotice, *, is_share: bool) -> tuple[str, ...]:
    """The sentences of a notice: only the candidate's own data, nothing of others."""
    if is_share:
        drawn = f"{notice.chosen} of {notice.candidates} applicants got a share. Yours was {notice.chance:.1%}."
        return (drawn, *_reasons(notice, "share"))
    drawn = (
        f"{notice.chosen} of {notice.candidates} applicants {'was' if notice.chosen == 1 else 'were'} chosen. "
        f"Your chance in the draw was {notice.chance:.1%}, and you were not drawn."
    )
    return (drawn, *_reasons(notice, "chance"))


def _reasons(notice: CandidateNotice, what: str) -> tuple[str, ...]:
    if notice.reasons:
        listed = "; ".join(f"{label(one.feature)}: {one.words}" for one in notice.reasons)
        counted = f"Compared with the average applicant of this decision, these lowered your {what} most: {listed}."
    else:
        counted = f"No feature lowered your {what} below that of the average applicant of this decision."
    return (counted, UNKNOWN.format(what)) if notice.unknown < -NEGLIGIBLE else (counted,)
