"""The description of the API, as OpenAPI: each request and answer with an example, and errors by their media type."""

from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from utmost.doors.service import answer_shapes, shapes
from utmost.doors.service.problems import MEDIA_TYPE, problem

_TITLES = {
    401: ("NotAuthenticated", "a token must be valid now. Ask for a token that has not expired."),
    403: ("NotAllowed", "'admissions': the token must allow this level; got epsilon = 1."),
    404: ("UnknownRecord", "the order must be there; got none of this name."),
    408: ("TooSlow", "The body did not come in time."),
    409: ("NeedsApproval", "to publish cannot be undone, and needs a second person; got no proposal."),
    413: ("TooLarge", "The body is longer than this service takes."),
    414: ("TooLong", "The address is longer than this service takes."),
    422: ("WrongShape", "The request does not have the shape of the API description."),
    429: ("TooOften", "Requests come too often."),
    503: ("LedgerUnavailable", "the ledger must be free to write; got other writers."),
}


def describe(app: FastAPI) -> None:
    """Let an application describe itself so."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _with_examples(
                get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _with_examples(described: dict[str, Any]) -> dict[str, Any]:
    schemas = described["components"]["schemas"]
    for path in described["paths"].values():
        for operation in path.values():
            for status, answer in operation["responses"].items():
                _tell(answer["content"], int(status), schemas)
            for content in operation.get("requestBody", {}).get("content", {}).values():
                content["example"] = _example(content["schema"], schemas)
    return described


def _tell(content: dict[str, Any], status: int, schemas: dict[str, Any]) -> None:
    """Give an answer's content an example; that of an error goes by its own media type."""
    found = content["application/json"]
    if status < 400:
        found["schema"] = {name: part for name, part in found["schema"].items() if name in ("$ref", "anyOf")}
        found["example"] = _example(found["schema"], schemas)
        return
    title, detail = _TITLES[status]
    content[MEDIA_TYPE] = content.pop("application/json") | {"example": problem(status, title, detail)}


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """The example of a shape, from the shape itself: FastAPI's copy has lost what is null in it."""
    name = schema.get("anyOf", [schema])[0]["$ref"].rsplit("/", 1)[1]
    model: type[BaseModel] = getattr(shapes, name, None) or getattr(answer_shapes, name)
    schemas[name]["examples"] = cast(dict[str, Any], model.model_config["json_schema_extra"])["examples"]
    return schemas[name]["examples"][0]
