"""`utmost kernels`: the mechanisms that generate a privacy type, counted, listed, estimated or drawn."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from utmost.adapters import files, options
from utmost.adapters.atomic import write_together
from utmost.adapters.privacy_types import secret_names, type_asked
from utmost.adapters.reports import print_json
from utmost.errors import OutOfRange
from utmost.exact import exact, natural
from utmost.privacy import PrivacyType
from utmost.release.statement import level_facts

Count = Annotated[bool, typer.Option("--count", help="Only how many there are.")]
BySize = Annotated[bool, typer.Option("--by-size", help="How many there are with each number of outcomes.")]
Orbits = Annotated[bool, typer.Option("--orbits", help="Up to the automorphisms of the space.")]
Samples = Annotated[
    str | None, typer.Option("--estimate", metavar="SAMPLES", help="Estimate their number from so many random sets.")
]
Size = Annotated[
    str | None, typer.Option("--size", metavar="N", help="Outcomes of the kernels to estimate; by default the most.")
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Make an estimate repeatable.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write them as CSV, as sets of vertices; - for the pipe.")
]
Resume = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep in this file where the search stands, and go on from there.")
]
Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the type and a kernel: on 3 or 4 secrets, .svg, .png or .pdf.")
]


def kernels(
    space: options.SpaceSpec = None,
    line: options.Line = None,
    counts: options.Counts = None,
    discrete: options.Discrete = None,
    hamming: options.Hamming = None,
    grid: options.Grid = None,
    manhattan: options.Manhattan = None,
    graph: options.Graph = None,
    distances: options.Distances = None,
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    count: Count = False,
    by_size: BySize = False,
    orbits: Orbits = False,
    estimate: Samples = None,
    size: Size = None,
    seed: Seed = None,
    confidence: options.Confidence = "0.95",
    out: Out = None,
    resume: Resume = None,
    plot: Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """Count or list the kernels of a privacy type: every mechanism is a mixture of them, post-processed.

    A kernel is a set of independent vertices with the uniform distribution inside its hull. How many there are depends
    on the level (alpha = 1/2 if left out); it is exact for rational alpha.
    """
    spelled, ptype = type_asked(
        {
            "space": space,
            "line": line,
            "counts": counts,
            "discrete": discrete,
            "hamming": hamming,
            "grid": grid,
            "manhattan": manhattan,
            "graph": graph,
            "distances": distances,
        },
        epsilon,
        alpha,
    )
    _check_one({"--count": count, "--by-size": by_size, "--orbits": orbits, "--estimate": estimate is not None})
    if plot is not None:
        from utmost.adapters.commands.vertices import draw_type

        draw_type(spelled, ptype, plot)
    if estimate is not None:
        return _estimate(spelled, ptype, estimate, size, seed, confidence, as_json=as_json)
    if orbits:
        return _orbits(spelled, ptype, as_json=as_json)
    if resume is None and out is not None:
        return _write(ptype, out)
    if resume is None and as_json and not (count or by_size):
        return _stream(spelled, ptype)
    sizes = _searched(spelled, ptype, resume, out)
    if as_json:
        return print_json(_report(spelled, ptype, sizes))
    if count:
        return typer.echo(sum(sizes.values()))
    from utmost.adapters.screens.kernels import show_kernels

    show_kernels(spelled, ptype, sizes, [path for path in (plot, out, resume) if path is not None], whole=not by_size)


def _check_one(asked: dict[str, bool]) -> None:
    given = [name for name, wanted in asked.items() if wanted]
    if len(given) > 1:
        raise OutOfRange(f"only one of {', '.join(asked)} can be asked for", came=" and ".join(given))


def _searched(spelled: str, ptype: PrivacyType, resume: Path | None, out: Path | None) -> dict[int, int]:
    """How many kernels there are of each size, with a bar on a terminal."""
    from utmost.adapters.screens.progress import share_done
    from utmost.geometry import kernel_sizes

    with share_done(f"Searching the kernels of {spelled}") as watch:
        if resume is None:
            return kernel_sizes(ptype, watch)
        from utmost.adapters.kernel_search import search

        return dict(sorted(search(ptype, resume, out, watch).sizes.items()))


def _rows(ptype: PrivacyType) -> Iterator[list[str]]:
    from utmost.adapters.kernel_search import kernel_rows
    from utmost.adapters.screens.progress import tallied
    from utmost.geometry import kernel_blocks

    rows = (row for haul in kernel_blocks(ptype) for row in kernel_rows(haul))
    return tallied(rows, "kernels written")


def _write(ptype: PrivacyType, out: Path) -> None:
    from utmost.adapters.kernel_search import kernel_header

    names = kernel_header(ptype)
    if str(out) == "-":
        return files.write_rows(names, _rows(ptype), sys.stdout.buffer, Path("stdout.csv"))
    write_together({out: lambda file: files.write_rows(names, _rows(ptype), file, out)})


def _stream(spelled: str, ptype: PrivacyType) -> None:
    from utmost.adapters.json_stream import write_list
    from utmost.adapters.vertex_rows import posterior_rows
    from utmost.geometry import vertices

    head = {
        "space": spelled,
        **level_facts(ptype.level),
        "secrets": secret_names(ptype.space),
        "vertices": list(posterior_rows([vertices(ptype)])),
    }
    supports = ([int(v) for v in row[1:] if v] for row in _rows(ptype))
    write_list(head, "kernels", supports, sys.stdout)


def _report(spelled: str, ptype: PrivacyType, sizes: dict[int, int]) -> dict[str, Any]:
    by_size = {str(size): count for size, count in sizes.items()}
    return {"space": spelled, **level_facts(ptype.level), "kernels": sum(sizes.values()), "by_size": by_size}


def _orbits(spelled: str, ptype: PrivacyType, *, as_json: bool) -> None:
    from utmost.adapters.screens.progress import busy
    from utmost.geometry import kernels as listed

    with busy(f"Sorting the kernels of {spelled} into orbits"):
        found = listed(ptype)
        parts = found.orbits()
    rows = [
        {"kernels": int(size), "vertices": list(found.support(int(k)))}
        for k, size in zip(parts.representatives, parts.sizes, strict=True)
    ]
    if as_json:
        head = {"space": spelled, **level_facts(ptype.level), "kernels": len(found)}
        return print_json({**head, "orbits": rows})
    from utmost.adapters.screens.kernels import show_orbits

    show_orbits(spelled, ptype, len(found), rows)


def _estimate(
    spelled: str,
    ptype: PrivacyType,
    samples: str,
    size: str | None,
    seed: int | None,
    confidence: str,
    *,
    as_json: bool,
) -> None:
    import numpy as np

    from utmost.adapters.screens.progress import busy
    from utmost.geometry import estimate_kernels

    wanted = None if size is None else natural(size, "--size", least=1)
    with busy(f"Sampling the kernels of {spelled}"):
        found = estimate_kernels(
            ptype,
            natural(samples, "--estimate", least=2),
            np.random.default_rng(seed),
            size=wanted,
            confidence=float(exact(confidence)),
        )
    outcomes = wanted or ptype.space.size
    if as_json:
        return print_json(
            {
                "space": spelled,
                **level_facts(ptype.level),
                "outcomes": outcomes,
                "estimate": found.value,
                "low": found.low,
                "high": found.high,
                "confidence": found.confidence,
                "samples": found.samples,
            }
        )
    from utmost.adapters.screens.kernels import show_estimate

    show_estimate(spelled, ptype, outcomes, found)
