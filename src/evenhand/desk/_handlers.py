"""Handlers: one for each command; each checks the command against the ledger and drafts its event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._internal.checks import check_number, check_one_of, check_share, refusal
from evenhand.desk import commands as cmd
from evenhand.desk.commands import ANSWER_FIELDS, Command
from evenhand.desk.event_records import (
    decision_of,
    indices_of,
    is_repeat,
    refuse_second_answer,
    review_of,
    subject_of,
)
from evenhand.desk.imports.past import past_outcomes, read_past
from evenhand.desk.parsing import as_numbers, as_text, read_review, with_origins
from evenhand.desk.projection.projection import QuietBandit
from evenhand.desk.remaining import people_named, refuse_erased
from evenhand.desk.sealing import people_in
from evenhand.desk.settings import DeskSettings
from evenhand.desk.shadow import MODES, action_of, check_subject, read_action, treatment_of
from evenhand.errors import AlreadyRecorded, Erased, InvalidInput, NotChosen, UnknownRecord
from evenhand.ledger.event import Row, check_name, is_name
from evenhand.ledger.ledger import LedgerView
from evenhand.ledger.waiting_pairs import Subject
from evenhand.records.contexts import as_contexts
from evenhand.records.decision import Review
from evenhand.records.review_metadata import check_review_metadata, read_metadata

Draft = tuple[str, dict[str, Any], dict[str, Any]]
"""An event before it has a place in the ledger: its kind, its body, and the columns it is found by, together with
"about", the people whom its free text may be about."""

REFERENCES = ("decision", "review_id", "supersedes")
"""Fields of commands that name an event."""


class Handlers:
    """Handles the commands of one batch but decisions, with the events that they refer to."""

    def __init__(self, bandit: QuietBandit, commands: Sequence[Command], view: LedgerView) -> None:
        self._bandit = bandit
        named = (getattr(command, field, None) for command in commands for field in REFERENCES)
        names = {str(name) for name in named if is_name(name)}
        self._known = view.by_id(names)
        """Events that commands refer to, by id."""
        self._about: dict[str, list[Row]] = {}
        """Events about decisions and reviews, by target."""
        of_known = {row.target for row in self._known.values() if row.target is not None}
        targets = names | of_known
        self._known |= view.by_id(of_known - names)
        erased = [one.candidate for one in commands if isinstance(one, cmd.Erase) and is_name(one.candidate)]
        answers = [one for one in commands if isinstance(one, cmd.AnswerQuestion) and isinstance(one.people, Sequence)]
        asked = [name for one in answers for name in one.people if is_name(name)]
        self._held = {name: view.held(name) for name in erased}
        self._gone = {one.candidate for one in view.erasures()} if erased or asked else set()
        """People who were erased."""
        self._kept = {name for name in asked if name in self._gone and view.held(name).since is not None}
        for row in view.following(targets):
            self._about.setdefault(row.target or "", []).append(row)

    def handle(self, command: Command, settings: DeskSettings) -> Draft:
        """The event of a command; after an error nothing has changed."""
        self.settings = settings
        return HANDLERS[type(command)](self, command)

    def appended(self, row: Row) -> None:
        """An event was added: later commands of the batch see it."""
        self._known[row.id] = row
        if row.target is not None:
            self._about.setdefault(row.target, []).append(row)

    def _decision_row(self, name: Any) -> Row:
        if not isinstance(name, str):
            raise refusal("decision", "the id of a decision, such as decision.id", name)
        row = self._known.get(name)
        if row is None or row.kind != "decision":
            raise UnknownRecord(f"this desk made no decision {name!r}")
        return row

    def _outcome(self, command: cmd.RecordOutcome) -> Draft:
        row = self._decision_row(command.decision)
        body, rewards = row.event.body, command.rewards
        if not hasattr(rewards, "items") or not rewards:
            raise refusal("rewards", "a dict from the ids of chosen candidates to numbers", rewards)
        refuse_erased(list(rewards), body)
        chosen, most = self._chosen(row), self._bandit.reward.largest_reward
        for candidate, reward in rewards.items():
            if candidate not in chosen:
                raise NotChosen(f"candidate {candidate!r} was not chosen; chosen were {chosen}")
            what = f"the reward of candidate {candidate!r}"
            if abs(check_number(what, reward)) > most:
                raise InvalidInput(
                    f"{what} must be from {-most:g} to {most:g}, got {reward!r}; divide rewards by their usual size"
                )
        for earlier in self._about.get(row.id, ()):
            twice = set(rewards) & set(earlier.event.body["rewards"]) if earlier.kind == "outcome" else ()
            if twice:
                raise AlreadyRecorded(f"the outcome of candidate {min(twice)!r} is in the ledger as {earlier.id}")
        values = {str(candidate): float(reward) for candidate, reward in rewards.items()}
        places = indices_of(list(values), body["candidates"])
        contexts = np.array([body["contexts"][place] for place in places])
        shares, whose = None, {}
        if body.get("mode") == "shares":
            given = body["probabilities"]
            if body.get("shadow"):
                whose["treatment"] = given = treatment_of(self._action(row, "outcomes"), body["candidates"])
            shares = np.array([given[place] for place in places])
        self._bandit.reward.check_outcomes(contexts, np.array(list(values.values())), shares)
        return "outcome", {"decision": row.id, "rewards": values, **whose}, {"target": row.id}

    def _chosen(self, row: Row) -> list[str]:
        """The candidates who were chosen: by the system in force, by the last override, or else by the draw."""
        if row.event.body.get("shadow"):
            return list(self._action(row, "their outcomes")["chosen"])
        overrides = [other for other in self._about.get(row.id, ()) if other.kind == "override"]
        chosen: list[str] = (overrides[-1] if overrides else row).event.body["chosen"]
        return chosen

    def _action(self, row: Row, what: str) -> dict[str, Any]:
        """What was really done instead of a shadow decision."""
        action = action_of(row.event.body, self._about.get(row.id, ()))
        if action is None:
            raise NotChosen(
                f"who was chosen must be known before {what}: decision {row.id} was made in shadow mode; record the "
                "action of the system in force first"
            )
        return action

    def _record_action(self, command: cmd.RecordAction) -> Draft:
        row = self._decision_row(command.decision)
        decision = row.event.body
        if not decision.get("shadow"):
            raise InvalidInput(f"decision {row.id} was made live: if others were chosen, record an override")
        if action_of(decision, self._about.get(row.id, ())) is not None:
            raise AlreadyRecorded(f"what was done instead of decision {row.id} is in the ledger already")
        value = {"chosen": command.chosen, "probabilities": command.probabilities, "scores": command.scores}
        beyond = [one["id"] for one in decision.get("left_out", ())]
        action = read_action(value, decision["candidates"], beyond, mode=decision.get("mode", "lottery"))
        refuse_erased(decision["candidates"] if "scores" in action else action["chosen"], decision)
        return "action", {"decision": row.id, **action}, {"target": row.id, "about": decision["candidates"]}

    def _switch(self, command: cmd.Switch) -> Draft:
        check_one_of("to", command.to, MODES)
        shadow = command.to == "shadow"
        if self.settings.shadow == shadow:
            raise AlreadyRecorded(f"the desk is {'in shadow mode' if shadow else 'live'} already")
        settings = replace(self.settings, shadow=shadow)
        body = {
            "to": command.to,
            "reason": as_text("reason", command.reason),
            "settings": settings.to_dict(with_model=False),
        }
        return "switch", body, {}

    def _review(self, command: cmd.GiveReview) -> Draft:
        row = self._decision_row(command.decision)
        decision = row.event.body
        candidates, subject = decision["candidates"], check_subject(command.subject, decision, row.id)
        treated = decision["probabilities"]
        whose: dict[str, Any] = {"subject": subject} if decision.get("shadow") else {}
        if subject == "system":
            treated = treatment_of(self._action(row, "reviews of what was done"), candidates)
            whose["treatment"] = treated
        named = vars(command).items()
        values = {name: value for name, value in named if value is not None or name not in ANSWER_FIELDS}
        review, content = read_review(values, candidates, treated, self.settings.reviewing)
        body = {"decision": row.id, **content, "supersedes": command.supersedes, **whose}
        metadata = read_metadata(command.circumstances)
        if metadata is not None:
            check_review_metadata(metadata, body, candidates)
        body["circumstances"] = metadata
        refuse_erased(people_named(body), decision)
        if subject == "desk":  # that something the system did was unfair is not learned from
            self._refuse_unlearnable(row, review)
        undone = None if command.supersedes is None else self._to_withdraw(command.supersedes)
        if undone is not None and (undone.target != row.id or subject_of(undone.event.body) != subject):
            raise InvalidInput(
                f"supersedes must be a review of the same decision and subject, got {undone.id}, a review of another"
            )
        if not is_repeat(body):
            if review.kind != "partial" or review.unfair or review.fair:  # "unsure" may be said of several pairs
                self._refuse_duplicate(row, review, subject)
            refuse_second_answer(body, self._standing_reviews(row, subject))
        columns = {"target": row.id, "undoes": None if undone is None else undone.seq}
        return "review", body, {**columns, "about": people_in(body, candidates)}

    def _refuse_duplicate(self, row: Row, review: Review, subject: Subject) -> None:
        for earlier in self._standing_reviews(row, subject):
            if review_of(earlier.event.body, row.event.body["candidates"]) == review:
                raise AlreadyRecorded(
                    f"this review is in the ledger as {earlier.id}; mark a pair that is shown again on purpose with "
                    'circumstances {"repeat": true}'
                )

    def _standing_reviews(self, row: Row, subject: Subject) -> list[Row]:
        """The reviews of a decision that were neither withdrawn nor superseded, of one subject."""
        about = self._about.get(row.id, ())
        superseded = {other.undoes for other in about}
        reviews = [other for other in about if other.kind == "review" and other.seq not in superseded]
        reviews = [review for review in reviews if subject_of(review.event.body) == subject]
        return [review for review in reviews if self._withdrawal_of(review) is None]

    def _refuse_unlearnable(self, row: Row, review: Review) -> None:
        """Some metric learners cannot learn that some pair was unfair."""
        if review.any_unfair and self.settings.metric not in ("BayesPoint", "VersionSpace"):
            bandit = self._bandit.published()
            bandit.count_decisions(max(0, (row.number or 0) + 1 - bandit.rounds))
            decision = bandit.own(decision_of(row.event.body))
            bandit.learn(decision, review=review)

    def _to_withdraw(self, name: Any) -> Row:
        """The review, answer or imported record of this id, if it can be withdrawn."""
        row = self._known.get(name) if isinstance(name, str) else None
        if row is None or row.kind not in ("review", "answer", "imported"):
            raise UnknownRecord(f"this desk's ledger has no review {name!r}")
        withdrawal = self._withdrawal_of(row)
        if withdrawal is not None:
            raise AlreadyRecorded(f"review {row.id} was withdrawn before, by {withdrawal.id}")
        return row

    def _withdrawal_of(self, row: Row) -> Row | None:
        about = [*self._about.get(row.id, ()), *self._about.get(row.target or "", ())]
        return next((other for other in about if other.undoes == row.seq), None)

    def _withdraw(self, command: cmd.Withdraw) -> Draft:
        row = self._to_withdraw(command.review_id)
        body = {"review": row.id, "reason": as_text("reason", command.reason)}
        return "withdrawal", body, {"target": row.id, "undoes": row.seq, "about": self._people_of(row)}

    def _people_of(self, row: Row) -> list[str]:
        """The people whom a review, an answer or an imported record is about."""
        if row.kind == "review":
            return people_in(row.event.body, self._decision_row(row.target).event.body["candidates"])
        return row.event.body["candidates"] if row.kind == "imported" else row.people or [row.id]

    def _override(self, command: cmd.Override) -> Draft:
        row = self._decision_row(command.decision)
        if row.event.body.get("shadow"):
            raise InvalidInput(f"decision {row.id} was made in shadow mode and chose nobody: record the action instead")
        if isinstance(command.chosen, str) or not isinstance(command.chosen, Sequence):
            raise refusal("chosen", "a list of candidates' ids", command.chosen)
        if row.event.body.get("mode") == "shares":
            raise InvalidInput("a decision in shares draws nobody: there is no draw to override")
        chosen, capacity = list(command.chosen), row.event.body["capacity"]
        indices_of(chosen, row.event.body["candidates"])
        if len(set(chosen)) < len(chosen):
            raise refusal("chosen", "different candidates", chosen)
        if capacity is not None and len(chosen) > capacity:
            raise InvalidInput(
                f"chosen must be at most {capacity} candidates, the decision's capacity, got {len(chosen)}"
            )
        body = {"decision": row.id, "chosen": chosen, "reason": as_text("reason", command.reason)}
        return "override", body, {"target": row.id, "about": row.event.body["candidates"]}

    def _change_settings(self, command: cmd.ChangeSettings) -> Draft:
        settings = self.settings.changed(command.changes)
        body = {"changes": dict(command.changes), "settings": settings.to_dict(with_model=False)}
        return "settings", body, {}

    def _answer(self, command: cmd.AnswerQuestion) -> Draft:
        n_features = self.settings.n_features
        contexts = [as_numbers(name, getattr(command, name), n_features) for name in ("x", "y")]
        x, y = as_contexts(contexts, n_features)
        check_share("gap", command.gap)
        if command.unfair is not None and not isinstance(command.unfair, bool | np.bool_):
            raise refusal("unfair", "True, False, or None for unsure", command.unfair)
        if command.reviewer is not None:
            check_name(command.reviewer, "reviewer")
        body = {
            "x": x,
            "y": y,
            "gap": float(command.gap),
            "unfair": command.unfair,
            "reviewer": command.reviewer,
            "circumstances": read_metadata(command.circumstances),
        }
        people = [check_name(name, "the id of a person") for name in command.people]
        for name in people:
            if name in self._gone - self._kept:
                raise Erased(f"candidate {name!r} was erased: nothing can be recorded about them here any more")
        return "answer", with_origins(body, command.origins), {"about": list(dict.fromkeys(people))}

    def _import(self, command: cmd.ImportPast) -> Draft:
        body = read_past(command.record, self.settings)
        self._bandit.reward.check_outcomes(*past_outcomes(body))
        return "imported", with_origins(body, command.origins), {}

    def _erase(self, command: cmd.Erase) -> Draft:
        """The event of an erasure; appending it destroys the key."""
        candidate = check_name(command.candidate, "candidate")
        held = self._held.pop(candidate, None)
        if held is None or (held.since is None and (candidate in self._gone or not held.old_events)):
            was = "was erased before" if held is None or candidate in self._gone else "is not in this desk's ledger"
            raise UnknownRecord(f"candidate {candidate!r} {was}: there is nothing to erase")
        if held.since is None:
            raise InvalidInput(
                f"candidate {candidate!r} cannot be erased from this ledger: {held.old_events} events that name them "
                "were written by an earlier version, with everything in the hashed text. What is possible: export the "
                "ledger, import it into a desk of a new database, erase the candidate there, and delete this database "
                "and its backups"
            )
        body = {"candidate": candidate, "since": held.since, "reason": as_text("reason", command.reason)}
        return "erasure", {**body, "old_events": held.old_events}, {}


HANDLERS: dict[type[Command], Callable[[Handlers, Any], Draft]] = {
    cmd.RecordOutcome: Handlers._outcome,
    cmd.GiveReview: Handlers._review,
    cmd.Withdraw: Handlers._withdraw,
    cmd.Override: Handlers._override,
    cmd.RecordAction: Handlers._record_action,
    cmd.Switch: Handlers._switch,
    cmd.ChangeSettings: Handlers._change_settings,
    cmd.AnswerQuestion: Handlers._answer,
    cmd.ImportPast: Handlers._import,
    cmd.Erase: Handlers._erase,
}
