"""Fetch the newest heads of a service, with the proofs that they continue those that a witness has."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx

from evenhand.errors import EvenhandError
from evenhand.ledger.signed_head import SignedHead
from evenhand.service.witness.witness import HeadRefused, Submission, Witness

TIMEOUT = 30.0


class CannotFetch(EvenhandError, OSError):
    """A service that does not answer, or not with heads."""


def pull(witness: Witness, url: str, token: str | None) -> list[tuple[SignedHead, HeadRefused | None]]:
    """The newest head of each desk, as it was kept or refused; CannotFetch if the service does not give them."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=TIMEOUT) as http:
        keys = _get(http, "/api/keys")["keys"]
        heads = [SignedHead.from_dict(one) for one in _get(http, "/api/heads")["heads"]]
        missing = {head.desk for head in witness.latest_from(url)} - {head.desk for head in heads}
        results: list[tuple[SignedHead, HeadRefused | None]] = []
        for head in heads:
            first = witness.kept_size(url, head.desk)
            submission = Submission(head, first, _proof(http, head, first), keys)
            try:
                witness.accept(submission, url, is_newest=True)
                results.append((head, None))
            except HeadRefused as refused:
                results.append((head, refused))
    for head in witness.latest_from(url):
        if head.desk in missing:
            results.append((head, HeadRefused(f"removed: the service has no head of desk {head.desk!r} any more")))
    return results


def _proof(http: httpx.Client, head: SignedHead, first: int) -> tuple[bytes, ...]:
    """The proof that a head continues one of `first` events; none if it is not longer, or the service gives none."""
    if not 0 < first < head.size:
        return ()
    path = f"/api/desks/{quote(head.desk, safe='@')}/proofs/consistency?first={first}&second={head.size}"
    return tuple(bytes.fromhex(one) for one in _get(http, path)["proof"])


def _get(http: httpx.Client, path: str) -> Any:
    try:
        response = http.get(path)
        if not response.is_success:
            raise CannotFetch(f"{http.base_url} answered {response.status_code} to {path.partition('?')[0]}")
        return response.json()
    except (httpx.HTTPError, ValueError) as error:
        raise CannotFetch(f"{http.base_url} cannot be reached, or does not answer in JSON: {error}") from None
