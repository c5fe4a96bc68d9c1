"""SignedHead: what a service says of a ledger, in a form that it cannot deny later.

A head states how many events a desk had at a time, the root of the Merkle tree over them and the hash of the last one.
The signature is Ed25519, over a fixed line and the canonical JSON of the other fields. A public key has 32 bytes, as
many as a fingerprint of it would have: the key is its own id.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from evenhand.errors import DamagedLedger, InvalidInput
from evenhand.ledger.event import canonical

HEAD_CONTEXT = b"evenhand head v1\n"
KEY_CONTEXT = b"evenhand key v1\n"
"""What a signature is for: one of a head can never be taken for one of a key."""

CLOCKS = timedelta(minutes=1)
"""How much the clocks of two processes may differ."""

HEX_LENGTHS = {"root": 64, "hash": 64, "key": 64, "signature": 128}


class SigningKey:
    """An Ed25519 key that signs heads.

    >>> key = SigningKey(bytes(32))
    >>> is_signature(key.public, b"a", key.sign(b"a")), is_signature(key.public, b"b", key.sign(b"a"))
    (True, False)
    """

    def __init__(self, secret: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(secret)
        self.public = self._private.public_key().public_bytes_raw().hex()
        """The public key, in hexadecimal digits; also its id."""

    @classmethod
    def from_hex(cls, text: str) -> Self:
        """The key with a secret of 64 hexadecimal digits."""
        try:
            return cls(bytes.fromhex(text.strip()))
        except ValueError:
            raise InvalidInput("the signing key must be 64 hexadecimal digits, got something else") from None

    def sign(self, message: bytes) -> str:
        """The signature, in hexadecimal digits."""
        return self._private.sign(message).hex()


def is_signature(key: str, message: bytes, signature: str) -> bool:
    """Whether a public key signed a message."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(frozen=True)
class SignedHead:
    """The first `size` events of a desk, signed."""

    desk: str
    size: int
    """How many events there were: the seq of the last."""
    root: str
    """The root of the Merkle tree over them."""
    hash: str
    """The hash of the last event in the chain."""
    time: str
    """When it was signed: UTC, ISO 8601, microseconds."""
    key: str
    """The public key."""
    signature: str

    @classmethod
    def sign(cls, key: SigningKey, *, desk: str, size: int, root: str, hash: str, time: str) -> Self:
        """A new signed head."""
        unsigned = cls(desk, size, root, hash, time, key.public, "")
        return cls(desk, size, root, hash, time, key.public, key.sign(unsigned.statement))

    @property
    def statement(self) -> bytes:
        """What is signed."""
        stated = {name: value for name, value in asdict(self).items() if name != "signature"}
        return HEAD_CONTEXT + canonical(stated).encode()

    @property
    def moment(self) -> datetime:
        """When it was signed."""
        return datetime.fromisoformat(self.time).astimezone(UTC)

    @property
    def is_signed(self) -> bool:
        """Whether its key signed it."""
        return is_signature(self.key, self.statement, self.signature)

    def to_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return asdict(self)

    def to_line(self) -> str:
        """One line of JSON."""
        return canonical(self.to_dict())

    @classmethod
    def from_dict(cls, content: Any) -> Self:
        """The head in parsed JSON; InvalidInput if it is none. Other fields are ignored."""
        names = [field.name for field in fields(cls)]
        if not isinstance(content, dict) or not set(names) <= set(content):
            raise InvalidInput(f"a signed head must have {', '.join(names)}")
        head = cls(**{name: content[name] for name in names})
        if not isinstance(head.size, int) or isinstance(head.size, bool) or head.size < 1:
            raise InvalidInput("the size of a signed head must be a whole number >= 1")
        if not isinstance(head.desk, str) or not isinstance(head.time, str) or not _is_time(head.time):
            raise InvalidInput("a signed head must name its desk and its time")
        for name, length in HEX_LENGTHS.items():
            value = content[name]
            if not isinstance(value, str) or len(value) != length or set(value) - set("0123456789abcdef"):
                raise InvalidInput(f"the {name} of a signed head must be {length} hexadecimal digits")
        return head

    @classmethod
    def from_line(cls, line: str | bytes) -> Self:
        """The head in a line of JSON; DamagedLedger if there is none."""
        try:
            return cls.from_dict(orjson.loads(line))
        except (orjson.JSONDecodeError, InvalidInput) as error:
            raise DamagedLedger(f"a signed head cannot be read: {error}") from None


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def key_statement(key: str, previous: str) -> bytes:
    """What the key before signs of a new one."""
    return KEY_CONTEXT + canonical({"key": key, "previous": previous}).encode()
