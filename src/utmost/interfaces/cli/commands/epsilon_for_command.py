"""`utmost epsilon-for`: find the least epsilon for a margin of error."""

from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import level
from utmost.core.exact.numbers import exact, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, number, percent, screen
from utmost.interfaces.cli.screens.terminal import write_note
from utmost.interfaces.documents.cost_files import cost_of
from utmost.interfaces.documents.reports import noise_report
from utmost.publish.promises.accuracy import epsilon_for as least_epsilon
from utmost.publish.promises.accuracy import epsilon_for_in_total, in_total_noise
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, cell_noise_at
from utmost.publish.promises.places_statements import places_theorem
from utmost.publish.promises.planar_distribution import PlanarDistribution, planar_epsilon_for
from utmost.publish.promises.table_statements import assumed_line, promise_line


def show_noise(noise: CellNoiseAtLevel, *, wanted: str) -> None:
    """Print the least epsilon, its noise and margin, and the requested margin."""
    shown = {
        "epsilon": number(noise.level.epsilon),
        "margin": f"± {number(noise.margin)} at {percent(noise.confidence)} confidence (wanted: ± {wanted})",
        "noise": f"{noise.drawn!r} on each released cell"
        + ("" if noise.grid is None else f", in steps of {noise.grid}"),
        "why this noise": noise.theorem,
        "promise": promise_line(noise.level, noise.unit),
        "one individual": assumed_line(noise.unit, "released cell"),
    }
    screen().print(facts(shown))


RARE = ("--in-total", "--planar", "--per", "--dimensions", "--cost", "--numbers", "--neighbours", "--relaxable")


def epsilon_for(
    margin: Annotated[str, option("NUMBER", "Wanted margin of error: 10 means ± 10.")],
    sensitivity: Annotated[str | None, option("NUMBER", "One person's largest change of a cell.")] = None,
    *,
    plane: options.PlanarOptions,
    in_total: Annotated[str | None, option("S", "One person's largest number of events in all cells.")] = None,
    dimensions: Annotated[int | None, option("N", "Number of coordinates, with --planar; default 2.")] = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    cells: options.CellsChanged = 1,
    cost: options.CostName = "absolute",
    numbers: options.Numbers = "integers",
    neighbours: options.NeighboursName = "add-remove",
    relaxable: options.Relaxable = False,
    answer: options.Output,
) -> None:
    """Find the least epsilon, to three digits, for a margin of error.

    utmost epsilon-for --margin 10 --sensitivity 1 --cells 2

    More: docs/howto/choose-a-level.md
    """
    if dimensions is not None and not plane.planar:
        remedy = "Write, for example, --planar --per 1 --margin 2; or leave out --dimensions."
        raise OutOfRange("--dimensions needs --planar", came="none", remedy=remedy)
    has_cell_options = (sensitivity, cells, cost, numbers, relaxable) != (None, 1, "absolute", "integers", False)
    if in_total is not None:
        if has_cell_options or plane != options.PlanarOptions():
            remedy = "Write, for example, --in-total 300 --margin 500."
            required = "--in-total can only be combined with --margin, --confidence and --neighbours"
            raise OutOfRange(required, came="another combination", remedy=remedy)
        with progress_bar("Searching"):
            least = epsilon_for_in_total(margin, confidence, in_total=in_total, neighbours=neighbours)
        unit, sure = Unit(in_total, 1, neighbours), read_confidence(confidence)
        drawn = in_total_noise(least, unit)
        report: dict[str, Any] = {
            **level_facts(level(least)),
            "in_total": in_total,
            "confidence": float(sure),
            "margin": drawn.margin(sure),
        }
        shown = {
            "epsilon": number(least),
            "margin": f"± {number(drawn.margin(sure))} at {percent(sure)} confidence (wanted: ± {margin})",
            "noise": f"{drawn!r} on each released cell",
            "promise": promise_line(level(least), unit),
            "one individual": f"changes all cells together by at most {in_total}",
        }
        if answer.give(report):
            screen().print(facts(shown))
        return

    if plane != options.PlanarOptions():
        if has_cell_options or not plane.planar or neighbours != "add-remove":
            required = "--per and --dimensions need --planar, and can only be combined with --margin and --confidence"
            raise OutOfRange(
                required, came="another combination", remedy="Write, for example, --planar --per 1 --margin 2."
            )
        coordinates = 2 if dimensions is None else dimensions
        with progress_bar("Searching"):
            least = planar_epsilon_for(margin, confidence, per=plane.per or "1", dimensions=coordinates)
        distribution = PlanarDistribution(level(least), coordinates, exact(plane.per or "1", "per"))
        bar = distribution.margin(confidence)
        report = {
            **level_facts(distribution.level),
            "per": str(distribution.per),
            "dimensions": coordinates,
            "grid": str(distribution.grid),
            "confidence": float(exact(confidence)),
            "margin": bar,
            "theorem": places_theorem(distribution),
        }
        shown = {
            "epsilon": f"{number(least)} for a Euclidean distance of {number(distribution.per)}",
            "margin": f"a released point is within {number(bar)} of the true point, at {percent(exact(confidence))} "
            f"confidence (wanted: {margin})",
            "noise": report["theorem"],
        }
        if answer.give(report):
            screen().print(facts(shown))
        return

    if sensitivity is None:
        raise OutOfRange(
            "--sensitivity must give the largest change of a cell by one individual",
            came="none",
            remedy="Add --sensitivity 1 if you are sure that one person changes a cell by at most 1.",
        )
    unit, of_errors = Unit(sensitivity, cells, neighbours), cost_of(cost)
    with progress_bar("Searching"):
        epsilon = least_epsilon(margin, confidence, unit=unit, cost=of_errors, numbers=numbers, relaxable=relaxable)
    noise = cell_noise_at(
        epsilon, unit=unit, confidence=confidence, cost=of_errors, numbers=numbers, relaxable=relaxable
    )
    if cost != "absolute" and numbers == "integers" and noise.drawn.sensitivity == 1:
        write_note(f"--cost {cost} changes nothing here: at --sensitivity 1 one noise is the best for every cost.")
    if answer.give(noise_report(noise)):
        show_noise(noise, wanted=margin)
