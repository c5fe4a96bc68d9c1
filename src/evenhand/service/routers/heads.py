"""Signed heads of ledgers, and proofs: that an event is in a ledger, and that a ledger continues an earlier one."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, Field

from evenhand.ledger.event import LONGEST
from evenhand.ledger.proofs import consistency, inclusion
from evenhand.ledger.signing_keys import recorded_keys
from evenhand.ledger.tree import STEP, LedgerTree
from evenhand.service.authentication import Caller
from evenhand.service.dependencies import (
    NO_QUERY,
    UNIQUE_QUERY,
    AuditingCaller,
    JSONRoute,
    PageQuery,
    QueryModel,
    RunningService,
)
from evenhand.service.problems import AT_DESK, LISTED, Problem, unavailable
from evenhand.service.responses import json_response
from evenhand.service.service import Service
from evenhand.service.visibility import only_reviews

router = APIRouter(prefix="/api", tags=["history"], route_class=JSONRoute)

Stream = Annotated[
    str, Path(alias="desk", description="The desk; @service for tokens and keys.", json_schema_extra={"minLength": 1})
]
Size = Annotated[int, Field(ge=1, le=2**53)]


async def auditor(caller: AuditingCaller) -> Caller:
    """The caller, who may see hashes: reviewers may not."""
    if only_reviews(caller):
        raise Problem("forbidden", "this token is for reviewing: reviewers see no hashes")
    return caller


Auditor = Annotated[Caller, Depends(auditor)]


def tree_of(service: Service, desk: str, size: int) -> LedgerTree:
    """The tree of a desk's ledger, if it has these events, or nearly: a long ledger is taken in in the background."""
    tree = service.signer.heads.tree(desk)
    if tree.missing(min(size, service.ledger.head(desk).seq)) > STEP:
        raise unavailable("the tree of this ledger is being made", seconds=60)
    return tree


class HeadQuery(PageQuery):
    """A page of heads."""

    after: Annotated[int, Field(ge=0, le=2**53, description="The `next` of the page before.")] = 0


class InclusionQuery(QueryModel):
    """Which event is to be proved to be in which tree."""

    event: Annotated[str, Field(min_length=1, max_length=LONGEST, description="The id of the event.")]
    size: Annotated[Size, Field(description="The number of events of the tree: the size of a signed head.")]


class ConsistencyQuery(QueryModel):
    """Two sizes of one ledger."""

    first: Annotated[Size, Field(description="The size of the earlier head.")]
    second: Annotated[Size, Field(description="The size of the later head.")]


class SignedHeadResponse(BaseModel):
    """A signed head."""

    desk: str
    size: int
    root: str
    hash: str
    time: str
    key: str
    signature: str


class HeadPage(BaseModel):
    """Signed heads in the order of their sizes."""

    heads: list[SignedHeadResponse]
    next: int | None


class NewestHeads(BaseModel):
    """The newest signed head of each desk the token is for, and of the service's own stream."""

    heads: list[SignedHeadResponse]


class KeyResponse(BaseModel):
    """A public key, and when it signed."""

    key: str
    created: str
    retired: str | None
    previous: str | None
    endorsement: str | None


class KeyList(BaseModel):
    """The public keys that heads are signed with, the oldest first."""

    keys: list[KeyResponse]


class InclusionProof(BaseModel):
    """An event is in the tree with this root."""

    desk: str
    event: str
    seq: int
    leaf: str
    size: int
    root: str
    proof: list[str]


class ConsistencyProof(BaseModel):
    """The second tree begins with the first."""

    desk: str
    first: int
    first_root: str
    second: int
    second_root: str
    proof: list[str]


@router.get("/heads", response_model=NewestHeads, responses=LISTED, dependencies=NO_QUERY)
async def list_newest_heads(service: RunningService, caller: Auditor) -> Response:
    """The newest signed head of each desk the token is for, and of the service's own stream."""
    heads = service.signer.heads

    def read() -> list[dict[str, Any]]:
        found = (heads.latest(name) for name in heads.streams() if caller.sees(name))
        return [head.to_dict() for head in found if head is not None]

    return json_response({"heads": await asyncio.to_thread(read)})


@router.get("/keys", response_model=KeyList, responses=LISTED, dependencies=NO_QUERY)
async def list_keys(service: RunningService, caller: Auditor) -> Response:
    """The public keys (Ed25519) that heads are signed with; those of earlier heads stay valid for them."""
    keys = await asyncio.to_thread(recorded_keys, service.ledger)
    return json_response({"keys": [key.to_dict() for key in keys]})


@router.get("/desks/{desk}/heads", response_model=HeadPage, responses=AT_DESK, dependencies=UNIQUE_QUERY)
async def list_heads(
    service: RunningService, caller: Auditor, desk: Stream, query: Annotated[HeadQuery, Query()]
) -> Response:
    """All signed heads of a desk, in order. Get the next page with after=<next>."""
    limit = query.size(service)

    def read() -> list[dict[str, Any]]:
        service.ledger.head(desk)
        return [head.to_dict() for head in service.signer.heads.page(desk, query.after, limit + 1)]

    found = await asyncio.to_thread(read)
    page = found[:limit]
    return json_response({"heads": page, "next": page[-1]["size"] if len(found) > limit else None})


@router.get("/desks/{desk}/heads/latest", response_model=SignedHeadResponse, responses=AT_DESK, dependencies=NO_QUERY)
async def show_latest_head(service: RunningService, caller: Auditor, desk: Stream) -> Response:
    """The newest signed head of a desk. Keep it: it shows every later change of what it covers."""
    await asyncio.to_thread(service.ledger.head, desk)
    found = await asyncio.to_thread(service.signer.heads.latest, desk)
    if found is None:
        raise Problem("not-found", "no head of this desk was signed yet")
    return json_response(found.to_dict())


@router.get(
    "/desks/{desk}/proofs/inclusion", response_model=InclusionProof, responses=AT_DESK, dependencies=UNIQUE_QUERY
)
async def prove_inclusion(
    service: RunningService, caller: Auditor, desk: Stream, query: Annotated[InclusionQuery, Query()]
) -> Response:
    """The proof that an event is among the first `size` events (RFC 9162): the hashes from its leaf to the root."""

    def prove() -> dict[str, Any]:
        return inclusion(service.ledger, tree_of(service, desk, query.size), desk, query.event, query.size)

    return json_response(await asyncio.to_thread(prove))


@router.get(
    "/desks/{desk}/proofs/consistency", response_model=ConsistencyProof, responses=AT_DESK, dependencies=UNIQUE_QUERY
)
async def prove_consistency(
    service: RunningService, caller: Auditor, desk: Stream, query: Annotated[ConsistencyQuery, Query()]
) -> Response:
    """The proof that the first `second` events begin with the first `first` (RFC 9162)."""

    def prove() -> dict[str, Any]:
        return consistency(tree_of(service, desk, query.second), desk, query.first, query.second)

    return json_response(await asyncio.to_thread(prove))
