"""What the service does is what its OpenAPI document says, whatever is sent."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable

from tests.support.running_service import MEMORY, Asking, asking

if TYPE_CHECKING:
    from schemathesis.generation import GenerationMode

# It sends more, right tokens and wrong ones, than anybody may; the limits have tests of their own.
GENEROUS = replace(MEMORY, rate=1e6, burst=1e6, wrong_tokens=1e6)


@pytest.fixture(scope="module")
def running() -> Iterator[Asking]:
    """One service for all operations."""
    with asking(GENEROUS) as ask:
        yield ask


def test_the_document_is_complete(running: Asking) -> None:
    """Operations have ids, parameters and operations descriptions; every operation of a desk wants a token."""
    document = running("GET", "/openapi.json", by="nobody").json()
    assert document["openapi"].startswith("3.1")
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["operationId"]
            assert operation["description"]
            assert all(parameter.get("description") for parameter in operation.get("parameters", ()))
            assert {"500", "503"} <= set(operation["responses"])
            if path.startswith("/api"):
                ((scheme, roles),) = operation["security"][0].items()
                assert scheme == "token"
                assert set(roles) <= {"admin", "audit", "decide", "review"}
                assert {"401", "403", "429"} <= set(operation["responses"])
    assert "/session" not in document["paths"]


@pytest.mark.parametrize("examples", [3, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_schemathesis_finds_nothing(running: Asking, mode: str, examples: int) -> None:
    """Requests made up from the document, fitting and not, are answered as the document says, and never with 500.

    What fits may still be refused with 422: that norms are at most 1, that ids differ, how many features a desk has,
    which characters can be printed, where a page ended, how many events there are, which keys were used before, no
    schema says.
    """
    import schemathesis  # a second to load: not when tests are collected
    from schemathesis.core.result import Ok
    from schemathesis.generation import GenerationMode

    schema = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
    made = running.decide()
    headers = {"Authorization": f"Bearer {running.secrets['admin']}"}
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        check = check_of(result.ok(), GenerationMode(mode), examples, headers, made["id"])
        # An operation that takes nothing can be sent nothing wrong.
        with contextlib.suppress(Unsatisfiable) if mode == "negative" else contextlib.nullcontext():
            check()
    assert running.decide()["number"] > made["number"]


def check_of(
    operation: Any, mode: GenerationMode, examples: int, headers: dict[str, str], decision: str
) -> Callable[[], None]:
    """Sends made-up requests for one operation and checks every answer."""
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    @seed(7)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        for name, value in (("desk", "loans"), ("decision", decision)):
            if name in case.path_parameters and mode is GenerationMode.POSITIVE:
                case.path_parameters[name] = value
        answer = case.call(headers=headers)
        unsaid = operation.body or {"after", "reviewer", "first", "size"} & set(case.query or {})
        beyond = answer.status_code == 422 and (unsaid or answer.json()["type"].endswith(":key-reused"))
        # The key of a request about somebody who was erased since: whether it was the same request, nobody knows.
        beyond = beyond or (answer.status_code == 410 and "idempotency key" in answer.json()["detail"])
        excluded = [positive_data_acceptance] if beyond else []
        sent = parse_qs(urlsplit(str(answer.request.url)).query, keep_blank_values=True)
        if set(case.query or {}) - set(sent):  # a wrong parameter without a value, as an empty list, is not sent at all
            excluded.append(negative_data_rejection)
        case.validate_response(answer, excluded_checks=excluded, headers=headers)

    return cast(Callable[[], None], check)
