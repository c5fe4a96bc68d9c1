"""Sealed notes: what a browser keeps for the service without being able to read or change it.

A keystream of HMAC-SHA-256 in counter mode hides the content, and an HMAC over all of it shows any change (encrypt,
then authenticate). The two keys come from one secret.

It has to be hidden: a note says why a pair is asked about, whether it was asked before, and what the desk knew of it,
and whoever reads that judges otherwise. Python's own library has no cipher, and nothing that the service needs brings
one: a library would be installed for these notes alone. The construction is the textbook's (a pseudorandom function in
counter mode under a random nonce), both halves of it are the standard library's HMAC, and a note is worth one answer.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from typing import Any

import orjson

from evenhand.errors import InvalidInput

NONCE, TAG = 12, 16
EVEN = 1024
"""Content is filled up to a multiple of so many bytes unless told otherwise: the length of a note tells nothing."""


def seal(secret: bytes, content: Any, *, even: int = EVEN) -> str:
    """Content that JSON can tell, sealed: letters, digits, - and _. Its length tells that of the content, to `even`."""
    nonce = os.urandom(NONCE)
    text = orjson.dumps(content)
    text += b" " * (-len(text) % even)
    hidden = _hidden(_key(secret, b"hide"), nonce, text)
    return base64.urlsafe_b64encode(nonce + hidden + _tag(secret, nonce + hidden)).decode().rstrip("=")


def unseal(secret: bytes, note: str) -> Any:
    """What was sealed; InvalidInput if it was changed, or sealed by somebody else.

    >>> unseal(b"secret", seal(b"secret", {"pair": [1, 2]}))
    {'pair': [1, 2]}
    >>> unseal(b"secret", "AAAA")
    Traceback (most recent call last):
    ...
    evenhand.errors.InvalidInput: this item was not made by this desk; ask for the next one
    """
    try:
        raw = base64.urlsafe_b64decode(note + "=" * (-len(note) % 4))
    except (binascii.Error, ValueError):
        raw = b""
    body, tag = raw[:-TAG], raw[-TAG:]
    if len(body) <= NONCE or not hmac.compare_digest(tag, _tag(secret, body)):
        raise InvalidInput("this item was not made by this desk; ask for the next one")
    return orjson.loads(_hidden(_key(secret, b"hide"), body[:NONCE], body[NONCE:]))


def _key(secret: bytes, purpose: bytes) -> bytes:
    return hmac.digest(secret, purpose, "sha256")


def _tag(secret: bytes, body: bytes) -> bytes:
    return hmac.digest(_key(secret, b"seal"), body, "sha256")[:TAG]


def _hidden(key: bytes, nonce: bytes, text: bytes) -> bytes:
    blocks = range(-(-len(text) // hashlib.sha256().digest_size))
    stream = b"".join(hmac.digest(key, nonce + block.to_bytes(4), "sha256") for block in blocks)
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))
