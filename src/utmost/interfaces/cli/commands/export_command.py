"""`utmost export`: a design as files, by which a phone or a page draws its own exact answers."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.written_levels import level_facts
from utmost.design.optima.optimum import Optimum
from utmost.errors import OutOfRange
from utmost.interfaces.cli.commands.respond_command import MechanismFile
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.answer_words import ROUNDED
from utmost.interfaces.documents.answers import SavedMechanism, saved_mechanism
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.sampler_files import Language, sampler_files
from utmost.interfaces.documents.samplers import Sampler, sampler_of
from utmost.interfaces.documents.space_names import space_named
from utmost.interfaces.documents.surveys import SURVEY, Survey, survey_files
from utmost.tables.files.atomic import Writer, write_together
from utmost.tables.files.json_files import read_json


def export(
    design: MechanismFile,
    *,
    to: Annotated[Language, option(None, "Language of the files; js runs in pages and apps.")] = "js",
    out: Annotated[Path, option("FOLDER", "New folder for the files.")],
    space: options.SpaceSpec = None,
    rounded: Annotated[
        bool, flag("Round the design first to fractions of 61 bits; it keeps its level.", "--round")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a mechanism as code, so that phones and pages draw their own answers.

    utmost export design.json --to js --out phone

    The files hold no data.

    More: docs/howto/hide-a-location.md
    """
    survey = _survey(design)
    if survey is not None:
        if space is not None:
            raise OutOfRange("a survey must be exported without --space", came="--space", remedy="Leave out --space.")
        return _export_survey(survey.rounded if rounded else survey, to, out, as_json=as_json)
    saved = saved_mechanism(design, None if space is None else space_named(space))
    if rounded:
        saved = _rounded(saved)
    sampler = sampler_of(saved)
    names = _write(sampler_files(sampler, to), out)
    report = _report(sampler, saved, names)
    if as_json:
        return print_json(report)
    _show(report, saved)


def _rounded(saved: SavedMechanism) -> SavedMechanism:
    if not isinstance(saved.mechanism, Optimum):
        remedy = "Leave out --round, and write the channel in fractions; or export the design, a .json file."
        raise OutOfRange("--round needs a design", came="a channel", remedy=remedy)
    return replace(saved, mechanism=saved.mechanism.rounded, checked=saved.checked + ROUNDED)


def _survey(path: Path) -> Survey | None:
    """Return the survey in a file; None for any other file, which is read as a mechanism."""
    if path.suffix.lower() != ".json":
        return None
    document = read_json(path, "a design must")
    is_survey = isinstance(document, dict) and document.get("kind") == SURVEY.kind
    return SURVEY.of(document, str(path)) if is_survey else None


def _export_survey(survey: Survey, to: Language, out: Path, *, as_json: bool) -> None:
    names, how = _write(survey_files(survey, to), out), survey.how
    report = {"files": names, "labels": len(survey.labels), "bits": how.bits, **level_facts(how.level)}
    if as_json:
        return print_json(report)
    shown = {
        "written": ", ".join(names),
        "a report": f"{how.bits} bits, of {len(survey.labels)} answers",
        "level": f"epsilon = {report['epsilon']} for each report",
        "checked": "every two answers share blocks of the same total weight",
    }
    screen().print(facts(shown))


def _write(contents: Mapping[str, bytes], folder: Path) -> list[str]:
    """Write all files into a folder, or none; make the folder if it does not exist."""
    is_new = not folder.exists()
    if is_new:
        folder.mkdir()
    try:
        write_together({folder / name: _writer(content) for name, content in contents.items()})
    except BaseException:
        # Also after Ctrl-C, so that no empty new folder is left behind.
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise
    return [str(folder / name) for name in contents]


def _writer(content: bytes) -> Writer:
    return lambda file: file.write(content)


def _report(sampler: Sampler, saved: SavedMechanism, names: list[str]) -> dict[str, Any]:
    return {
        "files": names,
        "secrets": len(sampler.secrets),
        "answers": len(sampler.answers),
        "bits": sampler.bits,
        "accepted": sampler.numbers / (1 << sampler.bits),
        **saved.facts,
        "unit": saved.space.unit,
        "checked": saved.checked,
    }


def _show(report: dict[str, Any], saved: SavedMechanism) -> None:
    unit = "" if report["unit"] is None else f" {report['unit']}"
    shown = {
        "written": ", ".join(report["files"]),
        "table": f"{report['secrets']} secrets, {report['answers']} answers, numbers of {report['bits']} bits",
        "a draw": f"{(report['bits'] + 7) // 8} random bytes a try, {1 / report['accepted']:.3g} tries in the mean",
        "level": f"epsilon = {report['epsilon']} for secrets at distance 1{unit}",
        "checked": report["checked"],
    }
    console = screen()
    console.print(facts(shown))
    console.print(ScreenText(f"\n{saved.guarantee()}"))
