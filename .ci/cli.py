"""Write docs/reference/cli.md after its first section, from the command line's own help; a test holds it to the code.

python .ci/cli.py
"""

import os
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/cli.md"
START = "## Options that commands share\n"
MANY = 2
"""An option with the same help in so many commands stands in the list of shared ones."""


def section() -> str:
    """Shared options, then each command with its own."""
    from utmost.interfaces.cli.main import every_command
    from utmost.interfaces.documents.measure_names import MEASURES

    commands = [(words, command) for words, command in every_command() if words not in ("ledger", "research")]
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    for words, command in commands:
        for parameter in shown(command):
            users[name(parameter), help_of(parameter)].append(words)
    shared = {one for one, by in users.items() if len(by) >= MANY and one[0].startswith("`--")}
    lines = [START, *(f"- {option}: {text}" for option, text in users if (option, text) in shared)]
    measures = [f"`{key}` ({row.name})" for key, row in MEASURES.items()]
    lines += ["", "Losses by name: [priors and losses](designs.md#priors-and-losses). Measures of leakage by name:"]
    lines[-1] += f" {', '.join(measures)}."
    lines.append("")
    heads = set()
    for words, command in commands:
        first, _, rest = words.partition(" ")
        if rest and first not in heads:
            heads.add(first)
            lines += [f"## `utmost {first}`", "", GROUPS[first], ""]
        level = "###" if first == "research" else "##"
        lines += [f"**`utmost {words}`.**" if first in ("ledger", "domain") else f"{level} `utmost {words}`", ""]
        for paragraph in paragraphs(command):
            lines += ["```text", paragraph, "```", ""] if paragraph.startswith("utmost ") else [linked(paragraph), ""]
        own = [each for each in shown(command) if (name(each), help_of(each)) not in shared]
        if own:
            lines += [*(f"- {name(each)}: {help_of(each)}" for each in own), ""]
        also = [name(each).partition(" ")[0].rstrip(",") for each in shown(command) if each not in own]
        also = [option for option in also if option != "`--json`"]  # the list of shared options says who has it
        if also:
            lines += [f"Shared: {', '.join(dict.fromkeys(also))}.", ""]
        if keys := [f"`{each.opts[-1].removeprefix('--')}`" for each in getattr(command, "recipe_keys", ())]:
            lines += [f"Only in a recipe ([`utmost init`](#utmost-init)): {', '.join(keys)}.", ""]
    return "\n".join(lines)


GROUPS = {
    "ledger": "The file or database that remembers releases; `--ledger PLACE`, or `UTMOST_LEDGER`, names it.",
    "domain": "The declared values of columns: a JSON file, or `[domain]` in a recipe.",
    "research": "Mechanisms and what they leak.",
}


def shown(command: Any) -> list[Any]:
    """The arguments and options of the command line."""
    return [each for each in command.params if not getattr(each, "hidden", False)]


def name(parameter: Any) -> str:
    """An option with what it takes, or an argument."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name or '').strip('[]{}').upper()}`"
    takes = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or 'VALUE'}"
    return ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts)) + escaped(takes)


def help_of(parameter: Any) -> str:
    """One line."""
    return escaped(re.sub(r"\s+", " ", parameter.help or "").strip())


def paragraphs(command: Any) -> list[str]:
    """The paragraphs of a command's help, a line each; one of them may be an example to type."""
    return [re.sub(r"\s+", " ", each).strip() for each in re.split(r"\n\s*\n", command.help or "")]


def linked(paragraph: str) -> str:
    """A paragraph; the page that it names, as a link from beside it."""
    return re.sub(r"^More: docs/(\S+)\.md$", r"More: [\1](../\1.md).", escaped(paragraph))


def escaped(text: str) -> str:
    """Text without marks of Markdown."""
    return text.replace("*", r"\*").replace("_", r"\_").replace("<", r"\<")


def main() -> None:
    """Rewrite all but the first section of the page."""
    os.environ.update(NO_COLOR="1", TERM="dumb")
    sys.path.insert(0, str(ROOT / "src"))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page.partition(START)[0].rstrip() + "\n\n" + section(), encoding="utf-8")


if __name__ == "__main__":
    main()
