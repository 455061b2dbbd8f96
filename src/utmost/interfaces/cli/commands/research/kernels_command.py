"""`utmost research kernels`: list, count or estimate the kernels of a privacy type."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO

import click
import numpy as np

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.numbers import exact, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.design.geometry.kernel_estimates import KernelEstimate, estimate_kernels
from utmost.design.geometry.kernel_search import kernel_blocks, kernel_sizes
from utmost.design.geometry.kernel_search import kernels as listed_kernels
from utmost.design.geometry.vertex_search import vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import OutOfRange
from utmost.interfaces.cli.commands.research.vertices_command import draw_type
from utmost.interfaces.cli.kernel_files import kernel_header, kernel_rows, posterior_rows, search
from utmost.interfaces.cli.options import file_options, research_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import (
    facts,
    grid,
    logged_progress,
    matrix_grid,
    others,
    percent,
    screen,
    tallied,
)
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.space_names import secret_names
from utmost.publish.promises.codec import header
from utmost.tables.files.json_files import write_list

_SHOWN = 24

# Kernels are printed as matrices if there are at most `_FEW` kernels, of at most `_SMALL` rows.
_FEW, _SMALL = 5, 6


def show_kernels(
    spelled: str, ptype: PrivacyType, sizes: dict[int, int], written: Sequence[Path], *, listed: bool
) -> None:
    """Print how many kernels have each number of outcomes; with `listed`, also print a few small kernels."""
    total = sum(sizes.values())
    shown = {
        "secrets": f"{ptype.space.size}: {spelled}",
        "level": str(ptype.level),
        "kernels": f"{total:,}",
        **({"written": " and ".join(map(str, written))} if written else {}),
    }
    console = screen()
    console.print(facts(shown))
    console.print(grid(["outcomes", "kernels"], [[str(size), f"{count:,}"] for size, count in sizes.items()]))
    if not listed or total > _FEW or ptype.space.size > _SMALL:
        return
    names = secret_names(ptype.space)
    for k, kernel in enumerate(listed_kernels(ptype)):
        console.print(ScreenText(f"Kernel {k}", style="bold"))
        console.print(matrix_grid(names, kernel.matrix))


def show_orbits(spelled: str, ptype: PrivacyType, count: int, rows: Sequence[dict[str, Any]]) -> None:
    """Print, for each orbit, how many kernels it has, and the indices of the vertices of one of these kernels."""
    console = screen()
    level = str(ptype.level)
    console.print(facts({"secrets": spelled, "level": level, "kernels": f"{count:,}", "orbits": f"{len(rows):,}"}))
    shown = [[" ".join(map(str, row["vertices"])), str(row["kernels"])] for row in rows[:_SHOWN]]
    console.print(
        grid(["one kernel, by the numbers of its vertices", "kernels"], shown),
        *others(len(rows) - _SHOWN, "more orbits"),
    )


def show_estimate(spelled: str, ptype: PrivacyType, outcomes: int, estimate: KernelEstimate) -> None:
    shown = {
        "secrets": f"{ptype.space.size}: {spelled}",
        "level": str(ptype.level),
        f"kernels with {outcomes} outcomes": f"about {estimate.value:.4g}",
        f"with confidence {percent(estimate.confidence)}": f"between {estimate.low:.4g} and {estimate.high:.4g}",
        "samples": str(estimate.samples),
    }
    screen().print(facts(shown))


RARE = ("--estimate", "--size", "--seed", "--resume")


def kernels(
    *,
    asked: research_options.PrivacyTypeOptions,
    count: research_options.CountOnly = False,
    by_size: Annotated[bool, flag("Count the kernels by their number of outcomes.")] = False,
    orbits: research_options.ByOrbit = False,
    estimate: Annotated[
        str | None, option("SAMPLES", "Estimate the number of kernels from SAMPLES random sets of vertices.")
    ] = None,
    size: Annotated[
        str | None, option("N", "Number of outcomes of the kernels to --estimate; default: the number of secrets.")
    ] = None,
    seed: Annotated[int | None, option("N", "Seed of a repeatable estimate.")] = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    out: Annotated[Path | None, option("FILE", "File for all kernels, as sets of vertices (.csv or .json).")] = None,
    resume: Annotated[Path | None, option("FILE", "File that stores the search, so that it can continue.")] = None,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """List or count the kernels of a privacy type: all its mechanisms are mixtures of them.

    The number of kernels is exact for rational alpha.

    More: docs/theory/designs.md
    """
    spelled, ptype = asked.read()
    modes = {"--count": count, "--by-size": by_size, "--orbits": orbits, "--estimate": estimate is not None}
    if sum(modes.values()) > 1:
        came, remedy = " and ".join(name for name, is_set in modes.items() if is_set), "Leave out the others."
        raise OutOfRange(f"only one of {', '.join(modes)} may be given", came=came, remedy=remedy)
    if estimate is None:
        given = {"--size": size is not None, "--seed": seed is not None}
        given |= {"--confidence": confidence != DEFAULT_CONFIDENCE}
        research_options.check_unused(given, "without --estimate")
    if plot is not None:
        draw_type(spelled, ptype, plot)
    if resume is not None and out is not None and file_options.file_of(out) is None:
        raise OutOfRange(
            "--out must name a file if --resume is given", came="-", remedy="Write, for example, --out kernels.csv."
        )
    if resume is not None:
        table_options.check_list(out, (".csv", ".txt"))
    listed = not (count or by_size or orbits or estimate)
    answer = options.Output(None if resume or listed else out, as_json)

    if estimate is not None:
        outcomes = ptype.space.size if size is None else natural(size, "--size", least=1)
        with progress_bar(f"Sampling the kernels of {spelled}"):
            estimated = estimate_kernels(
                ptype,
                natural(estimate, "--estimate", least=2),
                np.random.default_rng(seed),
                size=None if size is None else outcomes,
                confidence=float(exact(confidence)),
            )
        about = {
            "space": spelled,
            **level_facts(ptype.level),
            "outcomes": outcomes,
            "estimate": estimated.value,
            "low": estimated.low,
            "high": estimated.high,
            "confidence": estimated.confidence,
            "samples": estimated.samples,
        }
        if answer.give(about):
            show_estimate(spelled, ptype, outcomes, estimated)
        return

    if orbits:
        with progress_bar(f"Sorting the kernels of {spelled} into orbits"):
            every = listed_kernels(ptype)
            parts = every.orbits()
        rows = [
            {"kernels": int(number), "vertices": list(every.support(int(k)))}
            for k, number in zip(parts.representatives, parts.sizes, strict=True)
        ]
        of_orbits = {"space": spelled, **level_facts(ptype.level), "kernels": len(every), "orbits": rows}
        if answer.give(of_orbits):
            show_orbits(spelled, ptype, len(every), rows)
        return

    if resume is None and listed and out is not None and not (as_json and file_options.file_of(out) is None):
        return table_options.give_rows(kernel_header(ptype), _rows(ptype), out, partial(_stream, spelled, ptype))
    if resume is None and listed and as_json:
        return _stream(spelled, ptype, sys.stdout)

    with logged_progress(f"Searching the kernels of {spelled}") as progress:
        if resume is None:
            sizes = kernel_sizes(ptype, lambda done: progress(done, 1))
        else:
            sizes = dict(sorted(search(ptype, resume, out, lambda done: progress(done, 1)).sizes.items()))
    total, by_outcomes = sum(sizes.values()), {str(outcomes): number for outcomes, number in sizes.items()}
    report = {"space": spelled, **level_facts(ptype.level), "kernels": total, "by_size": by_outcomes}
    if count:
        if answer.give(report):
            click.echo(total)
        return
    written = [path for path in (plot, out, resume) if path is not None]
    if answer.give(report):
        show_kernels(spelled, ptype, sizes, written, listed=not by_size)


def _rows(ptype: PrivacyType) -> Iterator[list[str]]:
    rows = (row for block in kernel_blocks(ptype) for row in kernel_rows(block))
    return tallied(rows, "kernels written")


def _stream(spelled: str, ptype: PrivacyType, file: TextIO) -> None:
    head = {
        **header("utmost kernels"),
        "space": spelled,
        **level_facts(ptype.level),
        "secrets": secret_names(ptype.space),
        "vertices": list(posterior_rows([vertices(ptype)])),
    }
    supports = ([int(v) for v in row[1:] if v] for row in _rows(ptype))
    write_list(head, "kernels", supports, file)
