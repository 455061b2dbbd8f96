"""`utmost init`: write a recipe file, with everything about a release except the data."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import click

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.errors import OutOfRange
from utmost.interfaces.cli.ledger_place import check_place, is_server
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.options.people_options import PersonOptions, split_names
from utmost.interfaces.cli.options.promise_options import TEXT_OPTIONS
from utmost.interfaces.cli.options.recipe_options import named_by_date, recipe_text
from utmost.interfaces.cli.options.release_options import EverydayPromiseOptions, OnceOptions, RepeatedReleaseOptions
from utmost.interfaces.cli.options.table_options import NumberSpelling
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.publish.ledger.key import FILE_VARIABLE, KEY_VARIABLE
from utmost.publish.statements.counted_files import read_domain
from utmost.tables.axes.domain import Domain
from utmost.tables.files.atomic import check_absent, write_together
from utmost.tables.files.secret_file import is_secret_file, new_secrets

FIRST = ("--out",)
AS_IN = {
    "utmost release": (
        *("--each-row", "--person", "--at-most", "--domain", "--by", "--mean", "--leave-out", "--want", "--columns"),
        *("--public", "--drop", "--sensitivity", "--cells", "--promise", "--plan", "--epsilon", "--ledger"),
        *("--name", "--until"),
    )
}
RARE = (
    *(*TEXT_OPTIONS, "--numbers", "--in-total", "--per-cell", "--neighbours", "--cost", "--independent"),
    *("--once", "--dataset", "--data-version", "--new-values"),
)
ELSEWHERE = dict.fromkeys(
    (
        "--values",
        "--step",
        "--each",
        "--most-events",
        "--measures",
        "--count-key",
        "--count-column",
        "--nested",
        "--part",
    ),
    "Count each table first: utmost count TABLE ... --count-key count.key --out counted.json; then release "
    "counted.json by a recipe without counting options.",
)
_FILES = {"plan", "promise", "key-file", "witness", "sign", "ledger"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeOutput:
    """Options for the files that each run of a recipe writes."""

    title: ClassVar[str] = "Output"

    form: options.Format = None
    sign: options.Sign = None
    confidence: options.Confidence = DEFAULT_CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """All options that a recipe may contain."""

    everyday: EverydayPromiseOptions
    level: options.LevelOptions
    people: PersonOptions
    once: OnceOptions
    memory: RepeatedReleaseOptions
    spelling: NumberSpelling
    output: RecipeOutput


def init(
    *,
    choices: Choices,
    out: Annotated[Path, option("FILE", "File for the recipe (.toml).")] = Path("release.toml"),
    as_json: options.AsJson = False,
) -> None:
    """Write a recipe: everything about a release except the data. Without options, the command asks questions.

    utmost init --each-row --by region,sex --domain domain.json --epsilon 1 --out release.toml

    Then run `utmost release DATA.csv --recipe release.toml`. For a new ledger, `utmost init` also writes a secret
    file with the key: keep it out of version control.

    More: docs/howto/keep-a-ledger.md
    """
    file = file_options.file_of(out)
    folder = Path() if file is None else file.parent
    if file is not None:
        if file.suffix.lower() != ".toml":
            remedy = f"Write --out {file.with_suffix('.toml')}."
            raise OutOfRange("a recipe must be written as .toml", came=file.name, where="--out", remedy=remedy)
        check_absent(file)
    options_given = dict(options.given_options(choices))
    given, domain = _checked(choices, options_given, folder) if options_given else recipe_by_questions()

    secrets = _new_secret_file(given, file, folder)
    if secrets is not None:
        given |= {"key-file": secrets.name}

    text = recipe_text("release.toml" if file is None else file.name, given, domain)
    if secrets is not None:
        beside = secrets.name.removesuffix(".secret.toml") if is_server(given["ledger"]) else given["ledger"]
        witness = given.get("witness", f"{beside}.witness")  # `utmost ledger create` reads it from here
        write_together({secrets: lambda file: file.write(new_secrets(witness).encode())}, owner_only=True)
    if file is not None:
        write_together({file: lambda target: target.write(text.encode())})

    if as_json:
        report = {"recipe": text, "out": file and str(file), "secrets": secrets and str(secrets)}
        return print_json(report)
    if file is None:
        return click.echo(text, nl=False)
    rows = {"written": str(file)}
    if secrets is not None:
        rows["secrets"] = f"{secrets}: keep this file as safe as the data, and out of version control"
    request = ' --request "$(date +%F)"' if "ledger" in given else ""
    name = named_by_date(given)
    if secrets is not None:
        place = given["ledger"] if is_server(given["ledger"]) else os.path.relpath(folder / given["ledger"])
        rows["once"] = shlex.join(["utmost", "ledger", "create", place, "--key-file", str(secrets)])
    rows["try it"] = f"utmost release DATA.csv --recipe {file}{name} --dry-run"
    # Several tables of one plan are written as one .json file.
    released = "released.json" if "want" in given or "plan" in given else "released.csv"
    rows["release"] = f"utmost release DATA.csv --recipe {file}{name}{request} --out {released}"
    screen().print(
        ScreenGroup(ScreenText("The recipe has everything about a release except the data.", style="bold"), facts(rows))
    )


def _new_secret_file(given: dict[str, Any], file: Path | None, folder: Path) -> Path | None:
    """Return the path of the secret file to write for a new ledger; None if no such file is needed."""
    ledger_path = given.get("ledger")
    if ledger_path is None:
        return None
    key_file = given.get("key-file")
    key = None if key_file is None else folder / key_file
    if key is not None and is_secret_file(key) and not key.exists():
        remedy = (
            "Leave out --key-file if the ledger is new: this command then writes a secret file. For an existing "
            "ledger, correct the name."
        )
        raise OutOfRange("--key-file must name a file", came=f"no file {key}", remedy=remedy)
    if key is not None or any(os.environ.get(name) for name in (KEY_VARIABLE, FILE_VARIABLE)):
        return None
    path = None if is_server(ledger_path) else folder / ledger_path
    if path is not None and path.exists():
        if not path.with_name(f"{path.name}.key").exists():
            remedy = "Add --key-file NAME.secret.toml, the secret file that `utmost init` wrote for this ledger."
            raise OutOfRange(
                f"a recipe for the existing ledger {ledger_path} must name its key",
                came=f"no {ledger_path}.key",
                remedy=remedy,
            )
        return None
    if file is None:
        remedy = "Write --out release.toml: the secret file is written into the same folder."
        raise OutOfRange("--out must name a file if the ledger is new", came="-", remedy=remedy)
    secrets = file.with_suffix(".secret.toml")
    check_absent(secrets)
    return secrets


def _ask(question: str, **more: Any) -> Any:
    return click.prompt(question, err=True, **more)


def _confirm(question: str) -> bool:
    return click.confirm(question, default=True, err=True)


def _checked(choices: Choices, given: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the options of a recipe and the domain, after checking that the options are compatible."""
    choices.level.read()
    promised, people = choices.everyday.complete, choices.people
    promised.check()
    domain = None if people.domain is None else read_domain(people.domain)
    if people.are_events and domain is None and not promised.is_planned:
        from utmost.interfaces.cli.commands.count_command import DOMAIN_REMEDY

        raise OutOfRange(
            "--domain must name a file that lists the possible values of each column",
            came="none",
            remedy=DOMAIN_REMEDY,
        )
    if not people.are_events:
        for name in options.typed_options(people):
            remedy = "Say who is one person: add --each-row if each row is another person, or --person COLUMN."
            raise OutOfRange(f"{name} needs --person or --each-row", came="neither", remedy=remedy)
    if choices.memory.ledger is None:
        options.refuse("needs --ledger", choices.memory)
    else:
        check_place(choices.memory.ledger)
    if domain is not None and people.by is not None:
        for name in split_names(people.by):
            domain.level_named(name)
    recipe_options = {spelled.removeprefix("--"): value for spelled, value in given.items()}
    recipe_options.pop("domain", None)
    for name, value in recipe_options.items():
        if name in _FILES and not is_server(str(value)):
            recipe_options[name] = os.path.relpath(str(value).removeprefix("sqlite:///"), folder)
        elif name == "mean":
            means = [text.rpartition("=") for text in value]
            if people.people.several is None:  # refuses a misspelt mean
                _ = people.people.measure
            recipe_options[name] = {column: [_number(end) for end in ends.split(",")] for column, _, ends in means}
        elif isinstance(value, list):
            recipe_options[name] = split_names(value)
    return recipe_options, None if domain is None else dict(domain.facts())


def _number(text: str) -> int | str:
    plain = text.strip()
    return int(plain) if plain.removeprefix("-").isdecimal() and plain.isascii() else plain


def recipe_by_questions() -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Ask for the options question by question; no question depends on the data."""
    click.echo("Answer from what you know about the columns. This command does not read the data.", err=True)
    given: dict[str, Any] = {}
    if _confirm("Is each row a different person"):
        given["each-row"] = True
    else:
        given["person"] = _ask("Column that identifies persons").strip()
        given["at-most"] = _ask("Number of table cells that one person may change, at most", type=click.IntRange(1))
    domain: dict[str, Any] = {}
    kinds = click.Choice(["values", "numbers", "birth dates", "months", "years"])
    for name in split_names([_ask("Columns to count by, with commas between")]):
        while name not in domain:  # ask again until the axis is valid
            kind = _ask(f"{name}: kind of column", type=kinds, default="values")
            axis: Any
            if kind == "values":
                axis = split_names([_ask("  its values, with commas between")])
            elif kind in ("months", "years"):
                axis = {kind: split_names([_ask("  first value, and the value after the last: 2024,2026")])}
            else:
                text = _ask("  where groups begin: 0,18,65, (with a comma at the end the last group is open)")
                groups: list[Any] = [_number(part) for part in split_names([text])]
                groups += [None] if text.rstrip().endswith(",") else []
                axis = {"edges": groups}
                if kind == "birth dates":
                    column = _ask("  column of birth dates", default="birth_date").strip()
                    day = _ask("  day on which ages are counted: 2025-01-01").strip()
                    axis = {"ages": groups, "on": day, "column": column}
            try:
                Domain.of_facts({name: axis})
            except OutOfRange as error:
                click.echo(f"{error}", err=True)
            else:
                domain[name] = axis
    given["by"] = list(domain)
    mean = _ask("Column of amounts to sum and average (Enter for none)", default="", show_default=False).strip()
    if mean:
        low, high = (_ask(f"{end} amount; others are clipped to it").strip() for end in ("Least", "Largest"))
        step = _ask("Step of the amounts: 1 for whole numbers, 0.01 for cents", default="1").strip()
        given["mean"] = {mean: [_number(low), _number(high), *([] if step == "1" else [step])]}
    given["epsilon"] = _ask("Privacy level epsilon; 1 is usual, smaller is more private", default="1").strip()
    options.written_level(given["epsilon"])
    if _confirm("Keep the release in a ledger, so that you can repeat it, and publish it later with less noise"):
        given["ledger"] = _ask("File of the ledger", default="releases.db").strip()
        check_place(given["ledger"])
        given["name"] = _ask("Name of the release", default="-".join(domain)).strip()
    Domain.of_facts(domain)
    return given, domain
