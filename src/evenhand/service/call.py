"""One request on its way: who asks for what, with its body read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from evenhand.service.problems import Problem
from evenhand.service.refusals import refusal

if TYPE_CHECKING:
    from starlette.types import Scope

    from evenhand.service.asked import Caller, Packed

LONGEST_KEY = 200
KEY = b"idempotency-key"


@dataclass(slots=True)
class Call:
    """What an operation is given."""

    service: Any
    """Of operations under /api the Office, with `desks` and `settings`; of all others the Service."""
    caller: Caller
    path: dict[str, str]
    """The parts of the path by name."""
    headers: dict[bytes, bytes]
    """By lower-case name. The office gets the idempotency key alone."""
    query_string: bytes = b""
    body: Any = None
    packed: Packed | None = None
    """Candidates in place of a body, if the door has read them."""
    address: str | None = None
    """Where it came from, if the door carries it out."""

    @property
    def desk(self) -> str:
        """The name of the desk in the path."""
        return self.path["desk"]

    @property
    def key(self) -> str | None:
        """The idempotency key, with or without the quotes of a structured field; None if there is none."""
        given = self.headers.get(KEY)
        if given is None:
            return None
        key = given.decode("latin-1").strip()
        if len(key) >= 2 and key[0] == key[-1] == '"':
            key = key[1:-1]
        if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
            raise Problem(
                "invalid",
                f"Idempotency-Key is {key[:40]!r}, of {len(key)} characters; allowed are 1 to {LONGEST_KEY} printable "
                "ASCII characters",
            )
        return key

    def query(self, allowed: tuple[str, ...]) -> dict[str, str]:
        """The query's values by name, none of them twice, none but the allowed ones."""
        if not self.query_string:
            return {}
        try:
            given = parse_qsl(self.query_string.decode("ascii"), keep_blank_values=True, errors="strict")
        except ValueError:
            raise Problem("malformed", "the query is not UTF-8, percent-encoded") from None
        values = dict(given)
        if len(values) < len(given) or not set(values) <= set(allowed):
            named = ", ".join(name[:40] for name, _ in given[:20])
            raise Problem(
                "invalid", f"the query has {named}; it may have each of these once: {', '.join(allowed) or 'nothing'}"
            )
        return values

    def whole_number(self, values: dict[str, str], name: str, default: int, least: int, most: int) -> int:
        """A whole number from the query."""
        text = values.get(name)
        if text is None:
            return default
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 17 else -1
        if not least <= number <= most:
            raise Problem("invalid", f"{name} is {text[:40]!r}; allowed is a whole number from {least} to {most}")
        return number

    def page_size(self, values: dict[str, str]) -> int:
        """How many entries are wanted."""
        settings = self.service.settings
        return self.whole_number(values, "limit", min(settings.page, settings.max_page), 1, settings.max_page)


def address_of(scope: Scope) -> str | None:
    """The address that a request came from, be it a proxy's; None from a socket of this machine."""
    client = scope.get("client")
    return None if client is None else str(client[0])


def decoded(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    """The body as what the operation wants."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Problem("invalid", refusal(error, decoder.type, body)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem("malformed", f"the body is no JSON: {error}") from None
