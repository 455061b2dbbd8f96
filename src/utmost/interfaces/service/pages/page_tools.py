"""Pages that compute with public numbers only: reading counts, noise, channels, small maps, and levels of trust.

Processes without the key do the work, so that no request delays other requests or touches the ledger.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from utmost.design.spaces.losses import LOSSES as NAMED_LOSSES
from utmost.errors import UtmostError
from utmost.interfaces.figures.inline_svg import Svg
from utmost.interfaces.service.api.problems import status_of
from utmost.interfaces.service.pages.page_rendering import render
from utmost.interfaces.service.pages.page_session import Viewer
from utmost.interfaces.service.workers.page_work import CHANNELS, MAP_LOSSES, SHAPES
from utmost.interfaces.service.workers.processes import WORKERS

tools = APIRouter(include_in_schema=False)

TextQuery = Annotated[str, Query(max_length=200)]
Long = Annotated[str, Query(max_length=20_000)]

PRIORS = {
    "uniform": "all counts equally likely",
    "binomial": "binomial: each with probability p",
    "poisson": "Poisson: with this mean",
    "weights": "your own weights",
}
READER_LOSSES = {row.example: row.meaning for row in NAMED_LOSSES.values() if row.for_readers}
COSTS = {"absolute": "its absolute value", "squared": "its square", "moment:3": "its third power"}
FLORENCE = """Acciaiuoli Medici
Castellani Peruzzi
Castellani Strozzi
Castellani Barbadori
Medici Barbadori
Medici Ridolfi
Medici Tornabuoni
Medici Albizzi
Medici Salviati
Salviati Pazzi
Peruzzi Strozzi
Peruzzi Bischeri
Strozzi Ridolfi
Strozzi Bischeri
Ridolfi Tornabuoni
Tornabuoni Guadagni
Albizzi Ginori
Albizzi Guadagni
Bischeri Guadagni
Guadagni Lamberteschi"""
"""Marriages between Florentine families of the fifteenth century, after Padgett and Ansell (1993)."""


def _tool(request: Request, viewer: Any, work: str, fields: Mapping[str, str]) -> Response:
    """Show a tool's page with its form and the result that a worker process computed, or the error in its place."""
    try:
        result = WORKERS.ask(f"{viewer.name} {viewer.owner}", work, fields)
    except UtmostError as error:
        result = {"found": {}, "status": status_of(error), "problem": str(error)}
    facts = result["found"]
    if facts:
        facts = facts | {"picture": Svg(facts["picture"])}
    shown = {
        "asked": fields,
        "found": facts,
        "problem": result["problem"],
        "priors": PRIORS,
        "losses": READER_LOSSES,
        "costs": COSTS,
        "channels": CHANNELS,
        "shapes": SHAPES,
        "map_losses": MAP_LOSSES,
    }
    return render(request, f"{work}.html", viewer, result["status"], **shown)


@dataclass
class ReaderForm:
    """The fields of the page that reads a noisy count."""

    response: TextQuery = "17"
    n: TextQuery = "100"
    epsilon: TextQuery = "1/2"
    prior: TextQuery = "binomial"
    value: TextQuery = "0.3"
    weights: Long = ""
    loss: TextQuery = "absolute"


@tools.get("/read")
def reader(request: Request, viewer: Viewer, fields: Annotated[ReaderForm, Depends()]) -> Response:
    """Show the best answer to a noisy count, for a prior and a loss."""
    return _tool(request, viewer, "read", asdict(fields))


@tools.get("/explore")
def explorer(
    request: Request,
    viewer: Viewer,
    epsilon: TextQuery = "1/2",
    sensitivity: TextQuery = "1",
    cost: TextQuery = "absolute",
    numbers: TextQuery = "integers",
) -> Response:
    """Show the least noise at a level, its margins, and its gain over Laplace noise."""
    fields = {"epsilon": epsilon, "sensitivity": sensitivity, "cost": cost, "numbers": numbers}
    return _tool(request, viewer, "explore", fields)


@tools.get("/channel")
def channel(
    request: Request,
    viewer: Viewer,
    n: TextQuery = "10",
    epsilon: TextQuery = "1/2",
    mechanism: TextQuery = "geometric",
) -> Response:
    """Show the probability of each outcome for each count."""
    fields = {"n": n, "epsilon": epsilon, "mechanism": mechanism}
    return _tool(request, viewer, "channel", fields)


@tools.get("/map")
def small_maps(
    request: Request,
    viewer: Viewer,
    shape: TextQuery = "grid",
    size: TextQuery = "3x3",
    epsilon: TextQuery = "1/2",
    loss: TextQuery = "distance",
) -> Response:
    """Show how much any mechanism leaks on a small map, and the best mechanism."""
    fields = {"shape": shape, "size": size, "epsilon": epsilon, "loss": loss}
    return _tool(request, viewer, "map", fields)


@tools.get("/trust")
def trust(
    request: Request, viewer: Viewer, edges: Long = FLORENCE, owner: TextQuery = "Medici", nearest: TextQuery = "1"
) -> Response:
    """Show the privacy levels of people in a network, by their distance from an owner of data."""
    fields = {"edges": edges, "owner": owner, "nearest": nearest}
    return _tool(request, viewer, "trust", fields)
