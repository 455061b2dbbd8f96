"""A sampler as files for a phone: the table, and the source that draws from it in JavaScript, Kotlin or Swift."""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Literal

from utmost.interfaces.documents.samplers import SAMPLER, Sampler

Language = Literal["js", "kotlin", "swift"]
_SOURCES = {"kotlin": "Sampler.kt", "swift": "Sampler.swift"}


def sampler_files(sampler: Sampler, to: Language) -> dict[str, bytes]:
    """The files of a language by their names, of which the table, ``sampler.json``, is always the last.

    Args:
        sampler: Sampler to draw from.
        to: "js": a module with the table in it, its types, and a page that asks no host for anything; "kotlin",
            "swift": a source that takes the table.

    >>> promise = {"epsilon": "1", "unit": None, "mechanism": {"sha256": "0" * 64, "checked": "by hand"}}
    >>> coin = Sampler(("a", "b"), ("x", "y"), 2, ((0, 2), (1, 2)), promise)
    >>> list(sampler_files(coin, "swift"))
    ['Sampler.swift', 'sampler.json']
    """
    table = json.dumps(SAMPLER.document(sampler), ensure_ascii=False, indent=1)
    written = {"sampler.json": table + "\n"}
    if to == "js":
        code = _source("sampler.mjs")
        module = f"{code}\nexport default new Sampler({table});\n"
        types = typed("sampler.d.mts", Secret=sampler.secrets, Answer=sampler.answers)
        written = {"sampler.mjs": module, "sampler.d.mts": types, "index.html": _page(table, code)} | written
    else:
        written = {_SOURCES[to]: _source(_SOURCES[to])} | written
    return {name: text.encode() for name, text in written.items()}


def typed(source: str, **names: Sequence[str]) -> str:
    """The types of a module, in which a secret and an answer are one of their names.

    >>> typed("survey.d.mts", Answer=["tea", "milk"]).splitlines()[-1]
    'export type Answer = "tea" | "milk";'
    """
    listed = (
        f"export type {kind} = {' | '.join(json.dumps(name, ensure_ascii=False) for name in of)};"
        for kind, of in names.items()
    )
    return "\n".join([_source(source), *listed, ""])


def _page(table: str, code: str) -> str:
    """One page that may run its own script and style, and may open no connection."""
    style, script = _source("sampler_page.css"), code + _source("sampler_page.mjs")
    rules = [
        "default-src 'none'",
        f"script-src '{_digest(script)}'",
        f"style-src '{_digest(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    parts = {"POLICY": "; ".join(rules), "STYLE": style, "TABLE": table.replace("<", "\\u003c"), "SCRIPT": script}
    return re.sub("|".join(parts), lambda place: parts[place[0]], _source("sampler.html"))


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _source(name: str) -> str:
    return (files("utmost.interfaces.documents") / name).read_text(encoding="utf-8")
