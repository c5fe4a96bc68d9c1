"""The OpenAPI document: FastAPI writes it, out of what is said here of each operation.

The schemas come from the very types that bodies are read with, so that the document cannot promise something else.
"""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from evenhand.ledger.names import DESK_NAME
from evenhand.service.bodies import EXACTLY_ONE
from evenhand.service.operation import Operation
from evenhand.service.problems import KINDS
from evenhand.service.replies import ProblemDocument

REF = "#/components/schemas/{name}"
PATH_PART: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^/]+$"}
PATH_PARTS = {"desk": {"type": "string", "pattern": DESK_NAME}}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same request gives the same answer, however often and wherever it is sent. "
    "Keys belong to the desk.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]([ -~]*[!-~])?$"},
}
ALL = ("internal", "unavailable")
WITH_TOKEN = ("unauthorized", "forbidden", "rate")


def documented(operation: Operation) -> dict[str, Any]:
    """What FastAPI is told of an operation beside its path: parameters, body, answers, who may."""
    parts = [part.strip("{}") for part in operation.path.split("/") if part.startswith("{")]
    parameters = [
        {"name": part, "in": "path", "required": True, "schema": PATH_PARTS.get(part, PATH_PART)} for part in parts
    ]
    parameters += [
        {"name": name, "in": "query", "required": False, "schema": schema} for name, schema in operation.query.items()
    ]
    said: dict[str, Any] = {
        "parameters": parameters + ([KEY] if operation.is_write else []),
        "responses": {str(operation.status): _reply(operation), **_problems(operation)},
    }
    if operation.body is not None:
        content = {"application/json": {"schema": {"$ref": REF.format(name=operation.body.__name__)}}}
        said["requestBody"] = {"required": True, "content": content}
    if operation.roles is not None:
        said["security"] = [{"token": []}]
        said["x-roles"] = sorted(operation.roles)
    return said


def _reply(operation: Operation) -> dict[str, Any]:
    if operation.reply is None:
        return {"description": "Done.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    schema = {"$ref": REF.format(name=operation.reply.__name__)}
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


def _problems(operation: Operation) -> dict[str, Any]:
    kinds = [*ALL, *(WITH_TOKEN if operation.roles is not None else ()), *operation.problems]
    if operation.body is not None:
        kinds += ["malformed", "too-large", "media-type", "invalid"]
    if operation.query:
        kinds += ["malformed", "invalid"]
    if operation.is_write:
        kinds += ["conflict", "key-reused"]
    if "{desk}" in operation.path:
        kinds += ["not-found", "invalid"]
    statuses = sorted({KINDS[kind][0] for kind in kinds})
    content = {"application/problem+json": {"schema": {"$ref": REF.format(name="ProblemDocument")}}}
    titles = dict(KINDS.values())
    return {str(status): {"description": f"{titles[status]}.", "content": content} for status in statuses}


def document_of(app: FastAPI, operations: tuple[Operation, ...]) -> dict[str, Any]:
    """The whole document."""
    document = get_openapi(
        title=app.title, version=app.version, summary=app.summary, description=app.description, routes=app.routes
    )
    types = {kind for operation in operations for kind in (operation.body, operation.reply) if kind is not None}
    _, schemas = msgspec.json.schema_components(
        sorted({*types, ProblemDocument}, key=lambda kind: kind.__name__), ref_template=REF
    )
    for name, alternatives in EXACTLY_ONE.items():
        schemas[name]["oneOf"] = [{"required": [alternative]} for alternative in alternatives]
    components = document.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **schemas}
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document
