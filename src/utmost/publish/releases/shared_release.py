"""Release several measures of the same individuals, such as counts and amounts, within one level."""

from collections.abc import Mapping

from utmost.core.exact.arguments import instance, mapping
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.noise_at_level import warn_of_weakness, weakness_of
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.checked_sums import CheckedSums, counted_for
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.workloads.planning.shared_level import SharedLevel, levels_of_tables


def release_shared(
    tables: Mapping[str, CountedTable],
    shared: SharedLevel,
    *,
    epsilon: Number | Level | None = None,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> dict[str, Answer[NoisySums]]:
    """Release several measures, each by its plan and with its share of one level; together they cost that level.

    Each measure is a separate release, with a statement at its own level. Everything is checked before noise is drawn,
    so either all measures are released or none. The noises of the measures are independent, so `Answer.mean` with
    ``sums=`` divides a sum of one measure by a count of another, with Fieller's interval.

    Args:
        tables: Dict from names to counted tables, as `count_measures` returns it.
        shared: Plans and budget shares, by the same names.
        epsilon: Privacy level of all measures together; the level of ``shared`` if left out.
        confidence, randomness: Arguments of `release`.

    Raises:
        OutOfRange: if ``tables`` and ``shared`` have different names, or as for `release`.
        Unsupported, PromiseBroken, NotALevel, NotANumber: as for `release`.

    Warns:
        LittleProtection: as for `release`, for the level of all measures together.

    >>> import utmost as ut
    >>> from utmost.workloads import Workload, share_level, choose_plan
    >>> sales = {"user": ["ann", "bob", "bob"], "shop": ["A", "A", "B"], "paid": [3, 7, 9]}
    >>> measures = {"visits": ut.count(2), "spent": ut.sum("paid", per_cell=20)}
    >>> tables = ut.count_measures(sales, {"shop": ["A", "B"]}, ut.Counting("user", at_most=2), measures)
    >>> wanted = {name: Workload(table.domain, {"shop": 1}) for name, table in tables.items()}
    >>> plans = {name: choose_plan(wanted[name], table.unit, epsilon=1) for name, table in tables.items()}
    >>> releases = release_shared(tables, share_level(plans, epsilon=1))
    >>> {name: str(answer.epsilon) for name, answer in releases.items()}
    {'visits': '1/2', 'spent': '1/2'}
    >>> mean = releases["visits"].mean(sums=releases["spent"], where={"shop": "A"})
    """
    mapping(tables, "tables")
    instance(shared, SharedLevel, "shared")
    whole, levels = levels_of_tables(tables, shared, epsilon)
    sure, bits = read_confidence(confidence), secure(randomness)
    checks: dict[str, CheckedSums] = {}
    for name, plan in shared.plans.items():
        checks[name] = CheckedSums.of(*counted_for(tables[name], plan), levels[name], sure)
    distributions = checks[min(levels, key=levels.__getitem__)].distributions
    warn_of_weakness(weakness_of(whole, next(iter(distributions.values()))))
    return {name: own.released(bits) for name, own in checks.items()}
