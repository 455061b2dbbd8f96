"""Pages that compute with public numbers alone: the reader, the explorer, channels, small maps, and levels of trust.

All of it is the library's; nothing here touches the ledger, and no request works on more than it is allowed to.
"""

from collections.abc import Callable, Mapping
from math import atan2, cos, pi, sin
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from utmost.design.channels import exponential_mechanism, geometric_channel, randomized_response
from utmost.design.optima import read
from utmost.design.spaces import Consumer, losses, priors
from utmost.design.spaces.losses import loss_named
from utmost.design.spaces.priors import prior_named
from utmost.doors.documents.reports import law_report
from utmost.doors.service import page_charts as charts
from utmost.doors.service.asked_levels import read_level
from utmost.doors.service.page_rendering import render
from utmost.doors.service.page_session import Viewer, whole
from utmost.doors.service.page_work import LOSSES, SHAPES, small_map
from utmost.doors.service.problems import status_of
from utmost.errors import OutOfRange, UtmostError
from utmost.laws.exact import Level, exact
from utmost.laws.exact.written_levels import level_text
from utmost.laws.noise import Geometric, Laplace, optimal_noise
from utmost.laws.noise.costs import cost_named
from utmost.publish.releases import levels_by_distance

tools = APIRouter(include_in_schema=False)

_MOST_COUNT, _MOST_EXACT, _MOST_SHADED, _MOST_SENSITIVITY = 1000, 100, 40, 1000
_MOST_MEMBERS, _MOST_EDGES = 60, 400
_FAINT = 1e-3

Text = Annotated[str, Query(max_length=200)]
Long = Annotated[str, Query(max_length=20_000)]

PRIORS = {
    "uniform": "every count alike",
    "binomial": "binomial: each with probability p",
    "poisson": "Poisson: about so many",
    "weights": "weights of your own",
}
READER_LOSSES = {
    "absolute": "how far it is off",
    "squared": "the square of that",
    "binary": "1 unless it is right",
    "thresholded:2": "1 unless within 2",
    "asymmetric:1,3": "1 for each too many, 3 for each too few",
    "power:1.5": "the distance to the power 1.5",
    "capped:10": "the distance, at most 10",
}
COSTS = {"absolute": "its size", "squared": "its square", "moment:3": "its third power"}
CHANNELS = {
    "geometric": "geometric noise, cut off at both ends",
    "randomised": "randomised response",
    "exponential": "exponential mechanism",
}

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
"""Marriages between families of Florence in the fifteenth century, after Padgett and Ansell (1993)."""


def _tool(
    request: Request, viewer: Any, template: str, asked: Mapping[str, Any], work: Callable[[], Mapping[str, Any]]
) -> Response:
    """A page with a form and what comes of it; a refusal stands where the answer would."""
    try:
        found, status, problem = dict(work()), 200, ""
    except UtmostError as error:
        found, status, problem = {}, status_of(error), str(error)
    return render(request, template, viewer, status, asked=asked, found=found, problem=problem, **_choices())


def _choices() -> dict[str, Any]:
    return {
        "priors": PRIORS,
        "losses": READER_LOSSES,
        "costs": COSTS,
        "channels": CHANNELS,
        "shapes": SHAPES,
        "map_losses": LOSSES,
    }


@tools.get("/read")
def reader(
    request: Request,
    viewer: Viewer,
    response: Text = "17",
    n: Text = "100",
    epsilon: Text = "1/2",
    prior: Text = "binomial",
    value: Text = "0.3",
    weights: Long = "",
    loss: Text = "absolute",
) -> Response:
    """The best answer to a response, for a prior and a loss."""
    asked = {"response": response, "n": n, "epsilon": epsilon, "prior": prior, "value": value, "weights": weights}
    return _tool(request, viewer, "read.html", asked | {"loss": loss}, lambda: _reading(asked, loss))


def _reading(asked: Mapping[str, str], loss: str) -> dict[str, Any]:
    heard, at = whole(asked["response"].strip(), "response"), read_level(asked["epsilon"])
    if heard is None:
        raise OutOfRange("a response must be a whole number", came="none", where="response")
    if asked["prior"] == "weights":
        believed = priors.from_counts(asked["weights"].replace(",", " ").split())
        size = len(believed)
    else:
        size = (whole(asked["n"].strip(), "n") or 0) + 1
    if not 2 <= size <= _MOST_COUNT + 1:
        raise OutOfRange(f"counts go from 0 to n, at most {_MOST_COUNT} here", came=size - 1, where="n")
    if asked["prior"] != "weights":
        name = asked["prior"] if asked["prior"] == "uniform" else f"{asked['prior']}:{asked['value'].strip()}"
        believed = prior_named(name, size, exactly=size <= _MOST_EXACT + 1)
    elif size > _MOST_EXACT:
        believed = believed.astype(float)
    found = read(at, Consumer(believed, loss_named(loss)), heard)
    before, after = believed.astype(float), found.posterior.astype(float)
    top = max(before.max(), after.max())
    seen = np.flatnonzero((before > _FAINT * top) | (after > _FAINT * top))
    low, high = max(0, int(seen[0]) - 1), min(size - 1, int(seen[-1]) + 1)
    marks = [(found.action, f"best answer {found.action}")]
    if low - 0.2 * size <= heard <= high + 0.2 * size:
        marks.append((heard, f"response {heard}"))
    picture = charts.columns_chart(
        f"Posterior after the response {heard}: the best answer is {found.action}",
        [(i, after[i]) for i in range(low, high + 1)],
        ("count", "probability"),
        line=[(i, before[i]) for i in range(low, high + 1)],
        marks=marks,
        shaded=found.interval,
    )
    rows = [(i, before[i], after[i]) for i in range(low, high + 1)]
    return {"reading": found, "mass": 100 * float(found.mass), "loss": float(found.loss), "picture": picture} | {
        "rows": rows[:200],
        "heard": heard,
        "at": at,
        "legend": charts.legend(["posterior", "prior"]),
    }


@tools.get("/explore")
def explorer(
    request: Request,
    viewer: Viewer,
    epsilon: Text = "1/2",
    sensitivity: Text = "1",
    cost: Text = "absolute",
    numbers: Text = "integers",
) -> Response:
    """The least noise at a level, its error bars, and its gain over Laplace noise."""
    asked = {"epsilon": epsilon, "sensitivity": sensitivity, "cost": cost, "numbers": numbers}
    return _tool(request, viewer, "explore.html", asked, lambda: _explored(asked))


def _explored(asked: Mapping[str, str]) -> dict[str, Any]:
    at, goal = read_level(asked["epsilon"]), cost_named(asked["cost"])
    change = exact(asked["sensitivity"].strip(), "sensitivity")
    if change > _MOST_SENSITIVITY:
        remedy = "The command line has no such limit: utmost noise."
        raise OutOfRange(f"a page takes at most {_MOST_SENSITIVITY}", where="sensitivity", remedy=remedy)
    law = optimal_noise(at, change, goal, asked["numbers"])  # type: ignore[arg-type]
    report = law_report(law, goal)
    return {"report": report, "law": law, "picture": _law_picture(law, at), "bars": _bars(report["radius"])}


def _law_picture(law: Any, at: Level) -> Any:
    laplace = Laplace(at, law.sensitivity)
    reach = max(4.0, 1.3 * float(law.radius("0.9")))
    width = 2 * reach / 240
    lines = [(x, float(laplace.pdf(x))) for x in np.linspace(-reach, reach, 241).tolist()]
    title = f"The chance of each error, of {law} and of Laplace noise"
    if law.numbers == "integers" and reach <= 40:
        most = int(reach)
        return charts.columns_chart(
            title, [(k, float(law.pmf(k))) for k in range(-most, most + 1)], ("error", "probability"), line=lines
        )
    if law.numbers == "integers":
        step = max(1, round(width))
        own = [(k, float(law.pmf(k))) for k in range(-int(reach), int(reach) + 1, step)]
    else:
        own = [(x, float(law.pdf(x))) for x in np.linspace(-reach, reach, 961).tolist()]
    return charts.curves(title, {"least noise": own, "Laplace": lines}, ("error", "density"))


def _bars(radii: Mapping[str, Any]) -> list[tuple[str, Any, float]]:
    longest = max(float(radius) for radius in radii.values()) or 1.0
    return [(f"{100 * float(sure):g} %", radius, float(radius) / longest) for sure, radius in radii.items()]


@tools.get("/channel")
def channel(
    request: Request, viewer: Viewer, n: Text = "10", epsilon: Text = "1/2", mechanism: Text = "geometric"
) -> Response:
    """How likely each outcome is for each count."""
    asked = {"n": n, "epsilon": epsilon, "mechanism": mechanism}
    return _tool(request, viewer, "channel.html", asked, lambda: _shaded(asked))


def _shaded(asked: Mapping[str, str]) -> dict[str, Any]:
    n, at = whole(asked["n"].strip(), "n"), read_level(asked["epsilon"])
    if n is None or not 1 <= n <= _MOST_SHADED:
        raise OutOfRange(f"counts go from 0 to n, at most {_MOST_SHADED} on a page", came=n, where="n")
    if asked["mechanism"] not in CHANNELS:
        raise OutOfRange(f"a mechanism must be one of {', '.join(CHANNELS)}", where="mechanism")
    made = {
        "geometric": lambda: geometric_channel(n + 1, at),
        "randomised": lambda: randomized_response(n + 1, at),
        "exponential": lambda: exponential_mechanism(losses.absolute.matrix(n + 1), at),
    }[asked["mechanism"]]()
    matrix = made.matrix.astype(float)
    names = [str(k) for k in range(n + 1)]
    title = f"The chance of each outcome, for each count from 0 to {n}: {CHANNELS[asked['mechanism']]}"
    right = [float(matrix[k, k]) for k in range(n + 1)]
    guess = float(matrix.max(axis=0).sum()) / (n + 1)
    return {
        "picture": charts.heat_map(title, matrix.tolist(), names, names),
        "rows": [(k, *row) for k, row in enumerate(matrix.tolist())] if n <= 12 else [],
        "names": names,
        "right": (min(right), max(right)),
        "guess": guess,
        "blind": 1 / (n + 1),
    }


@tools.get("/map")
def small_maps(
    request: Request,
    viewer: Viewer,
    shape: Text = "grid",
    size: Text = "3x3",
    epsilon: Text = "1/2",
    loss: Text = "distance",
) -> Response:
    """What any mechanism on a small map can leak, and the best one."""
    asked = {"shape": shape, "size": size, "epsilon": epsilon, "loss": loss}
    return _tool(request, viewer, "map.html", asked, lambda: _mapped(asked))


def _mapped(asked: Mapping[str, str]) -> dict[str, Any]:
    found = small_map(asked["shape"], asked["size"].strip(), read_level(asked["epsilon"]), asked["loss"])
    title = "The best mechanism: the chance of each answer, for each secret"
    return {"map": found, "picture": charts.heat_map(title, found.matrix, found.names, found.outcomes)}


@tools.get("/trust")
def trust(
    request: Request, viewer: Viewer, edges: Long = FLORENCE, owner: Text = "Medici", nearest: Text = "1"
) -> Response:
    """Levels by distance in a network."""
    asked = {"edges": edges, "owner": owner, "nearest": nearest}
    return _tool(request, viewer, "trust.html", asked, lambda: _trusted(asked))


def _trusted(asked: Mapping[str, str]) -> dict[str, Any]:
    pairs = [tuple(part.strip() for part in line.replace(",", " ").split()) for line in asked["edges"].splitlines()]
    edges = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]
    if len(edges) != sum(map(bool, pairs)):
        remedy = "Write two names in each line, without spaces in them."
        raise OutOfRange("an edge must be two names", came="another number in a line", where="edges", remedy=remedy)
    members = sorted({name for edge in edges for name in edge})
    if len(edges) > _MOST_EDGES or len(members) > _MOST_MEMBERS:
        raise OutOfRange(f"a page shows at most {_MOST_MEMBERS} members and {_MOST_EDGES} edges", where="edges")
    owner, first = asked["owner"].strip(), read_level(asked["nearest"])
    levels = levels_by_distance(edges, owner, lambda d: first.scaled(f"1/{d}"))
    far = _distances(edges, owner)
    reached = [name for name in members if name in levels]
    rows = [(name, far[name], levels[name], Geometric(levels[name]).radius("0.95")) for name in reached]
    rows.sort(key=lambda row: (row[1], row[0]))
    said = {name: f"{name}: epsilon {level_text(levels[name])}" if name in levels else name for name in members}
    kinds = {name: far.get(name, -1) for name in members}
    title = f"The network around {owner}: the nearer, the more exact"
    together = max(levels.values(), default=None)
    return {
        "picture": charts.rings(title, _seats(edges, owner, far, members), edges, kinds, said),
        "rows": rows,
        "together": together,
        "apart": sum(one.epsilon_float for one in levels.values()),
        "lost": [name for name in members if kinds[name] < 0],
    }


def _neighbours(edges: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one, other in edges:
        found.setdefault(one, []).append(other)
        found.setdefault(other, []).append(one)
    return found


def _distances(edges: list[tuple[str, str]], owner: str) -> dict[str, int]:
    near, far, ring = _neighbours(edges), {owner: 0}, [owner]
    while ring:
        following = []
        for one in ring:
            for name in near.get(one, ()):
                if name not in far:
                    far[name] = far[one] + 1
                    following.append(name)
        ring = following
    return far


def _seats(
    edges: list[tuple[str, str]], owner: str, far: Mapping[str, int], members: list[str]
) -> dict[str, tuple[float, float]]:
    """The owner in the middle, and each distance a ring, its members near those through whom they are reached."""
    near, rings = _neighbours(edges), max(far.values(), default=0) + (1 if len(far) < len(members) else 0)
    turns: dict[str, float] = {owner: 0.0}
    seats = {owner: (0.0, 0.0)}
    for ring in range(1, rings + 1):
        names = [name for name in members if far.get(name, rings) == ring]
        wished = {name: _mean_turn([turns[one] for one in near[name] if far.get(one, ring) < ring]) for name in names}
        names.sort(key=lambda name: (wished[name], name))
        start = _mean_turn([wished[names[0]]]) if names and ring > 1 else 0.0
        for k, name in enumerate(names):
            even = start + 2 * pi * k / len(names)
            turns[name] = even
            seats[name] = (ring / rings * sin(even), -ring / rings * cos(even))
    return seats


def _mean_turn(turns: list[float]) -> float:
    if not turns:
        return 0.0
    return atan2(sum(map(sin, turns)), sum(map(cos, turns))) % (2 * pi)
