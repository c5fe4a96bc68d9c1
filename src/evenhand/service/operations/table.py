"""The table of operations: method, path, who may, what goes in and what comes out. The busiest comes first."""

from __future__ import annotations

from typing import Any

from evenhand.review.encryption import LONGEST_CURSOR
from evenhand.service.bodies import NewAnswer, NewDecision, NewDesk, NewOutcomes, NewOverride, NewReview, NewSettings
from evenhand.service.operation import ADMIN, Operation
from evenhand.service.operations import decisions, desks, reviews, standing
from evenhand.service.replies import (
    DecisionRecord,
    DecisionTold,
    DeskPage,
    DeskState,
    DeskTold,
    EventPage,
    MetricTold,
    Queue,
    Recorded,
    Standing,
)

DESK = "/api/desks/{desk}"
DECISION = DESK + "/decisions/{decision}"
DECIDE = frozenset({"decide", "admin"})
REVIEW = frozenset({"review", "admin"})
METRICS = frozenset({"metrics", "admin"})

LIMIT: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 1_000, "description": "Entries of the page."}
AFTER_SEQ: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 2**53, "description": "The `next` before."}
AFTER_NAME: dict[str, Any] = {"type": "string", "maxLength": 200, "description": "The `next` of the page before."}
REASON: dict[str, Any] = {"type": "string", "maxLength": reviews.LONGEST_REASON}
REVIEWER: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$",
    "description": "Who will answer: printable characters.",
}
AFTER_PAIR: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_CURSOR,
    "pattern": "^[A-Za-z0-9_-]+$",
    "description": "The `next` of the page before; not together with a reviewer.",
}
OF_QUEUE = {"after": AFTER_PAIR, "limit": LIMIT, "reviewer": REVIEWER}

BUSIEST = Operation("POST", DESK + "/decisions", decisions.decide, DecisionTold, DECIDE, 201, NewDecision)

OPERATIONS: tuple[Operation, ...] = (
    BUSIEST,
    Operation("POST", DECISION + "/outcomes", decisions.record_outcomes, Recorded, DECIDE, 201, NewOutcomes),
    Operation("POST", DECISION + "/reviews", reviews.give_review, Recorded, REVIEW, 201, NewReview),
    Operation("POST", DECISION + "/overrides", decisions.record_override, Recorded, DECIDE, 201, NewOverride),
    Operation("GET", DECISION, decisions.show_decision, DecisionRecord),
    Operation(
        "DELETE", DESK + "/reviews/{review}", reviews.withdraw_review, Recorded, REVIEW, query={"reason": REASON}
    ),
    Operation("POST", DESK + "/answers", reviews.answer_question, Recorded, REVIEW, 201, NewAnswer),
    Operation("GET", DESK + "/queue", reviews.show_queue, Queue, REVIEW, query=OF_QUEUE),
    # What was learned of who is alike is not for reviewers: their judgement should be their own.
    Operation("GET", DESK + "/metric", desks.show_metric, MetricTold, DECIDE),
    Operation("GET", DESK + "/events", desks.list_events, EventPage, ADMIN, query={"after": AFTER_SEQ, "limit": LIMIT}),
    Operation("POST", DESK + "/settings", desks.change_settings, Recorded, ADMIN, 201, NewSettings),
    Operation("GET", DESK, desks.show_desk, DeskState),
    Operation("POST", "/api/desks", desks.open_desk, DeskTold, ADMIN, 201, NewDesk),
    Operation("GET", "/api/desks", desks.list_desks, DeskPage, query={"after": AFTER_NAME, "limit": LIMIT}),
    Operation("GET", "/health", standing.health, Standing, None, tag="service"),
    Operation("GET", "/ready", standing.ready, Standing, None, tag="service"),
    Operation("GET", "/metrics", standing.metrics, None, METRICS, tag="service"),
)
