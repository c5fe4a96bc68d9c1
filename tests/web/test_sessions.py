"""Signing in over HTTP: a cookie for a token, and what a cookie alone may not do."""

from __future__ import annotations

import httpx
import pytest

from tests.support.serving import Serving

NEXT = "/api/desks/loans/review/next"


@pytest.fixture
def client(serving: Serving) -> httpx.Client:
    """Somebody with a cookie jar."""
    return httpx.Client(base_url=serving.url, timeout=30)


def _sign_in(client: httpx.Client, serving: Serving, name: str = "Kim") -> str:
    answer = client.post("/session", json={"token": serving.tokens[name]})
    assert answer.status_code == 201
    csrf: str = answer.json()["csrf"]
    return csrf


def test_a_cookie_opens_what_the_token_opens(client: httpx.Client, serving: Serving) -> None:
    """With the cookie a reviewer gets pairs of their desk, and of no other; without it, nothing."""
    with client:
        assert client.get(NEXT).status_code == 401
        _sign_in(client, serving)
        assert client.get(NEXT).status_code == 200
        assert client.get("/api/desks/cards/review/next").status_code == 403
        assert client.get("/session").json()["name"] == "Kim"


def test_a_change_by_cookie_needs_the_second_value(client: httpx.Client, serving: Serving) -> None:
    """A request that another site could make a browser send changes nothing; a bearer token needs no second value."""
    with client:
        csrf = _sign_in(client, serving)
        item = client.get(NEXT).json()["item"]
        body = {"item": item, "answer": "unsure", "started": "2024-01-01T00:00:00Z", "ended": "2024-01-01T00:00:05Z"}
        path = "/api/desks/loans/review/answers"
        for headers in ({}, {"X-CSRF-Token": "0" * 64}, {"X-CSRF-Token": "ä".encode("latin-1")}):
            refused = client.post(path, json=body, headers=headers)  # type: ignore[arg-type]
            assert (refused.status_code, refused.headers["content-type"]) == (403, "application/problem+json")
        assert client.post(path, json=body, headers={"X-CSRF-Token": csrf}).status_code == 201
        client.cookies.clear()
        token = {"Authorization": f"Bearer {serving.tokens['Kim']}"}
        item = client.get(NEXT, headers=token).json()["item"]
        assert client.post(path, json={**body, "item": item}, headers=token).status_code == 201


def test_a_wrong_token_opens_nothing(client: httpx.Client, serving: Serving) -> None:
    """An unknown token is refused with a sentence, and no cookie is set."""
    with client:
        answer = client.post("/session", json={"token": "eh_nobody-has-this"})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


def test_signing_out_ends_the_session(client: httpx.Client, serving: Serving) -> None:
    """The cookie of a session that has ended opens nothing, in any process."""
    with client:
        csrf = _sign_in(client, serving)
        kept = dict(client.cookies)
        assert client.delete("/session").status_code == 403
        assert client.delete("/session", headers={"X-CSRF-Token": csrf}).status_code == 200
        client.cookies.update(kept)
        assert client.get("/session").status_code == 401


def test_the_way_in_is_the_list_of_desks(client: httpx.Client) -> None:
    """Whoever opens the service's address comes to the desks; the redirect is as careful as any page."""
    with client:
        for method in ("GET", "HEAD"):
            answer = client.request(method, "/")
            assert (answer.status_code, answer.headers["location"]) == (303, "/desks")
            assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_static_files_are_kept_and_pages_are_not(client: httpx.Client, serving: Serving) -> None:
    """Files under their digest may be kept for ever, under another one they are asked for again; pages always are."""
    with client:
        page = client.get("/review/loans")
        assert page.headers["cache-control"] == "no-cache"
        path = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
        kept = client.get(path)
        assert "immutable" in kept.headers["cache-control"]
        assert kept.headers["content-type"] == "text/css; charset=utf-8"
        older = client.get("/static/0000/" + path.split("/", 3)[3])
        assert (older.text, older.headers["cache-control"]) == (kept.text, "no-cache")
        for nothing in ("/static/0000/layout.html", "/static/0000/../files.py", "/static/0000/nothing.js"):
            assert client.get(nothing).status_code == 404


def test_a_browser_that_goes_astray_is_led_home(client: httpx.Client) -> None:
    """Whoever asks for HTML at a path that is not there gets a page with a link; a program gets a problem document."""
    with client:
        for path in ("/nothing", "/review", "/desks/loans/nothing"):
            lost = client.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
            assert (lost.status_code, lost.headers["content-type"]) == (404, "text/html; charset=utf-8")
            assert 'href="/desks"' in lost.text
            assert "default-src 'none'" in lost.headers["content-security-policy"]
            assert client.get(path).headers["content-type"] == "application/problem+json"
        api = client.get("/api/nothing", headers={"Accept": "text/html"})
        assert (api.status_code, api.headers["content-type"]) == (401, "application/problem+json")


def test_a_session_of_somebody_else_is_not_swapped_unnoticed(client: httpx.Client, serving: Serving) -> None:
    """Signing in as another is refused unless the request says so; then the session before ends."""
    with client:
        _sign_in(client, serving)
        refused = client.post("/session", json={"token": serving.tokens["owner"]})
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:evenhand:problem:signed-in")
        assert (refused.json()["name"], refused.json()["other"]) == ("Kim", "owner")
        assert client.get("/session").json()["name"] == "Kim"
        _sign_in(client, serving)
        cookie = dict(client.cookies)
        swapped = client.post("/session", json={"token": serving.tokens["owner"], "replace": True})
        assert swapped.status_code == 201
        assert client.get("/session").json()["name"] == "owner"
    assert httpx.get(f"{serving.url}{NEXT}", cookies=cookie).status_code == 401
