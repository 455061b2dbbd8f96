"""`utmost read`: print figures of a release with margins, or find the best answer for a prior and a loss."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer, natural, spelled
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.design.optima.best_actions import Reading, check_reachable, equivalent_response
from utmost.design.optima.best_actions import read as reading_of
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts
from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, flag, option
from utmost.interfaces.cli.reading_cells import CellQuestion, CellSelection, read_cells
from utmost.interfaces.cli.screens.screen import facts, number, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.consumer_files import consumer_of, prior_file, with_readings
from utmost.interfaces.documents.cost_files import is_file
from utmost.interfaces.documents.reports import print_json, reading_report
from utmost.interfaces.figures import canvas
from utmost.publish.promises.statement import read_statement, reading_noise
from utmost.tables.files import files, sidecars
from utmost.tables.files.atomic import write_together

_FAINT = 1e-3


def show_reading(report: dict[str, Any]) -> None:
    low, high = report["interval"]
    ties = ", ".join(map(str, report["ties"]))
    exactly = report["expected_loss_exact"] or ""
    shown = {
        "best answer": f"{report['answer']}" + (f" ({ties} are as good)" if ties else ""),
        "the true count lies in": f"{low} to {high} with probability {percent(round(report['mass'], 4))}",
        "expected loss": number(report["expected_loss"])
        + (f" = {exactly}" if "/" in exactly and len(exactly) < 20 else ""),
        "response": f"{report['response']}, geometric noise at epsilon = {report['epsilon']}",
        "consumer": f"prior {report['prior']} on 0..{report['n']}, loss {report['loss']}",
    }
    console = screen()
    console.print(facts(shown))
    before, after = report["believed_before"], report["believed_after"]
    seen = [i for i, pair in enumerate(zip(before, after, strict=True)) if max(pair) > _FAINT * max(after)]
    if seen[-1] - seen[0] < 2:
        return
    window = range(seen[0], seen[-1] + 1)
    curves = {"before": [before[i] for i in window], "after": [after[i] for i in window]}
    console.print(
        ScreenText("\nprobability of each count, ").append("before", "cyan").append(" and ").append("after", "magenta")
    )
    chart = ScreenText()
    for row in canvas.terminal_curves([float(i) for i in window], curves):
        for text, owner in row:
            chart.append(text, style=("cyan", "magenta", "")[owner])
        chart.append("\n")
    console.print(chart)


RARE = ("--over-column", "--at", "--clamped")


def read(
    table: Annotated[
        file_options.File | None,
        argument(
            "FILE",
            "Released file, or its https:// address.",
            parser=file_options.published,
        ),
    ] = None,
    *,
    cells: CellSelection,
    prior: Annotated[
        str | None,
        option(
            "PRIOR",
            "Prior: uniform, binomial:0.3, poisson:4 or prior.csv.",
        ),
    ] = None,
    loss: options.LossName = "absolute",
    response: Annotated[str | None, option("INTEGER", "One noisy count, instead of FILE.")] = None,
    column: Annotated[str | None, option("NAME", "Column of noisy counts in FILE.")] = None,
    n: Annotated[str | None, option("N", "Largest possible count, or column of FILE that has it.")] = None,
    level: options.LevelOptions,
    statement: file_options.StatementFile = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    clamped: Annotated[bool, flag("State that noisy counts were clamped to 0..n; refuse counts outside.")] = False,
    plot: options.Plot = None,
    spelling: table_options.TextFileOptions,
    out: Annotated[Path | None, option("FILE", "File for the table of answers, or for one answer (.json).")] = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Read a release: its cells, and sums, differences, ratios and means of them, with margins.

    utmost read released.csv --where sex=women --minus sex=men

    With --response or --column, show the best answer for your prior and loss.

    More: docs/howto/check-and-read-a-release.md
    """
    if table is not None and response is None and prior is None and n is None:
        if clamped or level.is_given or loss != "absolute":
            came = "--clamped" if clamped else "--epsilon" if level.is_given else "--loss"
            remedy = f"Add, for example, --n 100 --prior uniform; or leave out {came}."
            raise OutOfRange("--loss, --clamped and --epsilon need --n or --prior", came=came, remedy=remedy)
        spelling.of(table)  # refuses --separator and --encoding for a file that is no text
        if form is not None and out is None:
            raise OutOfRange("--format needs --out", came="none", remedy="Leave out --format; or add --out table.csv.")
        question = CellQuestion(cells, column, confidence, plot, table_options.output(out, form), spelling, form)
        return read_cells(table, statement, question, to_pipe=out is not None, as_json=as_json)

    cells.check_unused()
    file = table_options.output(out, form)
    if (response is None) == (table is None):
        remedy = "Name a released table; or add, for example, --response 3 --n 10 --prior uniform --epsilon 1."
        raise OutOfRange("exactly one of --response and FILE must be given", came=response, remedy=remedy)
    if (table is None) != (column is None):
        remedy = (
            "Leave out --column: it needs a FILE."
            if table is None
            else "Add the column of the noisy values, for example --column released."
        )
        raise OutOfRange("FILE and --column must be given together", came="only one of them", remedy=remedy)
    if plot is not None:
        canvas.check_format(plot)
        if table is not None:
            remedy = "Leave out --plot, or name one value: --response 3."
            raise OutOfRange("--plot needs --response", came="a table", remedy=remedy)
    if table is None:
        options.refuse("is for a FILE, not for --response", spelling)
        if form is not None:
            raise OutOfRange("--format is for a table, not for --response", came=form, remedy="Leave out --format.")
    if table is not None:
        table_options.check_output(file, table)
    answer = options.Output(None if table is not None else out, as_json)
    prior = prior or "uniform"

    beside = None if table is None else sidecars.sidecar_path(table)
    noise: Level | IntegerDistribution
    if statement is not None:
        if level.is_given:
            remedy = "Leave out --epsilon."
            raise OutOfRange("only one of --epsilon and --statement may be given", came="both", remedy=remedy)
        noise = reading_noise(read_statement(statement), column)
    elif table is not None and beside is not None and beside.exists():
        if level.is_given:
            required = f"the statement of the table, {beside.name}, already has the level of its noise"
            raise OutOfRange(required, came="--epsilon, too", remedy="Leave out --epsilon.")
        stated = read_statement(beside)  # a part of the table, or a copy in another format, needs --statement
        noise = reading_noise(stated, column)
        sidecars.check_unchanged(table, stated)
    else:
        noise = level.read()
    if clamped and isinstance(noise, IntegerDistribution):
        remedy = "Leave out --clamped."
        raise Unsupported("--clamped only works with geometric noise", came=noise, remedy=remedy)

    reader = _ResponseReader(prior, loss, noise, confidence)
    if table is not None:
        assert column is not None, "checked"
        source, most, consumer_for = spelling.of(table), _largest(n, prior), cache(reader.consumer)

        def one(response: int, largest: int) -> Reading:
            return reading_of(noise, consumer_for(largest), response, confidence)

        def nearest(response: int, largest: int) -> int:
            check_reachable(noise, response, largest + 1)
            return equivalent_response(noise, response, largest + 1)

        if isinstance(most, str) and is_file(prior):
            raise OutOfRange(
                "--n must be a number if --prior is a file", came=most, remedy="Write, for example, --n 100."
            )
        readings: Any = with_readings(files.read(source), column, most, one, nearest, clamped=clamped)
        if file is not None:
            return write_together({file: lambda target: files.write(readings, target, file)})
        return print_json(files.columns(readings)) if as_json else table_options.give_table(readings, form)

    consumer = reader.consumer(natural(_largest(n, prior), "n"))
    z = exact_integer(response, "response")
    if clamped and not 0 <= z < consumer.secrets:
        remedy = "Leave out --clamped, or pass a larger --n."
        raise OutOfRange(f"--response must lie in 0..{consumer.secrets - 1} with --clamped", came=z, remedy=remedy)
    check_reachable(noise, z, consumer.secrets)
    reading = reading_of(noise, consumer, z, confidence)
    if plot is not None:
        write_together({plot: lambda file: canvas.posterior_figure(consumer.prior, reading.posterior, z, file, plot)})
    report = reading_report(reading, consumer, reader.level, z, confidence, (prior, loss))
    if answer.give(report):
        show_reading(report)


@dataclass(frozen=True)
class _ResponseReader:
    """Makes consumers for reading responses, from the prior, the loss, the noise and the confidence of the options."""

    prior: str
    loss: str
    noise: Level | IntegerDistribution
    confidence: str

    @property
    def level(self) -> Level:
        """The level of geometric noise is for one unit of the count, that of other noise for one cell."""
        return self.noise if isinstance(self.noise, Level) else self.noise.level

    def consumer(self, n: int) -> Consumer:
        return consumer_of(self.prior, self.loss, counts(n), self.level)


def _largest(n: str | None, prior: str) -> int | str:
    """Return the largest count from --n or the prior's file, or the name of the column that has the largest counts."""
    if n is None:
        if not is_file(prior):
            raise OutOfRange(
                f"--prior {prior} needs --n, the largest possible count",
                came="none",
                remedy="Add, for example, --n 100.",
            )
        return len(prior_file(prior)) - 1
    return natural(n, "--n") if spelled(n) is not None else n
