"""Requests to publish, as a service reads them: from JSON, from a form, and from an approved proposal."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.core.exact.written_levels import level_text
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.workers.axis_limits import check_listed
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest

LONGEST_REQUEST = 1 << 19
"""Most characters of a proposed request as JSON, which a page can show. A request that is not shown completely cannot
be approved."""


def read_request(members: Mapping[str, Any]) -> PublishRequest:
    """Read a request to publish from JSON values, see `PublishRequest.facts`; missing fields have defaults."""
    noise = mapping(mapping(members, "request").get("promise") or {}, "promise").get("noise")
    check_listed(_parsed(noise.get("plan")) if isinstance(noise, Mapping) else None)
    return served(PublishRequest.of_facts(_with_short_level(members)))


def read_answer_request(members: Mapping[str, Any]) -> AnswerRequest:
    """Read a request for another level from JSON values, see `AnswerRequest.facts`."""
    return AnswerRequest.of_facts(_with_short_level(members))


def served(request: PublishRequest) -> PublishRequest:
    """Return the request, after a check that a service can answer it within seconds, and at several levels."""
    request.promise.lasting_noise.check_served()
    return request


def proposable(request: PublishRequest) -> PublishRequest:
    """Return the request as a second person approves it: with a version, and without its idempotency key."""
    return replace(request, version=1 if request.version is None else request.version, request=None)


def approved_facts(request: PublishRequest | AnswerRequest) -> dict[str, Any]:
    """Return the facts that a proposal stores beside name, version and level: the complete publication, as JSON."""
    return request.facts() if isinstance(request, PublishRequest) else {}


def _with_short_level(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, after a check that their level has few enough digits for a fast draw."""
    written = members.get("level")
    return {**members} if written is None else {**members, "level": level_text(read_level(written))}


def _parsed(plan: Any) -> Any:
    """Return the JSON values in the text of a plan; None if there are none."""
    try:
        return json.loads(plan) if isinstance(plan, str) else plan
    except (ValueError, RecursionError):
        return None
