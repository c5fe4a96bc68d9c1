"""DeskClient: a running service from Python, with retries that never do a thing twice.

    client = DeskClient("http://127.0.0.1:8000", token="eh_...")
    decision = client.decide("loans", [{"id": "a", "context": [0.1, 0.2]}, {"id": "b", "context": [0.3, 0.1]}])
    client.outcome("loans", decision["id"], {decision["chosen"][0]: 1.0})

Every request that changes something carries an idempotency key, drawn here unless given. So it may be sent again
after a lost connection, a restart or an overload, and the answer is the one that was lost. What the service could not
take is refused here, with InvalidInput, before anything is sent.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, Self, SupportsFloat, Unpack

try:
    import httpx
except ModuleNotFoundError as error:  # pragma: no cover - depends on how it was installed
    from evenhand.errors import MissingExtra

    raise MissingExtra("the client needs httpx: pip install 'evenhand[service]'") from error

from evenhand._internal.checks import is_whole
from evenhand._internal.client_requests import as_dict, as_json, as_key, as_list, as_path, as_query
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.records.review_metadata import ReviewMetadata
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
            headers["Authorization"] = f"Bearer {_checked_token(token)}"
        if not is_whole(retries) or retries < 0:
            raise InvalidInput(f"retries is {retries!r}; allowed is a whole number >= 0")
        self._http = httpx.Client(base_url=_checked_url(url), headers=headers, timeout=timeout, transport=transport)
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
        return self._get(as_path(desk))

    def metric(self, desk: str) -> dict[str, Any]:
        """What the desk learned about who is alike."""
        return self._get(as_path(desk, "metric"))

    def change_settings(self, desk: str, changes: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Settings that may change while a desk runs."""
        return self._post(as_path(desk, "settings"), {"changes": as_dict(changes, "changes")}, key)

    def events(self, desk: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The ledger, event by event."""
        return self._pages(as_path(desk, "events"), "events", after=after)

    # Decisions.

    def decide(self, desk: str, candidates: Sequence[Mapping[str, Any]], *, key: str | None = None) -> dict[str, Any]:
        """Choose among candidates, each {"id", "context"} or {"id", "features"}: the odds, and who was drawn."""
        return self._post(as_path(desk, "decisions"), {"candidates": as_list(candidates, "candidates")}, key)

    def decision(self, desk: str, decision: str) -> dict[str, Any]:
        """The record of a decision with its explanation."""
        return self._get(as_path(desk, "decisions", decision))

    def outcome(
        self, desk: str, decision: str, rewards: Mapping[str, SupportsFloat], *, key: str | None = None
    ) -> dict[str, Any]:
        """What came of chosen candidates."""
        return self._post(
            as_path(desk, "decisions", decision, "outcomes"), {"rewards": as_dict(rewards, "rewards")}, key
        )

    def override(
        self, desk: str, decision: str, chosen: Sequence[str], *, reason: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Somebody chose otherwise than the lottery did."""
        body = {"chosen": as_list(chosen, "chosen"), "reason": reason}
        return self._post(as_path(desk, "decisions", decision, "overrides"), body, key)

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
        **seen: Unpack[ReviewMetadata],
    ) -> dict[str, Any]:
        """What a reviewer says: complete, partial or one_bit; and what she saw and how, see `ReviewMetadata`."""
        pairs = {name: as_list(given, name) for name, given in (("unfair", unfair), ("fair", fair))}
        rest = {"circumstances": circumstances, "supersedes": supersedes}
        said = {**pairs, "any_unfair": any_unfair, "reviewer": reviewer, **rest}
        body = {name: value for name, value in said.items() if value is not None and (name not in pairs or value)}
        return self._post(as_path(desk, "decisions", decision, "reviews"), {"kind": kind, **body, **seen}, key)

    def withdraw(self, desk: str, review: str, *, reason: str | None = None, key: str | None = None) -> dict[str, Any]:
        """Take a review back."""
        query = {"reason": reason} if reason is not None else None
        return self._ask("DELETE", as_path(desk, "reviews", review), query=query, key=as_key(key))

    def answer(
        self, desk: str, x: Iterable[float], y: Iterable[float], *, key: str | None = None, **said: Any
    ) -> dict[str, Any]:
        """What a reviewer says of two contexts: gap, unfair, reviewer."""
        return self._post(as_path(desk, "answers"), {"x": as_list(x, "x"), "y": as_list(y, "y"), **said}, key)

    def queue(self, desk: str, limit: int | None = 20, *, reviewer: str | None = None) -> list[dict[str, Any]]:
        """So many pairs that wait for a review, or with None all of them, the most telling first.

        reviewer: for whom they are then kept for a while, as many as one page has.
        """
        query: dict[str, Any] = {} if reviewer is None else {"reviewer": reviewer}
        if limit is not None and (limit <= PAGE or reviewer is not None):
            query["limit"] = limit
        return list(islice(self._pages(as_path(desk, "queue"), "pairs", **query), limit))

    # Asking.

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._ask("GET", path, query=query)

    def _post(self, path: str, body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        return self._ask("POST", path, body=body, key=as_key(key))

    def _pages(self, path: str, name: str, **query: Any) -> Iterator[Any]:
        while True:
            page = self._get(path, query)
            if not isinstance(page.get(name), list) or "next" not in page:
                raise ServiceProblem(200, {"detail": f"the answer has no page of {name}: is this an evenhand service?"})
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
        content = None if body is None else as_json(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = self._http.request(method, path, content=content, params=as_query(query), headers=headers)
            except httpx.RequestError as error:  # no answer, or one that cannot be decoded
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
        if told is not None and told.isascii() and told.isdigit():
            pause = max(pause, min(LONGEST_PAUSE, float(told)))
        self._sleep(pause)


def _checked_token(token: Any) -> str:
    """A token that can stand in a header; which one it is, an error does not say."""
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput("the token cannot be sent; allowed are printable ASCII characters without blanks, or None")
    return token


def _checked_url(url: Any) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (TypeError, httpx.InvalidURL) as error:
        raise InvalidInput(f"url is {url!r}: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InvalidInput(f"url is {url!r}; allowed is http://HOST or https://HOST, with or without a port")
    return parsed


def _content(answer: httpx.Response) -> dict[str, Any]:
    """What an answer says; ServiceProblem if it is no success, or none that a service of ours would give."""
    try:
        content = answer.json()
    except (ValueError, RecursionError):
        content = None
    if answer.is_success and isinstance(content, dict):
        return content
    if isinstance(content, dict):
        raise ServiceProblem(answer.status_code, content)
    shown = " ".join(answer.text[:200].split())
    told = (
        f"status {answer.status_code}, and the answer is no JSON object: is this an evenhand service? It says: {shown}"
    )
    raise ServiceProblem(answer.status_code, {"detail": told})
