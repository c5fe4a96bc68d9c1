"""Recording: from commands to lines of the ledger, one after the other, each checked against what is there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from evenhand._internal.checks import is_number
from evenhand.desk.commands import (
    AnswerQuestion,
    ChangeSettings,
    Command,
    Decide,
    GiveReview,
    ImportPast,
    Override,
    RecordOutcome,
    Withdraw,
)
from evenhand.desk.draws import Lots
from evenhand.desk.event_records import decision_of, indices_of, review_of
from evenhand.desk.imports.past import learn_rewards, read_past
from evenhand.desk.imports.provenance import with_origins
from evenhand.desk.inputs import (
    as_circumstances,
    as_numbers,
    as_pairs,
    as_text,
    check_review_kind,
    circumstances_of_review,
)
from evenhand.desk.parsed_command import Wish
from evenhand.desk.projection.quiet_bandit import QuietBandit
from evenhand.desk.review_book import refuse_second_answer
from evenhand.desk.settings import DeskSettings
from evenhand.errors import AlreadyRecorded, InvalidInput, NotChosen, UnknownRecord
from evenhand.ledger.event import new_id
from evenhand.ledger.ledger import Row
from evenhand.ledger.names import check_name
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Review
from evenhand.rewards import RidgeUCB
from evenhand.version import __version__


@dataclass
class Draft:
    """A line of the ledger before it has a place: what it says, and the columns it is found by."""

    kind: str
    id: str
    body: dict[str, Any]
    target: str | None = None
    number: int | None = None
    undoes: int | None = None


class Recording:
    """What one batch of commands comes to, given the state to decide from and the ledger's lines they speak of."""

    def __init__(
        self, state: tuple[int, QuietBandit], settings: tuple[int, DeskSettings], decisions: int, lots: Lots
    ) -> None:
        self.state_seq, bandit = state
        self.settings_seq, self.settings = settings
        self.decisions = decisions
        self.lots = lots
        self._bandit = bandit
        self._deciding = bandit.with_capacity(self.settings.capacity)
        self._theta = cast("RidgeUCB", bandit.reward).theta
        self._schema = None if self.settings.schema is None else self.settings.schema.digest
        self.known: dict[str, Row] = {}
        """Lines that commands speak of, by id."""
        self.about: dict[str, list[Row]] = {}
        """Lines about decisions and reviews, by target."""

    def draft(self, wish: Wish) -> Draft:
        """The line for one command; an error, and nothing has changed, if it cannot be."""
        return KINDS[type(wish.command)](self, wish)

    def wrote(self, row: Row) -> None:
        """A line was added: later commands of the batch see it."""
        self.known[row.id] = row
        if row.target is not None:
            self.about.setdefault(row.target, []).append(row)
        if row.kind == "decision":
            self.decisions += 1
        elif row.kind == "settings":
            self.settings_seq, self.settings = row.seq, DeskSettings.from_dict(row.event.body["settings"])
            self._deciding = self._bandit.with_capacity(self.settings.capacity)

    def _decide(self, wish: Wish) -> Draft:
        candidates, number = wish.candidates, self.decisions
        assert candidates is not None
        decision = self._deciding.propose(candidates.contexts, number=number, rng=self.lots.of(number))
        ids = candidates.ids
        body = {
            "number": number,
            "state": self.state_seq,
            "settings": self.settings_seq,
            "code": __version__,
            "schema": self._schema,
            "candidates": ids,
            "contexts": decision.contexts,
            "estimated_rewards": decision.contexts @ self._theta,
            "optimistic_rewards": decision.optimistic_rewards,
            "probabilities": decision.probabilities,
            "capacity": decision.capacity,
            "tight_pairs": decision.tight_pairs,
            "chosen": [ids[i] for i in decision.chosen],
            "lots": self.lots.record(number),
            "worst_residual": decision.worst_residual,
            "seal": decision.id,
        }
        if candidates.features is not None:
            body["features"] = candidates.features
        return Draft("decision", new_id("decision"), body, number=number)

    def _decision_row(self, name: Any) -> Row:
        row = self.known.get(name) if isinstance(name, str) else None
        if row is None or row.kind != "decision":
            raise UnknownRecord(f"this desk made no decision {name!r}")
        return row

    def _outcome(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, RecordOutcome)
        row = self._decision_row(command.decision)
        body, rewards = row.event.body, command.rewards
        if not hasattr(rewards, "items") or not rewards:
            raise InvalidInput(f"rewards is {rewards!r}; allowed is a dict from a chosen candidate's id to a number")
        chosen, most = self._chosen(row), cast("RidgeUCB", self._bandit.reward).largest_reward
        for candidate, reward in rewards.items():
            if candidate not in chosen:
                raise NotChosen(f"candidate {candidate!r} was not chosen; outcomes are known of {chosen}")
            if not is_number(reward):
                raise InvalidInput(f"the reward of candidate {candidate!r} is {reward!r}; allowed is a finite number")
            if abs(reward) > most:
                raise InvalidInput(
                    f"the reward of candidate {candidate!r} is {reward!r}; allowed are {-most:g} to {most:g}: divide "
                    "rewards by what is usual, so that most lie between -1 and 1"
                )
        for earlier in self.about.get(row.id, ()):
            twice = set(rewards) & set(earlier.event.body["rewards"]) if earlier.kind == "outcome" else ()
            if twice:
                raise AlreadyRecorded(f"the outcome of candidate {min(twice)!r} is in the ledger as {earlier.id}")
        values = {str(candidate): float(reward) for candidate, reward in rewards.items()}
        contexts = np.array([body["contexts"][body["candidates"].index(candidate)] for candidate in values])
        copy.deepcopy(self._bandit.reward).learn(contexts, np.array(list(values.values())))  # refuses what it must
        return Draft("outcome", new_id("outcome"), {"decision": row.id, "rewards": values}, target=row.id)

    def _chosen(self, row: Row) -> list[str]:
        """Who was really chosen: as the last override says, or as the lottery drew."""
        overrides = [line for line in self.about.get(row.id, ()) if line.kind == "override"]
        chosen: list[str] = (overrides[-1] if overrides else row).event.body["chosen"]
        return chosen

    def _review(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, GiveReview)
        row = self._decision_row(command.decision)
        if command.reviewer is not None:
            check_name(command.reviewer, "reviewer")
        body: dict[str, Any] = {
            "decision": row.id,
            "kind": command.kind,
            "unfair": as_pairs(command.unfair, "unfair"),
            "fair": as_pairs(command.fair, "fair"),
            "any_unfair": command.any_unfair,
            "reviewer": command.reviewer,
            "supersedes": command.supersedes,
        }
        check_review_kind(body)
        body["circumstances"] = circumstances_of_review(command.circumstances, body, row.event.body["candidates"])
        review = review_of(body, row.event.body["candidates"])
        self._refuse_unlearnable(row, review)
        undone = None if command.supersedes is None else self._to_undo(command.supersedes)
        if undone is not None and undone.target != row.id:
            raise InvalidInput(f"review {undone.id} is of another decision; a review supersedes one of its own")
        says_nothing = review.kind == "partial" and not review.unfair and not review.fair  # "unsure", of whichever pair
        if not (command.circumstances or {}).get("repeat"):
            if not says_nothing:
                self._refuse_twice(row, review)
            refuse_second_answer(body, self._standing(row))
        return Draft("review", new_id("review"), body, target=row.id, undoes=None if undone is None else undone.seq)

    def _refuse_twice(self, row: Row, review: Review) -> None:
        candidates = row.event.body["candidates"]
        for earlier in self._standing(row):
            if review_of(earlier.event.body, candidates) == review:
                raise AlreadyRecorded(
                    f"this review is in the ledger as {earlier.id}; an answer asked for twice on purpose carries "
                    'circumstances {"repeat": true}'
                )

    def _standing(self, row: Row) -> list[Row]:
        """The reviews of a decision that nobody has taken back or superseded."""
        gone = {earlier.undoes for earlier in self.about.get(row.id, ())}
        reviews = (line for line in self.about.get(row.id, ()) if line.kind == "review" and line.seq not in gone)
        return [line for line in reviews if self._withdrawal_of(line) is None]

    def _refuse_unlearnable(self, row: Row, review: Review) -> None:
        """One bit is more than some metric learners can learn from."""
        if review.any_unfair and self.settings.metric != "BayesPoint":
            bandit = self._bandit.published()
            bandit.count_decisions(max(0, (row.number or 0) + 1 - bandit.rounds))
            bandit.learn(decision_of(row.event.body), review=review)

    def _to_undo(self, name: Any) -> Row:
        """The review, answer or imported line of this id, if it can be taken back."""
        row = self.known.get(name) if isinstance(name, str) else None
        if row is None or row.kind not in ("review", "answer", "imported"):
            raise UnknownRecord(f"this desk's ledger holds no review {name!r}")
        done = self._withdrawal_of(row)
        if done is not None:
            raise AlreadyRecorded(f"review {row.id} was taken back before, by {done.id}")
        return row

    def _withdrawal_of(self, row: Row) -> Row | None:
        lines = [*self.about.get(row.id, ()), *self.about.get(row.target or "", ())]
        return next((line for line in lines if line.undoes == row.seq), None)

    def _withdraw(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, Withdraw)
        row = self._to_undo(command.review_id)
        body = {"review": row.id, "reason": as_text(command.reason, "reason")}
        return Draft("withdrawal", new_id("withdrawal"), body, target=row.id, undoes=row.seq)

    def _override(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, Override)
        row = self._decision_row(command.decision)
        if isinstance(command.chosen, str) or not isinstance(command.chosen, Sequence):
            raise InvalidInput(f"chosen is {command.chosen!r}; allowed is a list of candidates' ids")
        chosen, capacity = list(command.chosen), row.event.body["capacity"]
        indices_of(chosen, row.event.body["candidates"])
        if len(set(chosen)) < len(chosen):
            raise InvalidInput(f"chosen is {chosen}; allowed is each candidate once")
        if capacity is not None and len(chosen) > capacity:
            raise InvalidInput(f"chosen has {len(chosen)} candidates; the decision's capacity allows up to {capacity}")
        body = {"decision": row.id, "chosen": chosen, "reason": as_text(command.reason, "reason")}
        return Draft("override", new_id("override"), body, target=row.id)

    def _change(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, ChangeSettings)
        settings = self.settings.changed(command.changes)
        body = {"changes": dict(command.changes), "settings": settings.to_dict()}
        return Draft("settings", new_id("settings"), body)

    def _answer(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, AnswerQuestion)
        said = {"x": as_numbers(command.x, "x"), "y": as_numbers(command.y, "y")}
        for name, context in said.items():
            if len(context) != self.settings.n_features:
                raise InvalidInput(
                    f"{name} has {len(context)} numbers; allowed are {self.settings.n_features}, one for each feature"
                )
        both = as_contexts(list(said.values()), self.settings.n_features)
        if not is_number(command.gap) or not 0 <= command.gap <= 1:
            raise InvalidInput(f"gap is {command.gap!r}; allowed is a number from 0 to 1")
        if command.unfair is not None and not isinstance(command.unfair, bool | np.bool_):
            raise InvalidInput(f"unfair is {command.unfair!r}; allowed are True, False, and None for unsure")
        if command.reviewer is not None:
            check_name(command.reviewer, "reviewer")
        told = {"gap": float(command.gap), "unfair": command.unfair, "reviewer": command.reviewer}
        body = {"x": both[0], "y": both[1], **told, "circumstances": as_circumstances(command.circumstances)}
        return Draft("answer", new_id("answer"), with_origins(body, command.origins))

    def _import(self, wish: Wish) -> Draft:
        command = wish.command
        assert isinstance(command, ImportPast)
        body = read_past(command.record, self.settings)
        learn_rewards(copy.deepcopy(self._bandit.reward), body)  # refuses what it must
        return Draft("imported", new_id("imported"), with_origins(body, command.origins))


KINDS: dict[type[Command], Callable[[Recording, Wish], Draft]] = {
    Decide: Recording._decide,
    RecordOutcome: Recording._outcome,
    GiveReview: Recording._review,
    Withdraw: Recording._withdraw,
    Override: Recording._override,
    ChangeSettings: Recording._change,
    AnswerQuestion: Recording._answer,
    ImportPast: Recording._import,
}
