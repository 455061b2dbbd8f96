"""Plot values as matplotlib figures, for the caller to change and save.

A figure shows released values, or facts about no individual.
"""

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.core.exact.arguments import optional, text, truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, natural, read_confidence
from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.figures.canvas import BLUE, GOLD, GREEN, INK, PALE, RED, bare, page
from utmost.interfaces.figures.cards import columns_of, constraints_of, kind_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h", "*")
_SHADES = (BLUE, RED, GOLD, GREEN, INK)
_ARROWS = {"down": "↓", "up": "↑", "slack": "", "zero": "0"}
_WRITTEN_UP_TO = 12
_MOST_POINTS, _MOST_BARS, _MOST_SHADED = 2001, 300, 400


def plot(
    value: Display,
    *,
    column: str | None = None,
    marginal: Any = None,
    rows: int | None = None,
    confidence: Number | None = None,
    width: Number | None = None,
    numbers: bool | None = None,
    place: Any = None,
) -> "Figure":
    """Plot a value as a matplotlib figure, which the caller can change, show and save (``figure.savefig``).

    Args:
        value: A distribution, channel, design, capacity, release, ledger, plan, alternatives of a plan, or another
            value that has a picture.
        column: Name of the released column. In a release of counts and sums: "count", or the name of the amounts.
        marginal: Marginal of a release of sums, as in ``release["department sex"]``.
        rows: Number of rows to plot, from the first, or for keys from the most frequent; 40 if left out.
        confidence: For a distribution, the probability of the part that is shaded; 0.95 if left out.
        width: For a distribution, the probability of the part that is plotted; 0.999 if left out.
        numbers: Whether to write numbers into the cells of a matrix; if left out, they are written for up to 12
            columns. A design for places is plotted as a matrix if ``numbers`` is given, else as a map.
        place: Place whose answers are plotted on the map; the likeliest if left out.

    Raises:
        Unsupported: if the value has no picture, or if matplotlib is not installed.
        OutOfRange: if this kind of picture does not have an option, or if the column was not released.

    >>> from utmost.noise import Geometric
    >>> figure = plot(Geometric(1), confidence="0.99")
    >>> figure.axes[0].get_xlabel()
    'noise'
    """
    kind = type(value).__name__
    draw = kind_of(value, PLOTS)
    if draw is None:
        remedy = f"Pass one of {', '.join(sorted(PLOTS))}."
        raise Unsupported("plot needs a value of a kind that it can draw", came=kind, remedy=remedy)
    _, *known = signature(draw).parameters
    options = {
        "column": optional(column, text, "column"),
        "marginal": marginal,
        "rows": None if rows is None else natural(rows, "rows"),
        "confidence": confidence,
        "width": width,
        "numbers": optional(numbers, truth, "numbers"),
        "place": place,
    }
    given = {name: option for name, option in options.items() if option is not None}
    for name in given:
        if name not in known:
            remedy = f"Leave out {name}=."
            raise OutOfRange(
                f"the picture of a {kind} takes the options {', '.join(known) or 'none'}", came=name, remedy=remedy
            )
    figure: Figure = draw(value, **given)
    return figure


def _distribution(distribution: Any, *, confidence: Any = DEFAULT_CONFIDENCE, width: Any = "0.999") -> Any:
    figure, axes = page(6.4, 3.2)
    far, near = distribution.margin(width), distribution.margin(confidence)
    if distribution.numbers == "integers" and far <= _MOST_BARS:
        xs: Any = np.arange(-int(far), int(far) + 1)
        ys = distribution.pmf(xs.astype(float))
        axes.bar(xs, ys, width=0.85, color=np.where(abs(xs) <= near, BLUE, PALE).tolist())
    else:
        xs = np.linspace(-float(far), float(far), _MOST_POINTS)
        ys = distribution.pdf(xs) if distribution.numbers == "reals" else distribution.pmf(np.rint(xs))
        axes.plot(xs, ys, color=BLUE, linewidth=1.6)
        axes.fill_between(xs, ys, where=abs(xs) <= near, color=BLUE, alpha=0.2)
    height = "probability" if distribution.numbers == "integers" else "density"
    axes.set(
        xlabel="noise",
        ylabel=height,
        ylim=(0, None),
        title=f"{distribution!r}: {float(read_confidence(confidence)):.4g} within {near:.6g}",
    )
    axes.title.set_fontsize(10)
    bare(axes)
    return figure


def _shade_cells(axes: Any, matrix: Any, rows: Any, columns: Any, numbers: bool | None) -> None:
    shades = np.asarray(matrix).astype(float)
    top = float(shades.max()) or 1.0
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1.15 * top, aspect="auto")
    if numbers if numbers is not None else shades.shape[1] <= _WRITTEN_UP_TO and len(shades) <= 2 * _WRITTEN_UP_TO:
        for (row, column), shade in np.ndenumerate(shades):
            cell = matrix[row, column]
            words = str(cell) if not isinstance(cell, float) and len(str(cell)) <= 7 else f"{shade:.3f}"
            colour = "white" if shade > 0.6 * top else INK
            axes.annotate(words, (column, row), ha="center", va="center", fontsize=8.5, color=colour)
    for names, count, name in ((columns, shades.shape[1], "x"), (rows, len(shades), "y")):
        if count <= 40:
            getattr(axes, f"set_{name}ticks")(range(count), [str(k) for k in (names or range(count))], fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _check_size(shape: tuple[int, ...]) -> None:
    if max(shape) > _MOST_SHADED:
        came = " x ".join(map(str, shape))
        raise Unsupported(
            f"a picture may have at most {_MOST_SHADED} rows and columns",
            came=came,
            remedy="Plot a part of the matrix.",
        )


def _matrix(matrix: Any, rows: Any, columns: Any, numbers: bool | None, names: tuple[str, str], title: str = "") -> Any:
    _check_size(matrix.shape)
    n, m = matrix.shape
    figure, axes = page(min(12, 1.4 + 0.75 * m), min(12, 1.3 + 0.55 * n))
    _shade_cells(axes, matrix, rows, columns, numbers)
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.set_title(title, loc="left", fontsize=10)
    return figure


def _channel(channel: Any, *, numbers: bool | None = None) -> Any:
    figure = _matrix(channel.matrix, channel.secrets, channel.outcomes, numbers, ("outcome", "secret"))
    marks, tight_at = constraints_of(channel.matrix)
    if marks is not None:
        for (row, column), mark in np.ndenumerate(marks):
            figure.axes[0].annotate(_ARROWS[str(mark)], (column, row + 0.5), ha="center", va="center", color=RED)
        figure.axes[0].set_title(f"tight between neighbouring rows at {tight_at}", loc="left", fontsize=10)
    return figure


def _optimum(optimum: Any, *, numbers: bool | None = None, place: Any = None) -> Any:
    space = optimum.certificate.ptype.space if hasattr(optimum, "certificate") else None
    if numbers is None and getattr(space, "geography", None) is not None:
        from utmost.interfaces.figures.labelled_map import map_of_answers

        return map_of_answers(optimum, place)
    if place is not None:
        raise Unsupported(
            "place= needs the map of a design for places", came="another picture", remedy="Leave out place=."
        )
    figure = _channel(optimum.channel, numbers=numbers)
    figure.axes[0].set_title(f"expected loss {float(optimum.loss):.6g}", loc="left", fontsize=10)
    return figure


def _capacity(capacity: Any, *, numbers: bool | None = None) -> Any:
    title = f"capacity {float(capacity.value):.6g}"
    _check_size(capacity.mechanism.shape)
    return _matrix(capacity.mechanism.matrix, None, None, numbers, ("outcome", "secret"), title)


def _order(verdict: Any, *, numbers: bool | None = None) -> Any:
    figure, both = page(9, 3.6, ncols=2)
    named = {"better": verdict.better, "worse": verdict.worse}
    for axes, (name, channel) in zip(both, named.items(), strict=True):
        _shade_cells(axes, channel.matrix, channel.secrets, channel.outcomes, numbers)
        axes.set_title(name, loc="left", fontsize=10)
    figure.suptitle("holds" if verdict else "does not hold", fontsize=11)
    return figure


def _text_figure(words: str) -> Any:
    figure, axes = page(4.8, 1.2)
    axes.annotate(words, (0.5, 0.5), ha="center", va="center", fontsize=12, color=INK)
    axes.set_axis_off()
    return figure


def _losslessness(verdict: Any) -> Any:
    """Plot the noise that turns one distribution into the other, if it is on a lattice; else plot the verdict."""
    noise = verdict.difference
    if not hasattr(noise, "listed"):
        return _text_figure("lossless" if verdict else f"not lossless: {type(verdict.obstacle).__name__}")
    far = max(6, min(60, len(noise.listed)))
    xs = [k * noise.unit for k in range(-far, far + 1)]
    figure, axes = page(6.4, 3.2)
    axes.bar([float(x) for x in xs], [float(noise.pmf(x)) for x in xs], width=0.85 * float(noise.unit), color=BLUE)
    axes.set(xlabel="noise that turns one distribution into the other", ylabel="probability", ylim=(0, None))
    bare(axes)
    return figure


def _clean(release: Any) -> Any:
    """Plot the clean table of the first axis level as bars."""
    figure, axes = page(6.4, 3.2)
    names, rows, _ = columns_of(release[release.domain.level_names(release.domain.finest)[0]], 40)
    axes.bar([str(row[0]) for row in rows], [row[names.index("clean")] for row in rows], color=BLUE)
    axes.set(xlabel=names[0], ylabel="clean")
    bare(axes)
    return figure


def _beliefs(beliefs: dict[str, Any], x: str) -> Any:
    figure, axes = page(6.4, 3.2)
    for (name, belief), colour in zip(beliefs.items(), (BLUE, GOLD, GREEN), strict=False):
        axes.bar(range(len(belief)), [float(share) for share in belief], color=colour, label=name, alpha=0.85)
    axes.set(xlabel=x, ylabel="probability", ylim=(0, None))
    axes.legend(frameon=False)
    bare(axes)
    return figure


def _reading(reading: Any) -> Any:
    figure = _beliefs({"posterior": reading.posterior}, "count")
    axes, (first, last) = figure.axes[0], reading.interval
    axes.axvspan(first - 0.5, last + 0.5, color=PALE, alpha=0.4, label="interval")
    axes.axvline(reading.action, color=RED, linestyle="--", label=f"best answer {reading.action}")
    axes.legend(frameon=False)
    return figure


def _space(space: Any, *, numbers: bool | None = None) -> Any:
    _check_size((space.size,))
    return _matrix(space.distances, space.labels, space.labels, numbers, ("", ""), space.unit or "distance")


def _error_bars(table: Any, value: str, margin: str, rows: int, title: str, other: tuple[str, ...] = ()) -> Any:
    names, cells, _ = columns_of(table, rows)
    at, bar = names.index(value), names.index(margin)
    shown = [
        k for k, name in enumerate(names) if k not in (at, bar) and not name.endswith("_margin") and name not in other
    ]
    labels = [", ".join(str(row[k]) for k in shown) or str(i) for i, row in enumerate(cells)]
    figure, axes = page(max(4.0, min(14.0, 1.5 + 0.35 * len(labels))), 3.6)
    axes.errorbar(
        range(len(labels)),
        [float(row[at]) for row in cells],
        yerr=[float(row[bar]) for row in cells],
        fmt="o",
        color=BLUE,
        ecolor=PALE,
        elinewidth=2,
        capsize=3,
    )
    axes.set_xticks(range(len(labels)), labels, rotation=90 if max(map(len, labels), default=0) > 4 else 0, fontsize=8)
    axes.set_title(title, loc="left", fontsize=10)
    bare(axes)
    return figure


def _answer(release: Any, *, column: str | None = None, rows: int = 40, marginal: Any = None) -> Any:
    if release.is_by_plan:
        return _workload(release.table, marginal=marginal, rows=rows, column=column)
    if marginal is not None:
        raise OutOfRange(
            "the picture of a table takes the options column and rows", came="marginal", remedy="Leave out marginal=."
        )
    names = release.columns
    chosen = names[0] if column is None else column
    if chosen not in names:
        raise OutOfRange("column must name a released column", came=chosen, remedy=f"Pass column={names[0]!r}.")
    margins = release.noise.bars(names)
    if not margins:
        raise Unsupported(
            "a picture needs a release with margins",
            came=release.distribution,
            remedy="Plot answer.table with another library.",
        )
    if len(margins) < len(names):  # one margin for all coordinates of a point
        header, points, _ = columns_of(release.table, _MOST_POINTS)
        x, y = (header.index(name) for name in (release.columns * 2)[:2])
        figure, axes = page(5, 5)
        axes.plot([point[x] for point in points], [point[y] for point in points], ".", color=BLUE)
        axes.set(xlabel=header[x], ylabel=header[y], title=f"each within {release.margin():.6g} of the true place")
        axes.title.set_fontsize(10)
        bare(axes)
        return figure
    return _error_bars(release.table, chosen, f"{chosen}_margin", rows, f"{chosen}, {release.level}")


def _workload(release: Any, *, marginal: Any = None, rows: int = 40, column: str | None = None) -> Any:
    from utmost.publish.releases.marginal_tables import wanted_marginals

    chosen = next(iter(wanted_marginals(release.plan)), release.domain.finest) if marginal is None else marginal
    margins = dict(release.value_columns)
    value = list(margins)[-1] if column is None else column
    if value not in margins:
        remedy = f"Pass column={next(iter(margins))!r}."
        raise OutOfRange("column must name a released column", came=value, remedy=remedy)
    title = str(release.spent) if len(margins) == 1 else f"{value}, {release.spent}"
    return _error_bars(release[chosen], value, margins[value], rows, title, tuple(margins))


def _levels(release: Any) -> Any:
    named = {str(level): level.epsilon_float for level in release.levels}
    figure, axes = page(6.4, 1.2 + 0.3 * max(1, len(named)))
    axes.barh(list(named), list(named.values()), color=BLUE)
    axes.set(xlabel="epsilon", title="levels answered" if named else "no level answered yet")
    bare(axes)
    return figure


def _status(status: Any) -> Any:
    names = [dataset.dataset for dataset in status.datasets]
    figure, axes = page(6.4, 1.5 + 0.3 * max(1, len(names)))
    axes.barh(names, [float(dataset.spent) for dataset in status.datasets], color=BLUE, label="spent")
    limits = [
        (k, dataset.limit.epsilon_float) for k, dataset in enumerate(status.datasets) if dataset.limit is not None
    ]
    if limits:
        axes.plot([x for _, x in limits], [k for k, _ in limits], "|", color=RED, markersize=16, mew=2, label="limit")
    axes.set(xlabel="epsilon", xlim=(0, None))
    if names:
        figure.legend(frameon=False, loc="outside lower center", ncols=2)  # within the axes it would lie on a bar
    bare(axes)
    return figure


def _plan(chosen: Any) -> Any:
    figure, axes = page(6.4, 1.2 + 0.3 * len(chosen.shares))
    names = [chosen.marginal_words(marginal) or "total" for marginal in chosen.shares]
    axes.barh(names, [float(share) for share in chosen.shares.values()], color=BLUE)
    part = "" if chosen.measurement.adds_to_one(chosen.shares) else f"{chosen.unit.cell_share_text} of "
    axes.set(xlabel=f"share of {part}the level", xlim=(0, None))
    bare(axes)
    return figure


def _alternatives(choices: Any) -> Any:
    """Plot the standard deviation of each requested table for each plan, on a logarithmic axis."""
    deviations = choices.deviations
    parts = list(next(iter(deviations.values())))
    figure, axes = page(7.2, 1.5 + 0.42 * len(parts) + 0.1 * len(deviations))
    rows = np.arange(len(parts))[::-1]
    for row, part in zip(rows.tolist(), parts, strict=True):
        values = [deviation[part] for deviation in deviations.values()]
        axes.plot([min(values), max(values)], [row, row], color=PALE, linewidth=1, zorder=1)
    for k, (name, by_part) in enumerate(deviations.items()):
        mark, shade = _MARKS[k % len(_MARKS)], _SHADES[k % len(_SHADES)]
        axes.plot([by_part[part] for part in parts], rows, mark, color=shade, label=name, markersize=6, alpha=0.9)
    axes.set_xscale("log")
    axes.set_yticks(rows, labels=[part or "total" for part in parts])
    axes.set_ylim(-0.6, len(parts) - 0.4)
    axes.set_xlabel("standard deviation")
    # Round numbers on a logarithmic axis: 1, 2 and 5 times powers of ten.
    everything = [value for deviation in deviations.values() for value in deviation.values()]
    low, high = np.log10(min(everything)), np.log10(max(everything))
    powers = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1)
    ticks = [size * 10.0**power for power in powers for size in (1, 2, 5)]
    shown = [tick for tick in ticks if 10**low / 1.6 <= tick <= 10**high * 1.6]
    axes.set_xlim(10**low / 1.15, 10**high * 1.15)
    axes.set_xticks(shown, labels=[f"{tick:g}" for tick in shown], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlim(10**low / 1.15, 10**high * 1.15)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8.5)
    bare(axes)
    return figure


def _costs(costs: Any) -> Any:
    """Plot the expected error of a sum for each bound, and its two parts: noise, and what the bound removes."""
    figure, axes = page(6.4, 3.6)
    bounds = [float(row.bound) for row in costs.rows]
    is_known = costs.best is not None
    for name, values, colour in (
        ("expected error", [row.error if is_known else row.error_at_least for row in costs.rows], INK),
        ("noise", [row.noise for row in costs.rows], BLUE),
        ("lost", [row.loss if is_known else row.loss_at_least for row in costs.rows], GOLD),
    ):
        label = name if is_known or name == "noise" else f"{name}, at least"
        axes.plot(bounds, values, marker="o", markersize=3, color=colour, label=label)
    if is_known:
        axes.axvline(float(costs.best), color=RED, linestyle="--", label=f"least at {costs.best}")
    axes.set(xlabel=costs.name, ylabel="error of a sum", ylim=(0, None))
    axes.legend(frameon=False)
    bare(axes)
    return figure


PLOTS: dict[str, Callable[..., Any]] = {
    "Distribution": _distribution,
    "Channel": _channel,
    "Optimum": _optimum,
    "MinimaxOptimum": _optimum,
    "Capacity": _capacity,
    "Verdict": _order,
    "ExistenceVerdict": lambda verdict, numbers=None: _channel(verdict.mechanism, numbers=numbers),
    "UniversalityVerdict": lambda verdict: (
        _text_figure("best for every prior")
        if verdict.prior is None
        else _beliefs({"a prior for which another mechanism is better": verdict.prior}, "secret")
    ),
    "Hyper": lambda hyper, numbers=None: _matrix(
        hyper.posteriors,
        None,
        [f"{float(weight):.3g}" for weight in hyper.weights],
        numbers,
        ("probability of the posterior", "secret"),
    ),
    "Reading": _reading,
    "Consumer": lambda consumer: _beliefs({"prior": consumer.prior}, "secret"),
    "Space": _space,
    "Answer": _answer,
    "NoisySums": _workload,
    "CleanTable": _clean,
    "Losslessness": _losslessness,
    "GradualRelease": _levels,
    "PlanarRelease": _levels,
    "Ledger": lambda ledger: _status(ledger.status()),
    "Status": _status,
    "Plan": _plan,
    "Alternatives": _alternatives,
    "BoundCosts": _costs,
}
"""Functions that plot a value, by class name."""
