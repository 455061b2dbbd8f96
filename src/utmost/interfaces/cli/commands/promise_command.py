"""`utmost promise`: write down the promise about a table, before anybody looks at the data."""

from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import few
from utmost.core.exact.field_forms import json_forms, texts_of
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.written_levels import level_facts
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.promise_options import PromiseOptions, UnitOptions
from utmost.interfaces.cli.screens.screen import facts, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.publish.promises.promise import PROMISE_FORM, Promise
from utmost.publish.releases.release_facts import short_bar
from utmost.publish.statements.counted_files import measured_table

AS_IN = {"utmost release": ("--promise", "--until")}
RARE = (
    "--neighbours",
    "--together",
    "--planar",
    "--grid",
    "--per",
    "--largest",
    "--half-step",
    "--distribution",
    "--noise",
)
FIRST = ("--columns", "--public", "--drop", "--sensitivity", "--cells", "--plan", "--epsilon", "--out")


def promise(
    counted: Annotated[
        file_options.File | None,
        file_options.file_argument("COUNTED", "Counted table that `utmost count` wrote, with its privacy unit."),
    ] = None,
    *,
    promised: PromiseOptions,
    level: options.LevelOptions,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    answer: options.Output,
) -> None:
    """Write down what is promised of a table, before anybody sees the data.

    utmost promise --columns admitted --public department --sensitivity 1 --cells 1 --out promise.json

    Nothing is drawn. `utmost release TABLE --promise promise.json` keeps the promise.

    More: docs/howto/for-the-privacy-officer.md
    """
    promised.check()
    if promised.is_planned and promised.stated is None:
        options.refuse("cannot be combined with --plan", UnitOptions(neighbours=promised.protected.neighbours))
    table = None if counted is None else measured_table(counted)
    if table is None and promised.is_of_cells:
        promised.check_columns("columns", "sensitivity", "cells")
    if confidence != DEFAULT_CONFIDENCE and not level.is_given:
        remedy = "Add, for example, --epsilon 1; or leave out --confidence."
        raise OutOfRange("--confidence needs --epsilon, because margins depend on epsilon", came="none", remedy=remedy)
    stated = promised.of(table)
    report: dict[str, Any] = {"promise": stated.facts(), "digest": stated.digest}
    if level.is_given:
        at, sure = level.read(), read_confidence(confidence)
        report |= {**level_facts(at), "guarantee": stated.guarantee(at)}
        report |= {"margin": stated.margin(at, sure), "confidence": float(sure)}
    if not answer.give(report, PROMISE_FORM.document(stated)):
        return
    noise = stated.lasting_noise
    stated_facts = noise.facts() | {
        name: fact for name, fact in stated.facts().items() if name not in ("columns", "noise")
    }
    shown = stated_facts.keys() - json_forms(Unit) - {"kind", "plan", "signed_sums"}
    texts = texts_of(Promise)
    rows = {
        "released": f"{', '.join(stated.columns)}: {noise.subject}",
        "protects": f"{noise.whom} ({noise.relation})",
        **{
            texts.get(name, name.replace("_", " ")): _text(fact) for name, fact in stated_facts.items() if name in shown
        },
        "digest": stated.digest,
    }
    if "guarantee" in report:
        rows["promise"] = report["guarantee"]
        rows["margin"] = f"± {short_bar(report['margin'])}, at {percent(report['confidence'])} confidence"
    if answer.file is not None:
        rows["written"] = str(answer.file)
        rows["release it"] = f"utmost release TABLE --promise {answer.file} --epsilon ..."
    screen().print(ScreenText("Promised.", style="bold"), facts({name: text for name, text in rows.items() if text}))


def _text(fact: Any) -> str:
    """Return a field of a promise as one line of text; empty for False and for an empty list."""
    if isinstance(fact, bool):
        return "yes" if fact else ""
    if isinstance(fact, dict):
        return few([f"{name}: {_text(part)}" for name, part in fact.items()])
    return few([_text(part) for part in fact]) if isinstance(fact, list) else str(fact)
