"""Write mappings and lists as YAML, in the part of YAML that readers of versions 1.1 and 1.2 read in the same way.

Mappings and lists are blocks. Every text is in double quotes, so that no reader takes it for a number, a date or a
truth value; but several lines are a literal block, and lower-case words joined by hyphens are plain.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utmost.core.exact.arguments import wrong_kind

_PLAIN_KEY = re.compile(r"[a-z][a-z_]*")
# Words joined by hyphens with at least one letter: always read as text, except numbers such as 1e-5.
_WORDS = re.compile(r"(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)+")
_NUMBER = re.compile(r"[0-9]+e-[0-9]+")
_TAKEN = (
    "y",
    "n",
    "yes",
    "no",
    "on",
    "off",
    "true",
    "false",
    "null",
)  # some readers take these for truth values or null
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_STEP = "  "


def yaml_text(value: Mapping[str, Any]) -> str:
    """Return a mapping as a YAML document.

    Args:
        value: Mapping whose keys have lower-case letters and underscores. Each value is a text, an integer, a finite
            float, a sequence, or another mapping of this kind.

    Raises:
        WrongKind: if a value or key is of another kind.

    >>> print(yaml_text({"name": "yes", "epsilon": 1e-06, "authors": ["A: B"], "notes": "one\\ntwo"}), end="")
    name: "yes"
    epsilon: 1.0e-06
    authors:
      - "A: B"
    notes: |-
      one
      two
    """
    if not isinstance(value, Mapping):
        raise wrong_kind("value", "a mapping", value)
    return "".join(f"{line}\n" for line in _mapping(value, ""))


def _mapping(value: Mapping[str, Any], margin: str) -> Iterator[str]:
    for key, held in value.items():
        if not isinstance(key, str) or not _PLAIN_KEY.fullmatch(key) or key in _TAKEN:
            raise wrong_kind("a key", "a name of lower-case letters and underscores", key)
        if isinstance(held, Mapping) and held:
            yield f"{margin}{key}:"
            yield from _mapping(held, margin + _STEP)
        elif isinstance(held, Sequence) and not isinstance(held, str | bytes) and held:
            yield f"{margin}{key}:"
            yield from (f"{margin}{_STEP}- {_scalar(item)}" for item in held)
        elif isinstance(held, str) and _fits_a_block(held):
            yield f"{margin}{key}: |-"
            yield from (f"{margin}{_STEP}{line}" if line else "" for line in held.split("\n"))
        else:
            yield f"{margin}{key}: {_scalar(held)}"


def _scalar(value: Any) -> str:
    """Write a text or a number on one line."""
    if isinstance(value, str):
        if _WORDS.fullmatch(value) and not _NUMBER.fullmatch(value):
            return value
        return f'"{"".join(map(_escaped, value))}"'
    if type(value) is int:
        return str(value)
    if type(value) is float and abs(value) < float("inf"):
        digits, e, power = repr(value).partition("e")
        return f"{digits}{'' if '.' in digits else '.0'}{e}{power}"
    raise wrong_kind("a value", "a text or a finite number", value)


def _escaped(character: str) -> str:
    """Write a character of a text in double quotes; if it cannot be printed, write its code."""
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable() and character != "\ufeff":
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def _fits_a_block(text: str) -> bool:
    """Whether a text can be a literal block: several printable lines, none of which begins or ends with blanks."""
    lines = text.split("\n")
    printed = all(line.isprintable() and line == line.strip() and "\ufeff" not in line for line in lines)
    return len(lines) > 1 and printed and bool(lines[0]) and bool(lines[-1])
