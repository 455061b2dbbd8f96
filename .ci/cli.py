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
MANY = 3
"""An option with the same help in so many commands stands in the table of shared ones."""
EXAMPLES = {
    "demo": "utmost demo",
    "count": "utmost count events.csv --person user --at-most 3 --domain domain.json --out counted.json",
    "bounds": "utmost bounds contributions.csv --domain domain.json --epsilon 9/10",
    "plan": 'utmost plan counted.json --want "region age" --want region --epsilon 1 --out plan.json',
    "share": "utmost share visits.json spent.json --weight visits=3 --epsilon 1 --publish counted.json --out r.json",
    "promise": "utmost promise --columns admitted --public department --sensitivity 1 --cells 1 --out promise.json",
    "release": "utmost release events.csv --person user --at-most 3 --domain domain.json --epsilon 1 --out r.csv",
    "clean": 'utmost clean release.json --given "total: 4526" --out clean.csv',
    "withhold": "utmost withhold released.csv --below 90 --out shown.csv",
    "statement": "utmost statement released.csv --html page.html --out entry.yaml",
    "verify": "utmost verify released.csv --public-key curator.pub",
    "total": "utmost total release.json --where sex=women --over all",
    "read": "utmost read released.csv --where sex=women --minus sex=men",
    "relax": "utmost relax table.csv --ledger releases.db --name admissions --epsilon 1 --out sharper.csv",
    "view": "utmost view --ledger releases.db --name admissions --epsilon 1/2 --out partner.csv",
    "ledger budget": "utmost ledger budget --ledger releases.db --dataset students --limit 2",
    "ledger backup": "utmost ledger backup --ledger releases.db --out backup.db",
    "ledger resume": 'utmost ledger resume --ledger restored.db --reason "disk failure" --missing students=3/4',
    "serve": "utmost serve --ledger releases.db",
    "trust": "utmost trust edges.csv --owner ann --epsilon 1",
    "noise": "utmost noise --epsilon 1 --sensitivity 5",
    "epsilon-for": "utmost epsilon-for --margin 10 --sensitivity 1 --cells 2",
    "design": "utmost design --counts 5 --alpha 1/2 --prior uniform --loss absolute --out design.json",
    "respond": "utmost respond design.json --secret 3",
    "export": "utmost export design.json --to js --out phone",
    "categories": "utmost categories --labels bus,car,cycle,foot --epsilon 1/2",
    "doctor": "utmost doctor --check",
    "research leakage": "utmost research leakage geometric.csv response.csv --space line:3",
    "research refine": "utmost research refine loose.csv strict.csv",
    "research capacity": "utmost research capacity --space grid:4x4 --epsilon 1/2",
    "research universal": "utmost research universal --space discrete:3 --alpha 1/2 --loss binary",
    "research reproduce": "utmost research reproduce all --out report",
}


def section() -> str:
    """Shared options, then each command with its own."""
    from utmost.design.spaces.losses import LOSSES
    from utmost.interfaces.cli.main import every_command
    from utmost.interfaces.documents.measure_names import MEASURES

    commands = [(words, command) for words, command in every_command() if words not in ("ledger", "research")]
    users: dict[tuple[str, str], list[str]] = defaultdict(list)
    for words, command in commands:
        for parameter in shown(command):
            users[name(parameter), help_of(parameter)].append(words)
    shared = {one for one, by in users.items() if len(by) >= MANY and one[0].startswith("`--")}
    lines = [START, *(f"- {option}: {text}" for option, text in users if (option, text) in shared)]
    lines += ["", "Losses by name:", "", *(f"- `{row.form}`: {row.meaning}" for row in LOSSES.values())]
    measures = [f"`{key}` ({row.name})" for key, row in MEASURES.items()]
    lines += ["", f"Measures of leakage by name: {', '.join(measures)}.", ""]
    heads = set()
    for words, command in commands:
        first, _, rest = words.partition(" ")
        if rest and first not in heads:
            heads.add(first)
            lines += [f"## `utmost {first}`", "", FAMILIES[first], ""]
        level = "###" if first == "research" else "##"
        lines += [f"**`utmost {words}`.**" if first == "ledger" else f"{level} `utmost {words}`", ""]
        lines += [summary(command), ""]
        if words in EXAMPLES:
            lines += ["```text", EXAMPLES[words], "```", ""]
        own = [each for each in shown(command) if (name(each), help_of(each)) not in shared]
        if own:
            lines += [*(f"- {name(each)}: {help_of(each)}" for each in own), ""]
        also = [name(each).partition(" ")[0].rstrip(",") for each in shown(command) if each not in own]
        if also:
            lines += [f"Shared: {', '.join(dict.fromkeys(also))}.", ""]
    return "\n".join(lines)


FAMILIES = {
    "ledger": "The file that keeps releases; `--ledger PLACE`, or `UTMOST_LEDGER`, names it.",
    "research": "Mechanisms and what they leak.",
}


def shown(command: Any) -> list[Any]:
    """The arguments and options that help shows."""
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


def summary(command: Any) -> str:
    """The first paragraph of a command's help."""
    return re.sub(r"\s+", " ", re.split(r"\n\s*\n", (command.help or "").replace("\b", "").strip())[0])


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
