"""Plain words are what typer would make of them, without what it loads; and what is wrong is said as typer says it."""

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperCommand

from running import python
from utmost.doors.cli.plain_values import read_plainly

WORDS = [
    "",
    " x",
    "5",
    "05",
    "-3",
    "+7",
    "1.5",
    "²",
    "٣",
    "9" * 30,
    "here.txt",
    "gone.txt",
    "a\0b",
    "folder",
    "-",
    "yes",
]


def read(text: str) -> Path:
    if text == "no":
        raise typer.BadParameter("it is no")
    if text == "bad":
        raise ValueError("it is bad")
    return Path(text)


def outcome(call):
    try:
        value = call()
    except typer.BadParameter as error:
        return "refused", error.message
    except TypeError:
        return "refused", "no word"
    return type(value), value


def parameters(cls):
    app = typer.Typer(add_completion=False)

    @app.command(cls=cls)
    def command(
        text: Annotated[str | None, typer.Option()] = None,
        number: Annotated[int | None, typer.Option()] = None,
        few: Annotated[int, typer.Option(min=0, max=9)] = 1,
        share: Annotated[float | None, typer.Option()] = None,
        path: Annotated[Path | None, typer.Option()] = None,
        there: Annotated[Path | None, typer.Option(exists=True, dir_okay=False)] = None,
        parsed: Annotated[Path | None, typer.Option(parser=read)] = None,
        texts: Annotated[list[str] | None, typer.Option()] = None,
        many: Annotated[list[Path] | None, typer.Option(parser=read)] = None,
        flag: Annotated[bool, typer.Option()] = False,
    ) -> None: ...

    return typer.main.get_command(app).params


@pytest.mark.parametrize("word", [*WORDS, "no", "bad", None, True, 3])
def test_a_plain_word_is_what_typer_makes_of_it(word, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.txt").write_text("", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for typers, plain in zip(parameters(TyperCommand), read_plainly(parameters(TyperCommand)), strict=True):
        value = word if word is None or not typers.multiple else (word, "x") if isinstance(word, str) else ("x",)
        wanted, got = (
            outcome(lambda param=param, value=value: param.get_runtime_param().coerce(value, param=param, ctx=None))
            for param in (typers, plain)
        )
        assert got == wanted, plain.name


@pytest.mark.parametrize("word", ["1_0", "1_0.5"])
def test_a_number_with_an_underscore_is_none(word):
    """Python reads 10 there, and typer with it; no other door does."""
    plain = {parameter.name: parameter for parameter in read_plainly(parameters(TyperCommand))}
    for name in ("number", "few", "share"):
        with pytest.raises(typer.BadParameter, match=f"'{word}' is not a valid"):
            plain[name].get_runtime_param().coerce(word, param=plain[name], ctx=None)


def test_a_release_loads_no_pydantic(tmp_path):
    """Its adapters, and the modules under them, took a fifth of a release's time."""
    (tmp_path / "t.csv").write_text("n\n5\n", encoding="utf-8")
    words = ["release", "t.csv", "--columns", "n", "--sensitivity", "1", "--cells", "1", "--epsilon", "1"]
    code = f"""
import sys
from utmost.doors.cli.main import main
try:
    main({[*words, "--out", "o.csv"]!r})
except SystemExit as ended:
    print(ended.code, "pydantic" in sys.modules, len(sys.modules) < 540)
"""
    assert python("-c", code, cwd=tmp_path).stdout.split("\n")[-2] == "0 False True"
    assert python("-m", "utmost", *words[:-1], "x", cwd=tmp_path, check=False).returncode == 2
