"""Write the manual page, man/utmost.1, from the command line's own help; a test holds it to the code.

python .ci/man_page.py

It is installed with the package as share/man/man1/utmost.1, so that `man utmost` shows it in an environment.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "man/utmost.1"
LINE = re.compile(r"\s*\n\s*")


def page() -> str:
    """The manual page in the macros of man(7)."""
    from utmost.interfaces.cli.main import app, every_command
    from utmost.version import __version__

    lines = [f'.TH UTMOST 1 "" "utmost {__version__}" "User Commands"', ".SH NAME"]
    lines += [r"utmost \- publish tables, counts and places with provably optimal differential privacy", ".SH SYNOPSIS"]
    lines += [".B utmost", r"[\fB\-\-version\fR] [\fB\-\-help\fR] \fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]"]
    lines += [".SH DESCRIPTION", *paragraphs(app.help or ""), ".SH COMMANDS"]
    for words, command in every_command():
        lines += [f".SS utmost {escaped(words)}", *command_lines(command)]
    lines += [".SH EXIT STATUS", "0: done. 1: refused by the data, or a promise would break. 2: misuse."]
    lines += [
        ".SH SEE ALSO",
        "Tutorials, theory and reference are in the folder docs of the source, as a site and as text.",
    ]
    return "\n".join(lines) + "\n"


def command_lines(command: Any) -> Iterator[str]:
    """What a command does, then its arguments and options."""
    yield from paragraphs(command.help or "")
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        yield ".TP"
        yield heading(parameter)
        yield escaped(LINE.sub(" ", (parameter.help or "").strip())) or "."
    if keys := [each.opts[-1].removeprefix("--") for each in getattr(command, "recipe_keys", ())]:
        yield ".PP"
        yield escaped(f"Only in a recipe, as utmost init explains them: {', '.join(keys)}.")


def heading(parameter: Any) -> str:
    """An option's names in bold with what it takes, or an argument's name."""
    if parameter.param_type_name == "argument":
        return rf"\fI{escaped((parameter.metavar or parameter.name or '').strip('[]{}').upper())}\fR"
    names = ", ".join(rf"\fB{escaped(name)}\fR" for name in (*parameter.opts, *parameter.secondary_opts))
    takes = "" if getattr(parameter, "is_flag", False) else rf" \fI{escaped(parameter.metavar or 'VALUE')}\fR"
    return names + takes


def paragraphs(text: str) -> Iterator[str]:
    """Lines of text, with a macro between paragraphs."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.replace("\b", "").strip())):
        if number:
            yield ".PP"
        yield escaped(LINE.sub(" ", paragraph.strip()))


def escaped(text: str) -> str:
    """Text as roff reads it: backslashes and hyphens spelt, no line that begins as a macro does, ASCII beside names."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = "".join(one if one.isascii() else rf"\[u{ord(one):04X}]" for one in text)
    return r"\&" + text if text[:1] in (".", "'") else text


def main() -> None:
    """Write the page; the width of this terminal does not enter."""
    os.environ.update(NO_COLOR="1", TERM="dumb")
    sys.path.insert(0, str(ROOT / "src"))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="ascii")


if __name__ == "__main__":
    main()
