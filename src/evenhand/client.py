"""DeskClient: a running service from Python, with retries that never record anything twice.

    client = DeskClient("http://127.0.0.1:8000", token="eh_...")
    decision = client.decide("loans", [{"id": "a", "context": [0.1, 0.2]}, {"id": "b", "context": [0.3, 0.1]}])
    client.outcome("loans", decision["id"], {decision["chosen"][0]: 1.0})

Every request that changes something carries an idempotency key, a random one by default. So it can be sent again after
a lost connection, a restart or an overload, and the response is the one that was lost. Input that the service could not
accept raises InvalidInput before anything is sent.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self, SupportsFloat, Unpack

try:
    import httpx
except ModuleNotFoundError as error:  # pragma: no cover - depends on how it was installed
    from evenhand.errors import MissingExtra

    raise MissingExtra("the client needs httpx: pip install 'evenhand[service]'") from error

from evenhand._internal.checks import is_whole
from evenhand._internal.client_requests import (
    as_bounds,
    as_candidates,
    as_dict,
    as_json,
    as_key,
    as_list,
    as_path,
    as_query,
)
from evenhand.errors import EvenhandError, InvalidInput
from evenhand.records.review_metadata import ReviewMetadata
from evenhand.version import __version__

RETRIED = frozenset({429, 502, 503, 504})
"""Statuses after which the same request may succeed a little later."""
MAX_PAUSE = 10.0
PAGE = 100
"""Longer lists come in pages of the service's own size."""


class ServiceProblem(EvenhandError, RuntimeError):
    """The service refused; see `status` and `document` (RFC 9457)."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        super().__init__(str(document.get("detail") or document.get("title") or f"status {status}"))
        self.status, self.document = status, dict(document)

    @property
    def kind(self) -> str:
        """The last part of the problem's type: not-found, invalid, forbidden, ..."""
        return str(self.document.get("type", "")).rpartition(":")[2]


class ServiceAway(EvenhandError, ConnectionError):
    """No response after all retries. Whether the last request was executed is not known; its key is in `key`."""

    def __init__(self, message: str, key: str | None) -> None:
        super().__init__(message)
        self.key = key


class DeskClient:
    """A client of a service. Safe to share between threads.

    retries: how often a request is sent again after no response or a temporary refusal; pauses double from `pause`
    seconds on, with jitter, unless the service names a time.
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
            raise InvalidInput(f"retries must be a whole number >= 0, got {retries!r}")
        self._http = httpx.Client(base_url=_checked_url(url), headers=headers, timeout=timeout, transport=transport)
        self._retries, self._pause, self._sleep = retries, pause, sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # Desks.

    def open_desk(self, name: str, *, key: str | None = None, **settings: Any) -> dict[str, Any]:
        """Open a new desk: schema (a Schema, or its dict), features or n_features, capacity, epsilon, seed, ...

        reward: a name, such as "LogisticUCB", or a new reward model of `evenhand.rewards`.
        """
        schema: Any = settings.get("schema")
        if hasattr(schema, "to_dict"):
            settings["schema"] = schema.to_dict()
        reward: Any = settings.get("reward")
        if hasattr(reward, "recipe"):
            settings["reward"] = reward.recipe()
        prior: Any = settings.get("prior")
        if hasattr(prior, "get_mahalanobis_matrix"):
            prior = prior.get_mahalanobis_matrix()
        if prior is not None:
            settings["prior"] = [as_list(row, "prior") for row in prior]
        return self._post("/api/desks", {"name": name, **settings}, key)

    def desks(self) -> Iterator[str]:
        """The names of all desks the token is for."""
        return self._pages("/api/desks", "desks")

    def desk(self, desk: str) -> dict[str, Any]:
        """A desk: its settings and the length of its ledger."""
        return self._request("GET", as_path(desk))

    def metric(self, desk: str) -> dict[str, Any]:
        """What the desk has learned about similarity."""
        return self._request("GET", as_path(desk, "metric"))

    def change_settings(self, desk: str, changes: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Change settings while a desk runs."""
        return self._post(as_path(desk, "settings"), {"changes": as_dict(changes, "changes")}, key)

    def erase(self, desk: str, candidate: str, *, reason: str | None = None, key: str | None = None) -> dict[str, Any]:
        """Erase what the ledger says about a candidate; the reason stays in the ledger."""
        return self._post(as_path(desk, "erasures"), {"candidate": candidate, "reason": reason}, key)

    def events(self, desk: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The ledger, event by event."""
        return self._pages(as_path(desk, "events"), "events", after=after)

    # Decisions.

    def decide(
        self,
        desk: str,
        candidates: Any,
        *,
        on_invalid: str | None = None,
        lower: Any = None,
        upper: Any = None,
        action: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Choose among candidates, each {"id", "context"} or {"id", "features"}, or the rows of a data frame.

        on_invalid: "skip" leaves out candidates who do not fit, "clip" first counts numbers and dates beyond a range as
        its end; `left_out` and `counted_as` of the response say who and what. "refuse", the default, raises. lower,
        upper: floors and ceilings on probabilities, by id, in the order of the candidates, or one for all; if no fair
        probabilities keep to them, ServiceProblem with what collides in its `document`. action: of a desk in shadow
        mode, {"chosen", "probabilities", "scores"}: what was really done, if it is known yet.
        """
        people = as_candidates(candidates, lambda: self._features(desk))
        fields = {"on_invalid": on_invalid or None, "action": None if action is None else as_dict(action, "action")}
        fields |= {"lower": as_bounds(lower, people, "lower"), "upper": as_bounds(upper, people, "upper")}
        body = {"candidates": people} | {name: value for name, value in fields.items() if value is not None}
        return self._post(as_path(desk, "decisions"), body, key)

    def _features(self, desk: str) -> set[str] | None:
        """The names of features, and of what is carried, that candidates of a desk may have; None for contexts."""
        settings = self.desk(desk)["settings"]
        features, schema = settings["features"], settings["schema"]
        return None if features is None else {*features, *(schema or {}).get("carry", ())}

    def decision(self, desk: str, decision: str) -> dict[str, Any]:
        """The record of a decision with its explanation."""
        return self._request("GET", as_path(desk, "decisions", decision))

    def outcome(
        self, desk: str, decision: str, rewards: Mapping[str, SupportsFloat], *, key: str | None = None
    ) -> dict[str, Any]:
        """Record outcomes of chosen candidates."""
        path = as_path(desk, "decisions", decision, "outcomes")
        return self._post(path, {"rewards": as_dict(rewards, "rewards")}, key)

    def override(
        self, desk: str, decision: str, chosen: Sequence[str], *, reason: str | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Record that somebody chose otherwise than the lottery."""
        body = {"chosen": as_list(chosen, "chosen"), "reason": reason}
        return self._post(as_path(desk, "decisions", decision, "overrides"), body, key)

    # Shadow mode.

    def action(
        self,
        desk: str,
        decision: str,
        chosen: Sequence[str],
        *,
        probabilities: Mapping[str, SupportsFloat] | None = None,
        scores: Mapping[str, SupportsFloat] | None = None,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Record what the system in force really did, where the desk decided in shadow mode."""
        named = {"probabilities": probabilities, "scores": scores}
        body = {name: as_dict(value, name) for name, value in named.items() if value is not None}
        path = as_path(desk, "decisions", decision, "actions")
        return self._post(path, {"chosen": as_list(chosen, "chosen"), **body}, key)

    def switch(self, desk: str, to: str, *, reason: str | None = None, key: str | None = None) -> dict[str, Any]:
        """Make a desk "live", or put it into "shadow" mode."""
        return self._post(as_path(desk, "switches"), {"to": to, "reason": reason}, key)

    def differences(self, desk: str, last: int | None = None) -> dict[str, Any]:
        """Where a desk in shadow mode and the system in force differ, in the newest `last` decisions."""
        return self._request("GET", as_path(desk, "differences"), query=None if last is None else {"last": last})

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
        ratings: Mapping[str, SupportsFloat] | None = None,
        scale: Sequence[float] | None = None,
        comparisons: Mapping[tuple[str, str], str] | None = None,
        tolerance: float | None = None,
        subject: str | None = None,
        key: str | None = None,
        **metadata: Unpack[ReviewMetadata],
    ) -> dict[str, Any]:
        """Give a review: complete, partial, one_bit, ratings or comparisons; metadata: see `ReviewMetadata`.

        ratings: scores by candidate. comparisons: "alike", "first" or "second" by pair. Scale and tolerance are the
        desk's own if they are left out. subject: of a decision in shadow mode, "desk" or "system".
        """
        pairs = {name: as_list(value, name) for name, value in (("unfair", unfair), ("fair", fair)) if len(value)}
        rest: dict[str, Any] = {"circumstances": circumstances, "supersedes": supersedes, "any_unfair": any_unfair}
        rest |= {"ratings": None if ratings is None else as_dict(ratings, "ratings"), "tolerance": tolerance}
        rest |= {"scale": None if scale is None else as_list(scale, "scale"), "subject": subject}
        if comparisons is not None:
            answers = as_dict(comparisons, "comparisons").items()
            rest["comparisons"] = [{"pair": as_list(pair, "comparisons"), "answer": answer} for pair, answer in answers]
        body = {name: value for name, value in (rest | {"reviewer": reviewer}).items() if value is not None}
        path = as_path(desk, "decisions", decision, "reviews")
        return self._post(path, {"kind": kind, **pairs, **body, **metadata}, key)

    def withdraw(self, desk: str, review: str, *, reason: str | None = None, key: str | None = None) -> dict[str, Any]:
        """Withdraw a review."""
        query = {"reason": reason} if reason is not None else None
        return self._request("DELETE", as_path(desk, "reviews", review), query=query, key=as_key(key))

    def answer(
        self, desk: str, x: Iterable[float], y: Iterable[float], *, key: str | None = None, **answer: Any
    ) -> dict[str, Any]:
        """Answer a question about two contexts: gap, unfair, reviewer."""
        return self._post(as_path(desk, "answers"), {"x": as_list(x, "x"), "y": as_list(y, "y"), **answer}, key)

    def queue(self, desk: str, limit: int | None = 20, *, reviewer: str | None = None) -> list[dict[str, Any]]:
        """Pairs that wait for a review, or with None all of them, the most informative first.

        reviewer: for whom the pairs are reserved for a while; then one page at most.
        """
        query: dict[str, Any] = {} if reviewer is None else {"reviewer": reviewer}
        if limit is not None and (limit <= PAGE or reviewer is not None):
            query["limit"] = limit
        return list(islice(self._pages(as_path(desk, "queue"), "pairs", **query), limit))

    # Requests.

    def _post(self, path: str, body: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        return self._request("POST", path, body=body, key=as_key(key))

    def _pages(self, path: str, name: str, **query: Any) -> Iterator[Any]:
        while True:
            page = self._request("GET", path, query=query)
            if not isinstance(page.get(name), list) or "next" not in page:
                detail = f"the response has no page of {name}: is this an evenhand service?"
                raise ServiceProblem(200, {"detail": detail})
            yield from page[name]
            if page["next"] is None:
                return
            query["after"] = page["next"]

    def _request(
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
                response = self._http.request(method, path, content=content, params=as_query(query), headers=headers)
            except httpx.RequestError as error:  # no response, or one that cannot be decoded
                if last:
                    raise ServiceAway(f"no response from the service: {error or type(error).__name__}", key) from error
                self._wait(attempt, None)
                continue
            if response.status_code in RETRIED and not last:
                self._wait(attempt, response.headers.get("Retry-After"))
                continue
            return _content(response)
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, attempt: int, retry_after: str | None) -> None:
        pause = min(MAX_PAUSE, self._pause * 2**attempt) * (0.5 + random.random() / 2)
        if retry_after is not None and retry_after.isascii() and retry_after.isdigit():
            pause = max(pause, min(MAX_PAUSE, float(retry_after)))
        self._sleep(pause)


def _checked_token(token: Any) -> str:
    """A token that can be sent in a header; errors do not quote it."""
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidInput("token must be printable ASCII characters without spaces, or None")
    return token


def _checked_url(url: Any) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (TypeError, httpx.InvalidURL) as error:
        raise InvalidInput(f"url must be a URL, got {url!r}: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InvalidInput(f"url must be http://HOST or https://HOST, with or without a port, got {url!r}")
    return parsed


def _content(response: httpx.Response) -> dict[str, Any]:
    """The content of a response; ServiceProblem if it is not a success, or not from a service of ours."""
    try:
        content = response.json()
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict):
        if response.is_success:
            return content
        raise ServiceProblem(response.status_code, content)
    shown = " ".join(response.text[:200].split())
    detail = f"status {response.status_code} without a JSON object: is this an evenhand service? It says: {shown}"
    raise ServiceProblem(response.status_code, {"detail": detail})
