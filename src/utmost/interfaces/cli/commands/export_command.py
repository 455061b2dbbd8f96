"""`utmost export`: write a design as code with which a phone or a page draws its own exact answers."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Annotated

from utmost.core.exact.written_levels import level_facts, level_name
from utmost.design.optima.optimum import Optimum
from utmost.errors import OutOfRange
from utmost.interfaces.cli.commands.respond_command import MechanismFile
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.answers import saved_mechanism
from utmost.interfaces.documents.answers_statement import ROUNDED
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.sampler_files import Language, sampler_files
from utmost.interfaces.documents.samplers import sampler_of
from utmost.interfaces.documents.space_names import space_named
from utmost.interfaces.documents.surveys import SURVEY, survey_files
from utmost.tables.files.atomic import Writer, check_absent_in, write_together
from utmost.tables.files.json_files import read_json


def export(
    design: MechanismFile,
    *,
    to: Annotated[Language, option(None, "Language of the files; js also runs in web pages.")] = "js",
    out: Annotated[Path, option("FOLDER", "New folder for the files.")],
    space: options.SpaceSpec = None,
    rounded: Annotated[
        bool, flag("Round the probabilities to 61 bits; they still satisfy the level.", "--round")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a mechanism as code, so that phones and pages draw their own answers.

    utmost export design.json --to js --out phone

    The files hold no data.

    More: docs/howto/hide-a-location.md
    """
    if design.suffix.lower() == ".json":  # a survey, or a mechanism
        document = read_json(design, "a design must")
        if isinstance(document, dict) and document.get("kind") == SURVEY.kind:
            if space is not None:
                remedy = "Leave out --space."
                raise OutOfRange("a survey must be exported without --space", came="--space", remedy=remedy)
            survey = SURVEY.of(document, str(design))
            survey = survey.rounded if rounded else survey
            files, how, labels = _write(survey_files(survey, to), out), survey.how, len(survey.labels)
            bits = {"files": files, "labels": labels, "bits": how.bits, **level_facts(how.level)}
            if as_json:
                return print_json(bits)
            rows = {
                "written": ", ".join(files),
                "a report": f"{how.bits} bits; there are {labels} possible answers",
                "level": f"{level_name(how.level)} for each report of a client",
                "checked": "the blocks that contain two answers have the same total weight for every pair",
            }
            return screen().print(facts(rows))

    saved = saved_mechanism(design, None if space is None else space_named(space))
    if rounded:
        if not isinstance(saved.mechanism, Optimum):
            remedy = (
                "Leave out --round, and write the channel in fractions; or export a design, the .json file of "
                "utmost design --out."
            )
            raise OutOfRange("--round needs a design, not a channel", came="a channel", remedy=remedy)
        saved = replace(saved, mechanism=saved.mechanism.rounded, checked=saved.checked + ROUNDED)
    sampler = sampler_of(saved)
    names = _write(sampler_files(sampler, to), out)
    report = {
        "files": names,
        "secrets": len(sampler.secrets),
        "answers": len(sampler.answers),
        "bits": sampler.bits,
        "accepted": sampler.numbers / (1 << sampler.bits),
        **saved.facts,
        "unit": saved.space.unit,
        "checked": saved.checked,
    }
    if as_json:
        return print_json(report)
    unit = "" if report["unit"] is None else f" {report['unit']}"
    size, tries = (sampler.bits + 7) // 8, 1 / report["accepted"]
    shown = {
        "written": ", ".join(names),
        "table": f"{report['secrets']} secrets, {report['answers']} answers, numbers of {sampler.bits} bits",
        "a draw": f"{size} random byte{'s' * (size > 1)} for each try; average number of tries: {tries:.3g}",
        "level": f"epsilon = {report['epsilon']} for secrets at distance 1{unit}",
        "checked": saved.checked,
    }
    screen().print(facts(shown), ScreenText(f"\n{saved.guarantee()}"))


def _write(contents: Mapping[str, bytes], folder: Path) -> list[str]:
    """Write all files into a folder, or none; make the folder if it does not exist."""
    writers: dict[Path, Writer] = {folder / name: methodcaller("write", content) for name, content in contents.items()}
    check_absent_in(folder, writers)
    is_new = not folder.exists()
    if is_new:
        folder.mkdir()
    try:
        write_together(writers)
    except BaseException:
        # No error, nor Ctrl-C, leaves an empty new folder behind.
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise
    return [str(folder / name) for name in contents]
