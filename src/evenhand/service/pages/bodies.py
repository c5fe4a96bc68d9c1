"""What the pages send."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from evenhand.service.bodies import Moment

Note = Annotated[str, Meta(max_length=2_000)]


class SignIn(Struct, forbid_unknown_fields=True):
    """A token to be exchanged for a cookie."""

    token: Annotated[str, Meta(min_length=1, max_length=400)]


class ItemAnswer(Struct, forbid_unknown_fields=True):
    """What a reviewer says of the pair before them."""

    item: Annotated[str, Meta(min_length=1, max_length=20_000, description="As it came with the pair.")]
    answer: Literal["unfair", "acceptable", "unsure", "skip", "conflict"]
    started: Moment
    ended: Moment
    reason: Annotated[str, Meta(max_length=200)] | None = None
    note: Note | None = None


class QuestionAnswer(Struct, forbid_unknown_fields=True):
    """What a reviewer says to an interview's question."""

    item: Annotated[str, Meta(min_length=1, max_length=20_000)]
    answer: Literal["unfair", "acceptable", "unsure", "skip", "conflict"]
    started: Moment
    ended: Moment
    reason: Annotated[str, Meta(max_length=200)] | None = None
    note: Note | None = None


class People(Struct, forbid_unknown_fields=True):
    """People for an interview to ask about, as comma-separated values with a line of names."""

    csv: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
