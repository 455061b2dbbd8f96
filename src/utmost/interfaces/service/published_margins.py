"""Compute the margins of the tables that a release publishes, from its promise alone."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.releases.marginal_tables import wanted_marginals
from utmost.publish.releases.noisy_sums import NoisySums

MOST_TABLES_WITH_MARGINS = 48
"""The number of tables of a plan whose margins are computed; 48 tables take up to two seconds."""


@lru_cache(maxsize=512)
def published_bars(
    noise: Noise, level: Level, confidence: Fraction = CONFIDENCE
) -> tuple[tuple[tuple[str, int | float], ...], int]:
    """Return the margins of error of the first published tables, and the number of the other published tables."""
    if not isinstance(noise, SumNoise):
        return noise.named_bars(level, confidence, MOST_TABLES_WITH_MARGINS), 0
    marginals = wanted_marginals(noise.plan) if noise.plan.rows is None else []
    if not marginals:
        noise_bars = noise.named_bars(level, confidence, MOST_TABLES_WITH_MARGINS)
        return tuple((f"{name} (of the noise alone)", margin) for name, margin in noise_bars), 0
    release, shown = (
        NoisySums.without_data(Promise(noise=noise), level, confidence),
        marginals[:MOST_TABLES_WITH_MARGINS],
    )
    if noise.plan.amount_pair is None:
        bars = [(name or "total", margin) for name, margin in release.bars(*shown).items()]
    else:
        bars = [
            (f"{name or 'total'}: {column.replace(' times ', ', to be divided by ')}", margin)
            for name, columns in release.column_bars(*shown).items()
            for column, margin in columns.items()
        ]
    return tuple(bars), len(marginals) - len(shown)


def bars_of_release(
    release: Published, level: Level, confidence: Number = CONFIDENCE
) -> tuple[tuple[str, int | float], ...]:
    """Return the margins of the first published tables of a release by a plan; none for another release."""
    if not isinstance(release.noise, SumNoise):
        return ()
    sure, stop = read_confidence(confidence), release.stop_at(level)
    if stop is not None:  # its margins also hold at the level that the stopping rule chose
        sure = release.promise.at_stop(level, replace(stop, confidence=sure)).confidence
    return published_bars(release.noise, level, sure)[0]


def tables_without_bars(release: Published) -> int:
    """Return how many published tables of a plan `bars_of_release` leaves out."""
    noise = release.noise
    if not isinstance(noise, SumNoise) or noise.plan.rows is not None:
        return 0
    return max(0, len(wanted_marginals(noise.plan)) - MOST_TABLES_WITH_MARGINS)


def margin_of_release(release: Published, level: Level, confidence: Number = CONFIDENCE) -> int | float:
    """Return the margin of error of a release at a level; by a plan, the largest margin of its published tables."""
    bars = bars_of_release(release, level, confidence)
    return max(margin for _, margin in bars) if bars else release.margin(level, confidence)
