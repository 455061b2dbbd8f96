"""Compute what pages show without the ledger: readings, noise, channels, maps, trust, verification, files.

Each computation takes short texts and returns plain facts, both sent as JSON: it runs in a process without the key.
"""

import io
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from math import atan2, cos, pi, prod, sin
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_words
from utmost.core.noise.costs import cost_named
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.optimal import optimal_noise
from utmost.design.capacities.capacity import capacity
from utmost.design.channels.calibrated import exponential_mechanism
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import randomized_response
from utmost.design.optima.best_actions import check_reachable, read
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts, cycle, discrete, grid, hamming
from utmost.design.spaces.losses import loss_named
from utmost.design.spaces.priors import prior_named
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, Unsupported, UtmostError
from utmost.interfaces.documents.reports import distribution_report
from utmost.interfaces.documents.verified_files import verified, verified_in_words
from utmost.interfaces.figures import inline_svg as charts
from utmost.interfaces.service.api.problems import status_of
from utmost.interfaces.service.api.requested_levels import read_level, read_whole_number
from utmost.interfaces.service.workers.axis_limits import MOST_CELLS_OF_A_FILE, check_listed
from utmost.publish.releases.trust import levels_by_distance
from utmost.tables.files import files
from utmost.tables.files.text_files import MemoryFile, ReadLimits

MOST_PLACES = 25  # a map on a page has at most 25 places
_MOST_COUNT, _MOST_EXACT, _MOST_SHADED, _MOST_SENSITIVITY = 1000, 100, 40, 1000
_MOST_MEMBERS, _MOST_EDGES = 60, 400  # of a network of trust on a page
_FAINT = 1e-3
_LIMITS = ReadLimits(
    cells={
        form.endings[0]: MOST_CELLS_OF_A_FILE[
            name if name in MOST_CELLS_OF_A_FILE else "csv" if form.is_text else "parquet"
        ]
        for name, form in files.TABLE_FORMATS.items()
    },
    unpacked=32 << 20,
    remedy="Verify it on your own machine: utmost verify FILE.",
)  # fmt: skip

SHAPES = {
    "grid": "a lattice, straight-line distances",
    "manhattan": "a lattice, distances along streets",
    "line": "a line",
    "cycle": "a circle",
    "discrete": "places that are equally far apart",
    "hamming": "strings of bits",
}
MAP_LOSSES = {"distance": "its distance from the true place", "binary": "1 unless the answer is right"}
CHANNELS = {
    "geometric": "geometric noise, cut off at both ends",
    "randomised": "randomised response",
    "exponential": "exponential mechanism",
}


def _read_count(fields: Mapping[str, str]) -> dict[str, Any]:
    heard, at = read_whole_number(fields["response"].strip(), "response"), read_level(fields["epsilon"])
    if heard is None:
        raise OutOfRange("a response must be a whole number", came="other text", where="response")
    if fields["prior"] == "weights":
        believed = priors.from_counts(fields["weights"].replace(",", " ").split())
        size = len(believed)
    else:
        size = (read_whole_number(fields["n"].strip(), "n") or 0) + 1
    if not 2 <= size <= _MOST_COUNT + 1:
        raise OutOfRange(f"n must be from 1 to {_MOST_COUNT} on this page", came=size - 1, where="n")
    if fields["prior"] != "weights":
        name = fields["prior"] if fields["prior"] == "uniform" else f"{fields['prior']}:{fields['value'].strip()}"
        believed = prior_named(name, size, exactly=size <= _MOST_EXACT + 1)
    elif size > _MOST_EXACT:
        believed = believed.astype(float)
    check_reachable(at, heard, size)
    answer = read(at, Consumer(believed, loss_named(fields["loss"])), heard)
    before, after = believed.astype(float), answer.posterior.astype(float)
    top = max(before.max(), after.max())
    # The chart leaves out counts of negligible probability.
    seen = np.flatnonzero((before > _FAINT * top) | (after > _FAINT * top))
    low, high = max(0, int(seen[0]) - 1), min(size - 1, int(seen[-1]) + 1)
    marks = [(answer.action, f"best answer {answer.action}")]
    if low - 0.2 * size <= heard <= high + 0.2 * size:
        marks.append((heard, f"response {heard}"))
    picture = charts.columns_chart(
        f"Posterior after the response {heard}: the best answer is {answer.action}",
        [(i, after[i]) for i in range(low, high + 1)],
        ("count", "probability"),
        line=[(i, before[i]) for i in range(low, high + 1)],
        marks=marks,
        shaded=answer.interval,
    )
    rows = [(i, before[i], after[i]) for i in range(low, high + 1)]
    result = {"action": answer.action, "interval": answer.interval, "ties": answer.ties}
    return {"reading": result, "mass": 100 * float(answer.mass), "loss": float(answer.loss), "picture": picture} | {
        "rows": rows[:200]
    }


def _least_noise(fields: Mapping[str, Any]) -> dict[str, Any]:
    at, goal = read_level(fields["epsilon"]), cost_named(fields["cost"])
    change = exact(fields["sensitivity"].strip(), "sensitivity")
    if change > _MOST_SENSITIVITY:
        remedy = "Use the command line, which has no such limit: utmost noise."
        raise OutOfRange(
            f"sensitivity must be at most {_MOST_SENSITIVITY} on this page", where="sensitivity", remedy=remedy
        )
    distribution = optimal_noise(at, change, goal, fields["numbers"])
    report = distribution_report(distribution, goal)
    margins = report["margin"]
    longest = max(float(margin) for margin in margins.values()) or 1.0
    return {
        "report": report,
        "picture": _distribution_picture(distribution, at),
        "bars": [(f"{100 * float(sure):g} %", margin, float(margin) / longest) for sure, margin in margins.items()],
    }


def _distribution_picture(distribution: Any, at: Level) -> Any:
    laplace = Laplace(at, distribution.sensitivity)
    reach = max(4.0, 1.3 * float(distribution.margin("0.9")))
    width = 2 * reach / 240
    lines = [(x, float(laplace.pdf(x))) for x in np.linspace(-reach, reach, 241).tolist()]
    title = f"The chance of each error, of {distribution} and of Laplace noise"
    if distribution.numbers == "integers" and reach <= 40:
        most = int(reach)
        return charts.columns_chart(
            title,
            [(k, float(distribution.pmf(k))) for k in range(-most, most + 1)],
            ("error", "probability"),
            line=lines,
        )
    if distribution.numbers == "integers":
        step = max(1, round(width))
        own = [(float(k), float(distribution.pmf(k))) for k in range(-int(reach), int(reach) + 1, step)]
    else:
        own = [(x, float(distribution.pdf(x))) for x in np.linspace(-reach, reach, 961).tolist()]
    return charts.curves(title, {"least noise": own, "Laplace": lines}, ("error", "density"))


def _channel_of_counts(fields: Mapping[str, str]) -> dict[str, Any]:
    n, at = read_whole_number(fields["n"].strip(), "n"), read_level(fields["epsilon"])
    if n is None or not 1 <= n <= _MOST_SHADED:
        raise OutOfRange(f"n must be from 1 to {_MOST_SHADED} on this page", came=n, where="n")
    if fields["mechanism"] not in CHANNELS:
        raise OutOfRange(f"a mechanism must be one of {', '.join(CHANNELS)}", where="mechanism")
    channel = {
        "geometric": lambda: geometric_channel(n + 1, at),
        "randomised": lambda: randomized_response(n + 1, at),
        "exponential": lambda: exponential_mechanism(losses.absolute.matrix(n + 1), at),
    }[fields["mechanism"]]()
    matrix = channel.matrix.astype(float)
    names = [str(k) for k in range(n + 1)]
    title = f"The chance of each outcome, for each count from 0 to {n}: {CHANNELS[fields['mechanism']]}"
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


def shape(kind: str, size: str) -> Space:
    """Return the space of a small map: `kind` is one of `SHAPES`; `size` is "4x4" for a lattice, else a number."""
    numbers = [int(part) for part in size.lower().split("x") if part.isdecimal() and part.isascii() and len(part) < 4]
    is_lattice = kind in ("grid", "manhattan")
    if kind not in SHAPES or len(numbers) != 1 + is_lattice or len(size.lower().split("x")) != len(numbers):
        remedy = "Write 4x4 for a lattice, and a number for everything else."
        raise OutOfRange("a map of places must have a shape and a size", came=f"{kind} {size}"[:40], remedy=remedy)
    secrets = prod(numbers) if kind != "hamming" else 2 ** min(numbers[0], 10)
    if not 2 <= secrets <= MOST_PLACES:
        remedy = "Use the command line for larger maps: utmost research capacity, utmost design."
        raise OutOfRange(
            f"a map must have 2 to {MOST_PLACES} places on this page", came=secrets, where="size", remedy=remedy
        )
    makers: dict[str, Callable[..., Space]] = {
        "grid": grid,
        "manhattan": lambda r, c: grid(r, c, "manhattan"),
        "line": lambda n: counts(n - 1),
        "cycle": cycle,
        "discrete": discrete,
        "hamming": hamming,
    }
    return makers[kind](*numbers)


def map_found(kind: str, size: str, at: Level, cost: str) -> dict[str, Any]:
    """Return capacities and the best mechanism of a small map, for a reader with a uniform prior."""
    space = shape(kind, size)
    if cost not in MAP_LOSSES:
        raise OutOfRange(f"a loss must be one of {', '.join(MAP_LOSSES)}", where="loss")
    ptype = PrivacyType(space, at)
    most = [(capacity_kind, capacity(ptype, kind=capacity_kind)) for capacity_kind in ("multiplicative", "additive")]
    loss = losses.distance(space) if cost == "distance" else losses.binary
    best = optimal_mechanism(ptype, Consumer(priors.uniform(space.size), loss), exactly=False)
    names = [(",".join(map(str, label)) if isinstance(label, tuple) else str(label)) for label in space.labels]
    matrix = best.channel.matrix.astype(float)
    used = [k for k in range(matrix.shape[1]) if matrix[:, k].max() > 1e-9]
    return {
        "names": names,
        "capacities": [
            (capacity_kind, float(bound.value), float(bound.lower), bound.certificate.verify())
            for capacity_kind, bound in most
        ],
        "loss": float(best.loss),
        "lower": float(best.lower),
        "is_checked": bool(best.certificate.verify()),
        "method": best.method,
        "matrix": matrix[:, used].tolist(),
        "outcomes": [names[k] if matrix.shape[1] == space.size else str(k) for k in used],
    }


def _small_map(fields: Mapping[str, str]) -> dict[str, Any]:
    page = map_found(fields["shape"], fields["size"].strip(), read_level(fields["epsilon"]), fields["loss"])
    title = "The best mechanism: the chance of each answer, for each secret"
    return {"map": page, "picture": charts.heat_map(title, page["matrix"], page["names"], page["outcomes"])}


def _trust_levels(fields: Mapping[str, str]) -> dict[str, Any]:
    pairs = [tuple(part.strip() for part in line.replace(",", " ").split()) for line in fields["edges"].splitlines()]
    edges = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]
    if len(edges) != sum(map(bool, pairs)):
        remedy = "Write two names in each line, without spaces in them."
        raise OutOfRange(
            "each line of edges must be two names", came="another number of names", where="edges", remedy=remedy
        )
    members = sorted({name for edge in edges for name in edge})
    if len(edges) > _MOST_EDGES or len(members) > _MOST_MEMBERS:
        raise OutOfRange(
            f"the network must have at most {_MOST_MEMBERS} members and {_MOST_EDGES} edges on this page", where="edges"
        )
    owner, first = fields["owner"].strip(), read_level(fields["nearest"])
    distances = dict[Level, int]()

    def level_at(distance: int) -> Level:
        at = first.scaled(f"1/{distance}")
        distances[at] = distance
        return at

    levels = levels_by_distance(edges, owner, level_at)
    reached = [name for name in members if name in levels]
    distance_of = {owner: 0} | {name: distances[levels[name]] for name in reached}
    rows = [
        (name, distance_of[name], level_words(levels[name]), Geometric(levels[name]).margin("0.95")) for name in reached
    ]
    rows.sort(key=lambda row: (row[1], row[0]))
    titles = {name: f"{name}: epsilon {level_words(levels[name])}" if name in levels else name for name in members}
    kinds = {name: distance_of.get(name, -1) for name in members}
    title = f"The network around {owner}: the nearer, the more exact"
    together = max(levels.values(), default=None)
    return {
        "picture": charts.rings(title, _seats(edges, owner, distance_of, members), edges, kinds, titles),
        "rows": rows,
        "together": None if together is None else level_words(together),
        "independent": sum(level.epsilon_float for level in levels.values()),
        "lost": [name for name in members if kinds[name] < 0],
    }


def _seats(
    edges: list[tuple[str, str]], owner: str, distance_of: Mapping[str, int], members: list[str]
) -> dict[str, tuple[float, float]]:
    """Place the owner in the middle and others on a ring for each distance, near neighbours on smaller rings."""
    near = dict[str, list[str]]()
    for member, other in edges:
        near.setdefault(member, []).append(other)
        near.setdefault(other, []).append(member)
    rings = max(distance_of.values(), default=0) + (1 if len(distance_of) < len(members) else 0)
    angles: dict[str, float] = {owner: 0.0}
    seats = {owner: (0.0, 0.0)}
    for ring in range(1, rings + 1):
        names = [name for name in members if distance_of.get(name, rings) == ring]
        preferred_angles = {
            name: _mean_angle(
                [angles[neighbour] for neighbour in near[name] if distance_of.get(neighbour, ring) < ring]
            )
            for name in names
        }
        names.sort(key=lambda name: (preferred_angles[name], name))
        start = _mean_angle([preferred_angles[names[0]]]) if names and ring > 1 else 0.0
        for k, name in enumerate(names):
            angle = start + 2 * pi * k / len(names)
            angles[name] = angle
            seats[name] = (ring / rings * sin(angle), -ring / rings * cos(angle))
    return seats


def _mean_angle(angles: list[float]) -> float:
    if not angles:
        return 0.0
    return atan2(sum(map(sin, angles)), sum(map(cos, angles))) % (2 * pi)


def _verify_files(fields: Mapping[str, str]) -> dict[str, Any]:
    """Verify uploaded files, each sent as base64; they stay in memory."""
    uploads = {name: MemoryFile.of(name, b64decode(content), _LIMITS) for name, content in fields.items()}
    for upload in uploads.values():
        try:
            document = json.loads(upload.content)
        except (ValueError, RecursionError):
            continue  # the reader of a file that is no JSON says what is wrong
        _check_documents(document)
    report = verified(uploads["table"], uploads.get("statement"), whole=uploads.get("release"))
    rows = {of: words for of, words in verified_in_words(report).items() if of not in ("signature", "on trust")}
    return {"rows": rows, **{name: report[name] for name in ("promise", "guarantee", "on_trust")}}


def _check_documents(fact: Any) -> None:
    """Check every domain and plan inside a statement: a few digits can declare millions of bins."""
    for part in fact.values() if isinstance(fact, dict) else fact if isinstance(fact, list) else ():
        _check_documents(part)
    check_listed(fact)


def _write_piece(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return a table as a file, or one piece of a CSV file; the first piece has the header."""
    columns, name = json.loads(fields["columns"]), Path(f"released.{fields['ending']}")
    file = io.BytesIO()
    files.write(columns, file, name, statement=json.loads(fields["statement"]))
    if fields["piece"] != "0":
        header = io.BytesIO()
        files.write({of: [] for of in columns}, header, name)
        return {"content": b64encode(file.getvalue()[len(header.getvalue()) :]).decode()}
    return {"content": b64encode(file.getvalue()).decode()}


WORKS: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
    "read": _read_count,
    "explore": _least_noise,
    "channel": _channel_of_counts,
    "map": _small_map,
    "trust": _trust_levels,
    "verify": _verify_files,
    "download": _write_piece,
}


def answered(work: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the result for a page: facts with status 200, or the message of an error and its status."""
    try:
        return {"found": WORKS[work](fields), "status": 200, "problem": ""}
    except UtmostError as error:
        refusal = error
        if isinstance(error.__context__, ModuleNotFoundError):  # the reader of a page cannot install a package here
            required = "the service must be able to read files of this kind"
            refusal = Unsupported(required, came="a service without the package for it", remedy=_LIMITS.remedy)
    except (ArithmeticError, MemoryError, ValueError):
        required = "the numbers of a page must be of moderate size"
        refusal = Unsupported(
            required,
            came="numbers that are too large or too small",
            remedy="Write numbers nearer to 1, or use the command line.",
        )
    return {"found": {}, "status": status_of(refusal), "problem": str(refusal)}


def serve(channel: Connection, begun: Callable[[], object], ended: Callable[[], object]) -> None:
    """Answer numbered requests until the channel closes; first send answer 0, when the process is ready."""

    def plain(fact: Any) -> Any:
        if isinstance(fact, np.generic):
            return fact.item()
        return float(fact) if isinstance(fact, Fraction) else str(fact)

    channel.send_bytes(json.dumps([0, {"found": {}, "status": 200, "problem": ""}]).encode())
    with suppress(EOFError):
        while True:
            number, work, fields = json.loads(channel.recv_bytes())
            begun()
            result = answered(work, fields)
            ended()
            channel.send_bytes(json.dumps([number, result], default=plain).encode())
