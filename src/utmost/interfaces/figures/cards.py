"""Make the cards that a notebook shows for values: public facts in a table, with a small picture.

A value without its own kind of card gets one with the fields that its printed text shows. No card reads a table that is
not released, except the report of a counted table, which is marked as confidential. No card asks a release for an
answer: only callers of ``at`` spend a level.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from utmost.core.exact.display import Display, displayed_fields, one_line
from utmost.errors import UtmostError
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.interfaces.figures import inline_svg as charts
from utmost.interfaces.figures import markup
from utmost.publish.promises.statement_kinds import is_of_sums
from utmost.publish.releases.release_facts import ReleaseFacts
from utmost.publish.statements.stated_words import sums_in_words

Card = Callable[[Any], tuple[str, list[str]]]
"""The summary of a value and the parts under it."""

_MOST_ROWS, _MOST_BARS, _MOST_CELLS = 12, 400, 40  # rows, bars, and cells of a side that a card in a notebook shows


def card(value: Any) -> str:
    """Return the card of a value as HTML.

    >>> from utmost.noise import Geometric
    >>> card(Geometric(1)).startswith('<div') and "smaller expected cost" in card(Geometric(1))
    True
    """
    kind: Any = type(value)
    maker = kind_of(value, CARDS)
    try:
        if maker is not None:
            summary, parts = maker(value)
        elif kind.__repr__ is not Display.__repr__:  # a class that writes its own text
            summary, parts = one_line_of(value), []
        else:
            summary = str(bool(value)) if "__bool__" in dir(kind) else ""
            rows = ((name.replace("_", " "), getattr(value, name)) for name in displayed_fields(value))
            parts = [markup.facts_table(rows)]
    except UtmostError as error:  # such as a closed ledger: the notebook shows the error and goes on
        summary, parts = one_line_of(value), [markup.sentence(str(error))]
    return markup.page_of(kind.__name__, summary, parts)


def kind_of(value: Any, table: dict[str, Any]) -> Any:
    """Return the entry of a dict for the name of a value's class, or of its nearest base class; None without one."""
    ours = (kind for kind in type(value).__mro__ if kind.__module__.startswith("utmost."))
    return next((table[kind.__name__] for kind in ours if kind.__name__ in table), None)


def one_line_of(value: Any) -> str:
    """Return the text of a value without the name of its class."""
    text = repr(value) if len(repr(value)) <= 240 else one_line(value)
    return text.removeprefix(type(value).__name__)


def columns_of(table: Any, most: int = _MOST_ROWS) -> tuple[list[str], list[list[Any]], int]:
    """Return the names of a released table, its first rows, and its number of rows."""
    from utmost.tables.frames.any_table import adapter_of

    adapter = adapter_of(table)
    names = adapter.names(table)
    columns = [list(islice(iter(adapter.column(table, name, most)), most)) for name in names]
    length = len(adapter.column(table, names[0])) if names else 0
    return names, [list(row) for row in zip(*columns, strict=True)], length


def with_bars(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> tuple[list[str], list[list[Any]]]:
    """Join each column and its column of margins into cells such as "17 ± 3"; return names and rows."""
    bar = {name: names.index(f"{name}_margin") for name in names if f"{name}_margin" in names}
    shown = [k for k in range(len(names)) if k not in bar.values()]
    joined = [
        [f"{markup.text(row[k])} ± {markup.text(row[bar[names[k]]])}" if names[k] in bar else row[k] for k in shown]
        for row in rows
    ]
    return [names[k] for k in shown], joined


def table_part(table: Any) -> list[str]:
    """Return HTML of the first rows of a released table, each number with its margin."""
    names, rows, length = columns_of(table)
    header, joined = with_bars(names, rows)
    more = [markup.sentence(f"{length} rows, of which {len(rows)} are shown")] if length > len(rows) else []
    return [markup.rows_table(header, joined), *_whiskers(names, rows), *more]


def _whiskers(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return a chart of the first released column with its margin, if the margin is the same in every row."""
    named = [(name, f"{name}_margin") for name in names if f"{name}_margin" in names]
    if len(rows) < 2 or not named:
        return []
    value, margin = named[0]
    at, beside = names.index(value), names.index(margin)
    gaps = {row[beside] for row in rows}
    numbers = [row[at] for row in rows]
    if len(gaps) > 1 or not all(isinstance(number, int | float | np.number) for number in (*numbers, *gaps)):
        return []
    shown = [
        index
        for index, name in enumerate(names)
        if name not in {value, margin} and not (name.endswith("_margin") or f"{name}_margin" in names)
    ]
    labels = [" ".join(str(row[index]) for index in shown[:3]) or str(number) for number, row in enumerate(rows, 1)]
    drawn = charts.error_bars(f"{value}, each with its margin", list(zip(labels, numbers, strict=True)), gaps.pop())
    return [charts.self_coloured(drawn)]


def _statement(statement: Any) -> tuple[str, list[str]]:
    if not is_of_sums(statement):
        return "", _promised(stated_release(statement), [])
    # The statement of sums also holds the sums, which are left out here.
    shown = [(name, fact) for name, fact in statement.items() if isinstance(fact, str | int | float) and name != "kind"]
    return "", [markup.facts_table((name.replace("_", " "), fact) for name, fact in shown)]


def _ratio(bar: Any) -> tuple[str, list[str]]:
    ends = f"{charts.short(bar.lower)} to {charts.short(bar.upper)}" if bar.determined else "not determined"
    facts = [("estimate", bar.estimate), (f"at {charts.short(100 * bar.confidence)} % confidence", ends)]
    return str(bar), [markup.facts_table(facts)]


def _quantile(bar: Any) -> tuple[str, list[str]]:
    listed = ", ".join(map(str, bar.labels[:_MOST_ROWS])) + (", ..." if len(bar.labels) > _MOST_ROWS else "")
    facts = [("estimate", bar.estimate), (f"at {charts.short(100 * bar.confidence)} % confidence in", listed)]
    return f"{bar.level}, quantile {bar.q}", [markup.facts_table(facts)]


def _estimate(estimate: Any) -> tuple[str, list[str]]:
    low, high = estimate.interval
    ends = f"{charts.short(low)} to {charts.short(high)}"
    facts = [(f"at {charts.short(100 * estimate.confidence)} % confidence", ends)]
    return str(estimate), [markup.facts_table(facts)]


def _promised(facts: ReleaseFacts, table: list[str]) -> list[str]:
    """Return HTML parts of a card: the promise in one line, a table, and the first facts."""
    rows = markup.facts_table((fact.label, fact.value) for fact in facts.first)
    return [markup.sentence(facts.line), *table, rows]


def _distribution(distribution: Any) -> tuple[str, list[str]]:
    spread = distribution.margin("0.99")
    if distribution.numbers == "integers" and spread <= _MOST_BARS // 2:
        far = max(1, int(spread))
        heights = [(x, float(distribution.pmf(float(x)))) for x in range(-far, far + 1)]
        picture = charts.columns_chart("The chance of each error", heights, ("error", "probability"))
    else:
        xs = np.linspace(-float(spread), float(spread), 401)
        ys = distribution.pdf(xs) if distribution.numbers == "reals" else distribution.pmf(np.rint(xs))
        line = list(zip(xs.tolist(), ys.tolist(), strict=True))
        picture = charts.curves("How likely each error is", {"distribution": line}, ("error", "density"))
    facts = [
        ("level", str(distribution.level)),
        ("sensitivity", str(distribution.sensitivity)),
        ("standard deviation", float(distribution.variance()) ** 0.5),
        ("mean absolute error", float(distribution.moment(1))),
        ("95 % within", distribution.margin("0.95")),
        ("proved", distribution.theorem),
    ]
    return one_line_of(distribution), [markup.facts_table(facts), charts.self_coloured(picture)]


def _channel(channel: Any) -> tuple[str, list[str]]:
    return _matrix_card(channel.matrix, channel.secrets, channel.outcomes, one_line_of(channel))


def _matrix_card(matrix: Any, rows: Any, columns: Any, summary: str) -> tuple[str, list[str]]:
    marks, tight_at = constraints_of(matrix)
    parts = [_heat_map(summary or "A matrix", matrix, rows, columns, marks)]
    if marks is not None:
        parts.append(
            markup.sentence(
                f"Between neighbouring rows, at {tight_at}: ↓ the lower entry is alpha times the upper, ↑ the upper is "
                "alpha times the lower, · neither, 0 both are zero."
            )
        )
    if max(matrix.shape) > _MOST_CELLS:
        shape = f"{matrix.shape[0]} x {matrix.shape[1]}"
        parts.append(markup.sentence(f"{shape}, of which {_MOST_CELLS} x {_MOST_CELLS} are shown."))
    return summary, parts


def _heat_map(title: str, matrix: Any, rows: Any, columns: Any, bound: Any = None) -> str:
    """Return a heat map of the first rows and columns of a matrix, with their names or numbers."""
    shown = matrix[:_MOST_CELLS, :_MOST_CELLS].tolist()
    down, across = _names(rows, len(shown)), _names(columns, len(shown[0]))
    return charts.self_coloured(charts.heat_map(title, shown, down, across, () if bound is None else bound))


def _names(names: Any, size: int) -> list[str]:
    return [str(k) if names is None else markup.text(names[k]) for k in range(size)]


def _bars(title: str, shares: Iterable[Any], answer: int | None = None) -> str:
    """Return a chart of the first probabilities as bars above their numbers, with a mark at `answer`."""
    heights = [(k, float(share)) for k, share in enumerate(islice(shares, _MOST_BARS))]
    marks = [] if answer is None else [(answer, f"best answer {answer}")]
    return charts.self_coloured(charts.columns_chart(title, heights, ("", "probability"), marks=marks))


def constraints_of(matrix: Any) -> tuple[Any, str]:
    """Return which constraints are tight at the least level of neighbouring rows, and this level; or (None, "")."""
    from utmost.core.exact.levels import level
    from utmost.design.channels.channel import stochastic
    from utmost.design.optima.structure import constraint_matrix

    if len(matrix) < 2 or max(matrix.shape) > 40:
        return None, ""
    above, below = matrix[:-1], matrix[1:]
    met = (above > 0) | (below > 0)
    if not met.any() or ((above > 0) != (below > 0)).any():
        return None, ""
    low, high = np.minimum(above, below)[met], np.maximum(above, below)[met]
    alpha = min(a / b for a, b in zip(low.tolist(), high.tolist(), strict=True))
    if not 0 < alpha < 1:
        return None, ""
    least_level = level(alpha=alpha if not isinstance(alpha, float) else alpha * (1 - 1e-12))
    return constraint_matrix(stochastic(np.array(matrix)), least_level), str(least_level)


def _optimum(optimum: Any) -> tuple[str, list[str]]:
    exactly = (
        "exactly the least expected loss" if optimum.is_exact else f"at most {markup.text(optimum.gap)} above the least"
    )
    facts = [
        ("expected loss", f"{markup.text(optimum.loss)}, {exactly}"),
        ("found by", optimum.method),
        ("theorem", optimum.theorem),
    ]
    return "", [markup.facts_table(facts), *_channel(optimum.channel)[1]]


def _capacity(capacity: Any) -> tuple[str, list[str]]:
    lower = getattr(capacity, "lower", capacity.value)
    facts = [
        ("capacity", capacity.value),
        ("attained", None if lower == capacity.value else lower),
        ("found by", getattr(capacity, "method", None)),
        ("theorem", getattr(capacity, "theorem", None)),
    ]
    mechanism = capacity.mechanism
    small = max(getattr(mechanism, "shape", (10**9,))) <= 40
    return "", [markup.facts_table(facts), *(_matrix_card(mechanism.matrix, None, None, "")[1] if small else ())]


def _order(verdict: Any) -> tuple[str, list[str]]:
    verdict_text = "yes" if verdict else "no"
    sizes = (
        f"{verdict.better.shape[0]} x {verdict.better.shape[1]} and {verdict.worse.shape[0]} x {verdict.worse.shape[1]}"
    )
    proof = {"RefinementVerdict": ("a remap", "a consumer who prefers the worse one")}.get(type(verdict).__name__)
    facts = [
        ("holds", verdict_text),
        ("channels", sizes),
        ("proof", None if proof is None else proof[0 if verdict else 1]),
    ]
    pair = {"The better channel": verdict.better, "The worse channel": verdict.worse}
    parts = [_heat_map(title, shown.matrix, shown.secrets, shown.outcomes) for title, shown in pair.items()]
    return "", [markup.facts_table(facts), *parts]


def _universality(verdict: Any) -> tuple[str, list[str]]:
    parts = [markup.facts_table([("best for every prior", "yes" if verdict else "no")])]
    if verdict.prior is not None:
        parts += [markup.sentence("A prior for which another mechanism is better:"), _bars("The prior", verdict.prior)]
    return "", parts


def _existence(verdict: Any) -> tuple[str, list[str]]:
    facts = [
        ("a mechanism that is best for every prior", "exists" if verdict else "does not exist"),
        ("least of the largest regrets", verdict.regret),
    ]
    return "", [markup.facts_table(facts), *_channel(verdict.mechanism)[1]]


def _hyper(hyper: Any) -> tuple[str, list[str]]:
    weights = markup.rows_table(["posterior", *range(min(20, hyper.shape[1]))], [["weight", *hyper.weights[:20]]])
    return one_line_of(hyper), [weights, _heat_map("The posteriors", hyper.posteriors, None, None)]


def _reading(reading: Any) -> tuple[str, list[str]]:
    first, last = reading.interval
    facts = [
        ("best answer", reading.action),
        ("interval", f"{first} to {last}, with mass {float(reading.mass):.4g}"),
        ("expected loss", reading.loss),
    ]
    return "", [markup.facts_table(facts), _bars("The posterior", reading.posterior, reading.action)]


def _clean(release: Any) -> tuple[str, list[str]]:
    marginal = " ".join(release.domain.level_names(release.domain.finest)[:2])
    return one_line_of(release), [
        markup.sentence("These values are biased, for display; the release has the margins."),
        *table_part(release[marginal]),
    ]


def _losslessness(verdict: Any) -> tuple[str, list[str]]:
    relation = "plus independent noise" if verdict else f"not plus independent noise: {type(verdict.obstacle).__name__}"
    return "", [markup.facts_table([("one distribution is the other", relation)])]


def _workload(release: Any) -> tuple[str, list[str]]:
    parts: list[str] = []
    for marginal in islice(release.plan.shares, 2):
        parts.append(markup.sentence(f"by {release.table_name(marginal) or 'total'}:"))
        parts += table_part(release[marginal])
    return one_line_of(release), _promised(sums_in_words(release.statement, release), parts)


def _gradual(release: Any) -> tuple[str, list[str]]:
    facts = [
        ("levels answered", ", ".join(map(str, islice(release.levels, 8))) or "none"),
        ("spent", "nothing" if release.spent is None else str(release.spent)),
    ]
    return one_line_of(release), [markup.facts_table(facts)]


def _release(release: Any) -> tuple[str, list[str]]:
    """Return a card with the levels that were answered; fetch no table."""
    summary, answered = f"{release.name}, version {release.version}", release.levels
    spent = f"spent {max(answered)}" if answered else "no answer that you may see"
    shown = ", ".join(map(str, islice(answered, _MOST_ROWS)))
    return f"{summary}, {spent}", [markup.facts_table([("answered at", shown)])]


def _ledger(ledger: Any) -> tuple[str, list[str]]:
    rows = [
        [release.name, release.version, release.dataset, release.rows, ", ".join(map(str, release.levels))]
        for release in islice(ledger.releases, _MOST_ROWS)
    ]
    summary, parts = _status(ledger.status())
    return summary, [*parts, markup.rows_table(["release", "version", "dataset", "rows", "levels"], rows)]


def _status(status: Any) -> tuple[str, list[str]]:
    rows = [
        [budget.dataset, budget.spent, budget.limit, budget.remaining] for budget in islice(status.datasets, _MOST_ROWS)
    ]
    budgets = [[name, *("none" if x is None else str(x) for x in facts)] for name, *facts in rows]
    summary = f"{status.releases} releases, {status.events} events, {'sealed' if status.sealed else 'not sealed'}"
    return summary, [markup.rows_table(["dataset", "spent", "limit", "left"], budgets)]


def _plan(chosen: Any) -> tuple[str, list[str]]:
    rows = [[chosen.marginal_words(marginal) or "total", share] for marginal, share in chosen.shares.items()]
    return one_line_of(chosen), [markup.rows_table(["measured", "share"], rows[:_MOST_ROWS])]


def _counted(counted: Any) -> tuple[str, list[str]]:
    """Return a card with domain, unit, and the counting report, which is for the person who counted."""
    unit, report = counted.unit, counted.report
    facts = [
        ("cells", f"{counted.domain.size} ({', '.join(counted.domain.columns)})"),
        ("one person", f"changes {unit.changes_text('cell')} ({unit.neighbours})"),
    ]
    shown = [] if report is None else [markup.sentence(report.notice), markup.facts_table(list(report.rows.items()))]
    sums = "counts" if unit.amount is None or unit.is_distinct else f"sums of {unit.amount.name}"
    return f"true {sums}: not to be published", [markup.facts_table(facts), *shown]


def _released(table: Any) -> tuple[str, list[str]]:
    names, rows, length = columns_of(table.table)
    header, joined = with_bars(names, rows)
    stated = stated_release(table.statement_with(None))
    return f"{length} rows", _promised(stated, [markup.rows_table(header, joined)])


def _domain(domain: Any) -> tuple[str, list[str]]:
    """Return a card with the length and the first and last values of each axis."""
    rows = []
    for axis in domain.axes:
        labels = (
            [str(label) for label in axis.labels[0][:4]]
            if axis.size <= 4
            else [str(axis.labels[0][0]), "...", str(axis.labels[0][-1])]
        )
        rows.append([", ".join(axis.levels), axis.size, ", ".join(labels)])
    return f"{domain.size} cells", [markup.rows_table(["levels", "values", ""], rows)]


def _answer(answer: Any) -> tuple[str, list[str]]:
    if answer.is_by_plan:
        return one_line_of(answer), _workload(answer.table)[1]
    return one_line_of(answer), _promised(stated_release(answer.statement_with(None)), table_part(answer.table))


def _space(space: Any) -> tuple[str, list[str]]:
    is_small = space.size <= _MOST_CELLS
    heat_map = [_heat_map("The distances", space.distances, space.labels, space.labels)] if is_small else []
    return one_line_of(space), heat_map


CARDS: dict[str, Card] = {
    "Distribution": _distribution,
    "Channel": _channel,
    "Optimum": _optimum,
    "MinimaxOptimum": lambda optimum: (
        "",
        [markup.facts_table([("worst expected loss", optimum.loss)]), *_channel(optimum.channel)[1]],
    ),
    "Capacity": _capacity,
    "Verdict": _order,
    "UniversalityVerdict": _universality,
    "ExistenceVerdict": _existence,
    "Hyper": _hyper,
    "Reading": _reading,
    "Answer": _answer,
    "NoisySums": _workload,
    "CleanTable": _clean,
    "Losslessness": _losslessness,
    "Release": _release,
    "GradualRelease": _gradual,
    "PlanarRelease": _gradual,
    "Ledger": _ledger,
    "Status": _status,
    "Space": _space,
    "Consumer": lambda consumer: (one_line_of(consumer), [_bars("The prior", consumer.prior)]),
    "Plan": _plan,
    "Decomposition": lambda mixture: (
        f"a mixture of {len(mixture.weights)} kernels",
        [_bars("The weights", mixture.weights)],
    ),
    "Domain": _domain,
    "CountedTable": _counted,
    "AnsweredTable": _released,
    "TableMethods": lambda table: (f"{table.rows} rows", table_part(table)),
    "StatementFacts": _statement,
    "RatioBar": _ratio,
    "QuantileBar": _quantile,
    "Estimate": _estimate,
}
"""Functions that make cards, by class name, so that the modules of the classes are not imported."""
