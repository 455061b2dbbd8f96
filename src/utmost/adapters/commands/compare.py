"""`utmost compare`: how much less noise than Laplace's, for every epsilon."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from utmost.adapters import options
from utmost.adapters.atomic import write_together
from utmost.adapters.figures import plots
from utmost.adapters.reports import print_json
from utmost.errors import OutOfRange
from utmost.exact import exact
from utmost.noise.cost_names import cost_named
from utmost.noise.gain_curve import gain_curve

_POINTS = 100

UpTo = Annotated[str, typer.Option(metavar="NUMBER", help="The largest epsilon.")]
Costs = Annotated[
    list[str],
    typer.Option("--cost", metavar="NAME", help="A cost: absolute, squared or moment:3; again for each more."),
]
Figure = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw into this .svg, .png or .pdf, too (needs utmost[plot]).")
]


def compare(
    up_to: UpTo = "10",
    costs: Costs = ["absolute", "squared"],  # noqa: B006
    sensitivity: options.Sensitivity = "1",
    domain: options.Domain = "reals",
    out: Figure = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw how much more Laplace noise costs, by epsilon.

    The curves are E L(Laplace) / E L(optimal noise) at the same epsilon and
    sensitivity, one for each cost L. With the defaults this is Figure 2 of
    Geng and Viswanath (2012): 14.84 and 23.61 times at epsilon = 10.
    """
    if out is not None:
        plots.check_format(out)
    epsilons = _epsilons(up_to)
    curves = {name: gain_curve(epsilons, cost_named(name), sensitivity, domain) for name in costs}  # type: ignore[arg-type]
    if out is not None:
        _draw(out, epsilons, curves)
    if as_json:
        print_json({"epsilon": [float(e) for e in epsilons], "gain": curves, "domain": domain, "over": "laplace"})
    else:
        from utmost.adapters.screens.compare import show_curves

        show_curves([float(e) for e in epsilons], curves, domain)


def _epsilons(up_to: str) -> list[Fraction]:
    last = exact(up_to, "up-to")
    if last <= 0:
        raise OutOfRange("the largest epsilon must be positive", came=up_to, where="--up-to")
    return [last * at / _POINTS for at in range(_POINTS + 1)]


def _draw(out: Path, epsilons: list[Fraction], curves: plots.Curves) -> None:
    kind, x, y = out.suffix[1:].lower(), "epsilon", "Laplace cost / optimal cost"
    write_together({out: lambda file: plots.figure([float(e) for e in epsilons], curves, file, kind=kind, x=x, y=y)})
