"""Contents: what an event says about people, kept beside its text, which has salted commitments to it.

The text's body has "sealed": {"columns", "contents": [{"of", "hash"}, ...]}, where hash = SHA-256(salt + content text).
The first contents are those of the candidates, in their order. A content is JSON with up to three parts: "each", the
person's value in each of the columns; "lists", the person's entries of lists; "fields", further fields of the body.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

SALT = 16
"""Bytes of a salt."""

CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY


class Content(NamedTuple):
    """What an event says about one or several people; the text is exactly what the commitment is to."""

    salt: bytes
    text: bytes
    of: tuple[str, ...] = ()
    """Whose it is, if it is to be stored; empty for everybody whom the event's other contents are of."""

    @property
    def commitment(self) -> str:
        """What the event's text has in its place."""
        return hashlib.sha256(self.salt + self.text).hexdigest()


Contents = tuple[Content | None, ...]
"""The contents of an event; None for those that were erased."""

UNREADABLE = Content(b"", b"")
"""In place of a content that was damaged: it has no event's commitment."""


class ToSeal(NamedTuple):
    """A content of a new event."""

    of: tuple[str, ...]
    """Whose it is; empty for everybody whom the event's other contents are of."""
    parts: Mapping[str, Mapping[str, Any]]


def seal(body: Mapping[str, Any], columns: Sequence[str], drafts: Sequence[ToSeal]) -> tuple[dict[str, Any], Contents]:
    """A body with commitments in place of contents, and the contents.

    >>> body, contents = seal({"candidates": ["a"]}, ["contexts"], [ToSeal(("a",), {"each": {"contexts": [0.5]}})])
    >>> opened_body(body, contents)
    {'candidates': ['a'], 'contexts': [[0.5]]}
    >>> opened_body(body, (None,))
    {'candidates': ['a'], 'contexts': [None], 'erased': ['a']}
    """
    salts, contents, commitments = os.urandom(SALT * len(drafts)), list[Content](), list[dict[str, Any]]()
    for place, (people, parts) in enumerate(drafts):
        salt, text = salts[SALT * place : SALT * (place + 1)], orjson.dumps(parts, option=CANONICAL)
        contents.append(Content(salt, text, people))
        committed = hashlib.sha256(salt + text).hexdigest()
        commitments.append({"of": people, "hash": committed} if people else {"hash": committed})
    return {**body, "sealed": {"columns": list(columns), "contents": commitments}}, tuple(contents)


def opened_body(body: Mapping[str, Any], contents: Contents) -> dict[str, Any]:
    """The whole body of an event; "erased" names the people whose contents are gone, alone or with those of others."""
    sealed = body.get("sealed")
    if sealed is None:
        return dict(body)
    commitments = sealed["contents"]
    parts = [{} if content is None else orjson.loads(content.text) for content in contents or [None] * len(commitments)]
    whole = {name: value for name, value in body.items() if name != "sealed"}
    for name in sealed["columns"]:
        whole[name] = [part.get("each", {}).get(name) for part in parts[: len(whole["candidates"])]]
    for part in parts:
        for name, entries in part.get("lists", {}).items():
            whole[name] = [*whole.get(name, ()), *entries]
        for name, value in part.get("fields", {}).items():
            is_nested = isinstance(value, dict) and isinstance(whole.get(name), dict)
            whole[name] = {**whole[name], **value} if is_nested else value
    erased = [name for part, one in zip(parts, commitments, strict=True) if not part for name in one.get("of", ())]
    return {**whole, "erased": list(dict.fromkeys(erased))} if not all(parts) else whole


def commitments_in(body: Mapping[str, Any]) -> list[tuple[frozenset[str], str]]:
    """The commitments in the body of an event's text: whose each is, and the hash."""
    found = body.get("sealed", {}).get("contents", ())
    everybody = frozenset(name for one in found for name in one.get("of", ()))
    return [(frozenset(one["of"]) if "of" in one else everybody, one["hash"]) for one in found]


def wrong_content(body: Mapping[str, Any], contents: Contents) -> bool:
    """Whether a content that is there does not have its commitment, or there are not as many as commitments."""
    hashes = [commitment for _, commitment in commitments_in(body)]
    if len(hashes) != len(contents):
        return True
    found = zip(hashes, contents, strict=True)
    return any(content is not None and content.commitment != commitment for commitment, content in found)


def as_json(contents: Contents) -> list[dict[str, str] | None]:
    """Contents for an exported line, each with its text as a string: exactly what the commitment is to."""
    return [None if one is None else {"salt": one.salt.hex(), "text": one.text.decode()} for one in contents]


def from_json(value: Any) -> Contents:
    """Contents from an exported line; UNREADABLE in place of what is none."""
    return tuple(_read(value)) if isinstance(value, list) else (UNREADABLE,)


def _read(entries: list[Any]) -> Iterator[Content | None]:
    for one in entries:
        try:
            yield None if one is None else Content(bytes.fromhex(one["salt"]), str(one["text"]).encode())
        except (KeyError, TypeError, ValueError):
            yield UNREADABLE
