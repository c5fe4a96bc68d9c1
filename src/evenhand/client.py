"""DeskClient: a running service from Python, with retries that never do a thing twice.

    client = DeskClient("http://127.0.0.1:8000", token="eh_...")
    decision = client.decide("loans", [{"id": "a", "context": [0.1, 0.2]}, {"id": "b", "context": [0.3, 0.1]}])
    client.outcome("loans", decision["id"], {decision["chosen"][0]: 1.0})

Every request that changes something carries an idempotency key, drawn here unless given. So it may be sent again
after a lost connection, a restart or an overload, and the answer is the one that was lost.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, Self, Unpack
from urllib.parse import quote
from uuid import uuid4

try:
    import httpx
except ModuleNotFoundError as error:  # pragma: no cover - depends on how it was installed
    from evenhand.errors import MissingExtra

    raise MissingExtra("the client needs httpx: pip install 'evenhand[service]'") from error

from evenhand.circumstances import Circumstances
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.version import __version__

AGAIN = frozenset({429, 502, 503, 504})
"""Answers after which the same request may do better a little later."""
LONGEST_PAUSE = 10.0
PAGE = 100
"""Of longer lists the service says itself how much of them is a page."""


class ServiceProblem(EvenhandError, RuntimeError):
    """The service refused; `status` and `document` (RFC 9457) say why."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(str(document.get("detail") or document.get("title") or f"status {status}"))
        self.status, self.document = status, dict(document)

    @property
    def kind(self) -> str:
        """The last part of the problem's type: not-found, invalid, forbidden, ..."""
        return str(self.document.get("type", "")).rpartition(":")[2]


class ServiceAway(EvenhandError, ConnectionError):
    """No answer, after all retries. Whether the last request was carried out is not known; its key is in `key`."""

    def __init__(self, message: str, key: str | None) -> None:
        super().__init__(message)
        self.key = key


class DeskClient:
    """Speaks to a service. Safe to use from several threads.

    retries: how often a request is sent again after no answer or one of "come back later"; pauses double from
    `pause` seconds on, with jitter, unless the service names a time.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retries: int = 8,
        pause: float = 0.1,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        headers = {"User-Agent": f"evenhand/{__version__}"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)
        self._retries, self._pause, self._sleep = retries, pause, sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    # Desks.

    def open_desk(self, name: str, *, key: str | None = None, **settings: Any) -> dict[str, Any]:
        """Open a new desk: features or n_features, capacity, epsilon, seed, ..."""
        return self._post("/api/desks", {"name": name, **settings}, key)

    def desks(self) -> Iterator[str]:
        """The names of all desks the token is for."""
        return self._pages("/api/desks", "desks")

    def desk(self, desk: str) -> dict[str, Any]:
        """A desk as it stands."""
        return self._get(_path(desk))

    def metric(self, desk: str) -> dict[str, Any]:
        """What the desk learned about who is alike."""
        return self._get(_path(desk, "metric"))

    def change_settings(self, desk: str, changes: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Settings that may change while a desk runs."""
        return self._post(_path(desk, "settings"), {"changes": dict(changes)}, key)

    def events(self, desk: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The ledger, event by event."""
        return self._pages(_path(desk, "events"), "events", after=after)

    # Decisions.

    def decide(self, desk: str, candidates: Sequence[Mapping[str, Any]], *, key: str | None = None) -> dict[str, Any]:
        """Choose among candidates, each {"id", "context"} or {"id", "features"}: the odds, and who was drawn."""
        return self._post(_path(desk, "decisions"), {"candidates": list(candidates)}, key)

    def decision(self, desk: str, decision: str) -> dict[str, Any]:
        """The record of a decision with its explanation."""
        return self._get(_path(desk, "decisions", decision))

    def outcome(
        self, desk: str, decision: str, rewards: Mapping[str, float], *, key: str | None = None
    ) -> dict[str, Any]:
        """What came of chosen candidates."""
        return self._post(_path(desk, "decisions", decision, "outcomes"), {"rewards": dict(rewards)}, key)

    def override(
        self, desk: str, decision: str, chosen: Sequence[str], *, reason: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Somebody chose otherwise than the lottery did."""
        body = {"chosen": list(chosen), "reason": reason}
        return self._post(_path(desk, "decisions", decision, "overrides"), body, key)

    # Reviews.

    def review(
        self,
        desk: str,
        decision: str,
        kind: str,
        *,
        unfair: Sequence[Sequence[str]] = (),
        fair: Sequence[Sequence[str]] = (),
        any_unfair: bool | None = None,
        reviewer: str | None = None,
        circumstances: Mapping[str, Any] | None = None,
        supersedes: str | None = None,
        key: str | None = None,
        **seen: Unpack[Circumstances],
    ) -> dict[str, Any]:
        """What a reviewer says: complete, partial or one_bit; and what she saw and how, see `Circumstances`."""
        said = {"unfair": list(unfair), "fair": list(fair), "any_unfair": any_unfair, "reviewer": reviewer}
        rest = {"circumstances": circumstances, "supersedes": supersedes}
        body = {name: value for name, value in {**said, **rest}.items() if value not in (None, [])}
        return self._post(_path(desk, "decisions", decision, "reviews"), {"kind": kind, **body, **seen}, key)

    def withdraw(self, desk: str, review: str, *, reason: str | None = None, key: str | None = None) -> dict[str, Any]:
        """Take a review back."""
        query = {"reason": reason} if reason is not None else None
        return self._ask("DELETE", _path(desk, "reviews", review), query=query, key=key or uuid4().hex)

    def answer(
        self, desk: str, x: Sequence[float], y: Sequence[float], *, key: str | None = None, **said: Any
    ) -> dict[str, Any]:
        """What a reviewer says of two contexts: gap, unfair, reviewer."""
        return self._post(_path(desk, "answers"), {"x": list(x), "y": list(y), **said}, key)

    def queue(self, desk: str, limit: int | None = 20, *, reviewer: str | None = None) -> list[dict[str, Any]]:
        """So many pairs that wait for a review, or with None all of them, the most telling first.

        reviewer: for whom they are then kept for a while, as many as one page has.
        """
        query: dict[str, Any] = {} if reviewer is None else {"reviewer": reviewer}
        if limit is not None and (limit <= PAGE or reviewer is not None):
            query["limit"] = limit
        return list(islice(self._pages(_path(desk, "queue"), "pairs", **query), limit))

    # Asking.

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._ask("GET", path, query=query)

    def _post(self, path: str, body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        return self._ask("POST", path, body=body, key=key or uuid4().hex)

    def _pages(self, path: str, name: str, **query: Any) -> Iterator[Any]:
        while True:
            page = self._get(path, query)
            yield from page[name]
            if page["next"] is None:
                return
            query["after"] = page["next"]

    def _ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        headers = {} if key is None else {"Idempotency-Key": key}
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = self._http.request(method, path, json=body, params=query, headers=headers)
            except httpx.TransportError as error:
                if last:
                    raise ServiceAway(f"no answer from the service: {error or type(error).__name__}", key) from error
                self._wait(attempt, None)
                continue
            if answer.status_code in AGAIN and not last:
                self._wait(attempt, answer.headers.get("Retry-After"))
                continue
            return _content(answer)
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, attempt: int, told: str | None) -> None:
        pause = min(LONGEST_PAUSE, self._pause * 2**attempt) * (0.5 + random.random() / 2)
        if told is not None and told.isdigit():
            pause = max(pause, min(LONGEST_PAUSE, float(told)))
        self._sleep(pause)


def _path(*parts: str) -> str:
    for part in parts:
        if part in ("", ".", ".."):  # these would be other paths
            raise InvalidInput(f"{part!r} is the name of nothing; allowed is a desk's name, or an id")
    return "/api/desks/" + "/".join(quote(part, safe="") for part in parts)


def _content(answer: httpx.Response) -> dict[str, Any]:
    """What an answer says; ServiceProblem if it is no success."""
    try:
        content = answer.json()
    except ValueError:
        content = {"title": answer.text[:200]}
    if not answer.is_success:
        raise ServiceProblem(answer.status_code, content if isinstance(content, dict) else {})
    return dict(content)
