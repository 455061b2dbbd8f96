"""Write the OpenAPI description of the API, with examples of requests and answers, and the media type of errors."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from utmost.interfaces.service.api.problems import LINES_TYPE, MEDIA_TYPE, problem

_TITLES = {
    401: ("NotAuthenticated", "a token must be valid now. Ask for a token that has not expired."),
    403: ("NotAllowed", "'admissions': the token must allow this level; got epsilon = 1."),
    404: ("UnknownRecord", "the proposal must be there; got none of this name."),
    408: ("TooSlow", "The body of the request did not arrive in time."),
    409: (
        "NeedsApproval",
        "a publication cannot be undone, and needs the approval of a second person; got no proposal.",
    ),
    413: ("TooLarge", "The body of the request is longer than this service accepts."),
    414: ("TooLong", "The address of the request is longer than this service accepts."),
    422: ("WrongShape", "The request does not have the shape of the API description."),
    429: ("TooOften", "Requests come too often."),
    503: (
        "LedgerUnavailable",
        "no other process may write to the ledger at the same time; got a lock of another writer.",
    ),
}


def describe(app: FastAPI) -> None:
    """Give an application an OpenAPI description with examples."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            schemas = described["components"]["schemas"]
            for schema in schemas.values():  # later paragraphs are for readers of the code
                schema["description"] = schema.get("description", "").partition("\n\n")[0]
            for address, path in described["paths"].items():
                for operation in path.values():
                    operation["tags"] = [address.split("/")[2]]
                    for status, answer in operation["responses"].items():
                        _add_example(answer["content"], int(status), schemas)
                    for content in operation.get("requestBody", {}).get("content", {}).values():
                        content["example"] = example_of(content["schema"], schemas)
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]  # as FastAPI has it


def _add_example(content: dict[str, Any], status: int, schemas: dict[str, Any]) -> None:
    """Add an example to the description of the answer with this status; give errors their media type."""
    ((kind, answer),) = list(content.items())
    if status >= 400:
        title, detail = _TITLES[status]
        content[MEDIA_TYPE] = content.pop(kind) | {"example": problem(status, title, detail)}
    elif kind == LINES_TYPE:
        entry = example_of(schemas["TrailResponse"]["properties"]["entries"]["items"], schemas)
        answer["example"] = json.dumps(entry) + "\n"
    else:
        answer["example"] = example_of(answer["schema"], schemas)


def example_of(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """Return the example of a schema, or compose one from its parts."""
    # The example of an object has all required members, and the optional members that have an example.
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rsplit("/", 1)[1]], schemas)
    own = [*schema.get("examples", ()), *(schema[word] for word in ("default", "const") if word in schema)]
    if own or "enum" in schema:
        return [*own, *schema.get("enum", ())][0]
    if {"type": "null"} in schema.get("anyOf", ()):
        return None
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], schemas)
    if schema.get("type") == "array":
        return [example_of(schema["items"], schemas)]
    if schema.get("type") != "object":
        return False if schema.get("type") == "boolean" else None
    must = schema.get("required", ())
    members = schema.get("properties", {}).items()
    return {name: example_of(part, schemas) for name, part in members if name in must or "examples" in part}
