"""Write the files with which a phone draws: the table, and source code in JavaScript, Kotlin or Swift."""

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
    """Return the files of a language by name; the last one is always the table, ``sampler.json``."""
    # JavaScript has a module with the table in it, its types, and a page without network access.
    table = json.dumps(SAMPLER.document(sampler), ensure_ascii=False, indent=1)
    written = {"sampler.json": table + "\n"}
    if to == "js":
        code = _source("sampler.mjs")
        module = f"{code}\nexport default new Sampler({table});\n"
        types = typed("sampler.d.mts", Secret=sampler.secrets, Answer=sampler.answers)
        head = "const sampler = new Sampler(table), key = table.mechanism.sha256, names = table.secrets;\n"
        head += "const draw = (secret) => sampler.draw(secret);\n"
        written = {
            "sampler.mjs": module,
            "sampler.d.mts": types,
            "index.html": page(table, code, head),
        } | written
    else:
        written = {_SOURCES[to]: _source(_SOURCES[to])} | written
    return {name: text.encode() for name, text in written.items()}


def page(table: str, code: str, head: str) -> str:
    """Return a page that draws and stores one answer; the page may run its own script and style, but not connect.

    ``head`` is JavaScript that makes ``key``, ``names`` and ``draw`` from ``table``; it runs after ``code`` and before
    the script of the page.
    """
    read = 'const table = JSON.parse(document.getElementById("table").textContent);\n'
    style, script = _source("sampler_page.css"), f"{code}\n{read}{head}{_source('sampler_page.mjs')}"
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


def typed(source: str, **names: Sequence[str]) -> str:
    """Return a TypeScript source, with a type for each list of names."""
    listed = (
        f"export type {kind} = {' | '.join(json.dumps(name, ensure_ascii=False) for name in of)};"
        for kind, of in names.items()
    )
    return "\n".join([_source(source), *listed, ""])


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _source(name: str) -> str:
    return (files("utmost.interfaces.documents") / name).read_text(encoding="utf-8")
