"""The table of the pages' operations: method, path, who may, what goes in and what comes out."""

from __future__ import annotations

from evenhand.service.operation import ADMIN, ANYONE, Operation
from evenhand.service.pages import interview, review, sign_in
from evenhand.service.pages.bodies import ItemAnswer, People, QuestionAnswer, SignIn
from evenhand.service.pages.replies import (
    AheadTold,
    AnswerTold,
    ItemTold,
    PeopleTold,
    QuestionAnswered,
    QuestionTold,
    ReviewersTold,
    SessionTold,
)

DESK = "/api/desks/{desk}"
REVIEW = frozenset({"review", "admin"})

PAGE_OPERATIONS: tuple[Operation, ...] = (
    Operation("POST", "/session", sign_in.sign_in, SessionTold, None, 201, SignIn, problems=("unauthorized", "rate")),
    Operation("GET", "/session", sign_in.show_session, SessionTold, ANYONE),
    Operation("DELETE", "/session", sign_in.sign_out, SessionTold, ANYONE),
    Operation("GET", DESK + "/review/next", review.next_item, ItemTold, REVIEW),
    Operation("GET", DESK + "/review/ahead", review.items_ahead, AheadTold, REVIEW),
    Operation("POST", DESK + "/review/answers", review.answer_item, AnswerTold, REVIEW, 201, ItemAnswer),
    Operation("GET", DESK + "/reviewers", review.show_reviewers, ReviewersTold, ADMIN),
    Operation("GET", DESK + "/interview/next", interview.next_question, QuestionTold, REVIEW),
    Operation(
        "POST", DESK + "/interview/answers", interview.answer_interview, QuestionAnswered, REVIEW, 201, QuestionAnswer
    ),
    Operation("POST", DESK + "/interview/people", interview.upload_people, PeopleTold, REVIEW, 201, People),
)
"""The pages' own requests: the public document leaves them out."""
