"""`utmost bounds`: compare bounds on one person's contributions by their noise and by the amounts that they remove."""

from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.written_levels import level_facts
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, flag, option
from utmost.interfaces.cli.screens.screen import grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.figures import canvas
from utmost.publish.releases.estimates import Estimate
from utmost.publish.statements.contribution_costs import BoundCost, bound_costs
from utmost.publish.statements.counted_files import COUNTED_FORM, read_domain
from utmost.publish.workloads.sums_in_words import read_marginal
from utmost.tables.files.atomic import write_together
from utmost.tables.files.json_files import read_json

RARE = ("--at-most", "--per-cell", "--step", "--public", "--persons")


def bounds(
    contributions: Annotated[
        file_options.File,
        argument(
            "CONTRIBUTIONS",
            "Released table of persons' contributions; with --public, the counted table.",
            parser=file_options.published,
        ),
    ],
    domain: file_options.DomainFile = None,
    *,
    level: options.LevelOptions,
    at_most: Annotated[
        int | None,
        option("K", "Number of cells that one person may change, if per-cell bounds are compared; default 1."),
    ] = None,
    per_cell: Annotated[
        str | None, option("S", "One person's largest change of a cell, if at-most bounds are compared; default 1.")
    ] = None,
    step: Annotated[str, option("STEP", "Step to which amounts are rounded.")] = "1",
    want: Annotated[
        str | None, option("SUMS", 'Table whose errors are compared: "sex age" or "total"; default: all cells.')
    ] = None,
    public: Annotated[
        bool, flag("State that CONTRIBUTIONS are public data, which cost no epsilon.", "--public")
    ] = False,
    persons: Annotated[int | None, option("N", "Number of persons in the data to publish; needs --public.")] = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    plot: options.Plot = None,
    answer: options.Output,
) -> None:
    """Compare bounds on one person's contributions by their noise, removed amounts and expected error.

    utmost bounds contributions.csv --domain domain.json --epsilon 9/10

    Count CONTRIBUTIONS by `utmost count --contributions at-most=1,2,5`, and release them first.

    More: docs/reference/counting.md
    """
    if domain is None:
        raise OutOfRange(
            "--domain must name the domain of the table that you will publish",
            came="none",
            remedy="Add --domain domain.json.",
        )
    if plot is not None:
        canvas.check_format(plot)
    declared = read_domain(domain)
    is_document = contributions.suffix.lower() == ".json"
    is_counted = is_document and read_json(contributions, "contributions must").get("kind") == COUNTED_FORM.kind
    histogram: Any = COUNTED_FORM.read(contributions) if is_counted else read_release(contributions)
    costs = bound_costs(
        histogram,
        declared,
        epsilon=level.read(),
        at_most=at_most,
        per_cell=per_cell,
        step=step,
        marginal=None if want is None else read_marginal(declared, want),
        public=public,
        persons=persons,
        confidence=confidence,
    )
    if plot is not None:
        from utmost.interfaces.figures.plots import plot as picture_of

        figure, kind = picture_of(costs), plot.suffix[1:].lower()
        write_together({plot: lambda file: canvas.write(figure, file, kind)})

    report = {
        "bound": costs.name,
        "best": costs.best,
        "costs": [
            {
                costs.name: row.bound,
                "margin": row.margin,
                "persons_cut": [row.persons.value, row.persons.margin],
                "noise": row.noise,
                **_losses(row),
            }
            for row in costs.rows
        ],
        "beyond": [costs.beyond.value, costs.beyond.margin],
        "advice": costs.advice,
        "level": level_facts(costs.level),
        "paid": None if costs.paid is None else level_facts(costs.paid),
        "confidence": float(costs.confidence),
        "counted": costs.counted,
        "words": costs.words,
    }
    if not answer.give(report):
        return

    rows = [
        [
            f"{number(row.bound)} *" if row.bound == costs.best else number(row.bound),
            f"± {number(row.margin)}",
            _in_words(row.persons),
            f"at least {number(row.lost_at_least)}" if row.lost is None else _in_words(row.lost),
            f"at least {number(row.error_at_least, 4)}" if row.error is None else number(row.error, 4),
        ]
        for row in costs.rows
    ]
    titles = [costs.name, "margin of a cell", "persons cut", "lost", "error of a sum"]
    screen().print(
        ScreenText(costs.advice, style="bold"), grid(titles, rows), ScreenText(f"{costs.counted}\n{costs.words}")
    )


def _losses(row: BoundCost) -> dict[str, Any]:
    if row.lost is None:
        return {
            "lost_at_least": row.lost_at_least,
            "loss_at_least": row.loss_at_least,
            "error_at_least": row.error_at_least,
        }
    return {"lost": [row.lost.value, row.lost.margin], "loss": row.loss, "error": row.error}


def _in_words(answer: Estimate) -> str:
    return number(answer.value) + (f" ± {number(answer.margin)}" if answer.margin else "")
