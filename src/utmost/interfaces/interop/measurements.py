"""Make OpenDP measurements from noise: of one response, or of several levels, which together cost only the largest."""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

from utmost.core.exact.arguments import instance
from utmost.core.exact.intervals import narrow_interval, round_up
from utmost.core.exact.levels import level
from utmost.core.exact.numbers import exact
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.draw import on_grid
from utmost.core.sampling.grid import steps
from utmost.errors import Unsupported
from utmost.interfaces.interop.packages import package
from utmost.publish.promises.values import add_noise
from utmost.publish.releases.gradual_release import GradualRelease

_LARGEST = (1 << 63) - 1


def opendp_measurement(distribution: Distribution) -> Any:
    """Return a measurement of OpenDP that adds noise of the distribution to one number.

    The input domain is ``atom_domain`` of i64, or of floats without NaN; the input metric is the absolute distance; the
    output measure is the maximum divergence. The privacy map takes d_in to the smallest level that the drawn noise
    satisfies at that distance, rounded up; reals get noise in steps of a grid. A released integer beyond i64
    becomes the nearest integer in i64, which is post-processing.

    OpenDP must first allow measurements from outside:
    ``opendp.prelude.enable_features("contrib", "honest-but-curious")``.

    Raises:
        Unsupported: if OpenDP is not installed.

    Promise: the one of `utmost.releases.add_noise`; draws use the operating system's randomness.

    >>> opendp_measurement(Geometric(1))  # doctest: +SKIP
    Measurement(...)
    """
    is_integer = instance(distribution, Distribution, "distribution").numbers == "integers"
    _check_allowed()
    prelude = package("opendp.prelude")

    def respond(value: Any) -> Any:
        noisy = add_noise(value, distribution)
        return max(-_LARGEST - 1, min(_LARGEST, int(noisy))) if is_integer else float(noisy)

    return _measurement(prelude, distribution, respond, "i64" if is_integer else float)


def gradual_measurement(distribution: Geometric) -> Any:
    """Return a measurement of OpenDP that answers one integer at many levels, at the cost of the distribution's level.

    The release is a queryable, with levels in any order. A query is an epsilon (or a `Level`) per
    ``distribution.sensitivity``, at most the epsilon of ``distribution``; for a larger one OpenDP raises its own error,
    and nothing is spent. The answer to a query is the response of a `utmost.releases.GradualRelease`. A repeated level
    has the same answer. All answers together cost only the largest level, so the privacy map is the map of one response
    at the distribution's level.

    Raises:
        Unsupported: if OpenDP is not installed.
        WrongKind: if ``distribution`` is not a `Geometric`.

    Source: [koufogiannis2015], Theorem 1B, on the integers.
    """
    instance(distribution, Geometric, "distribution")
    _check_allowed()
    prelude = package("opendp.prelude")
    queryables = package("opendp.core")

    def opened(value: int) -> Any:
        release = GradualRelease(value, distribution.sensitivity)

        def answer(query: Any, is_internal: bool = False) -> int:
            query_level = level(query)
            if query_level > distribution.level:
                raise ValueError(f"the level must be at most {distribution.level}")  # OpenDP passes the text on
            return int(release.at(query_level))

        return queryables.new_queryable(answer)

    return _measurement(prelude, distribution, opened, None)


def _measurement(prelude: Any, distribution: Distribution, function: Callable[[Any], Any], kind: Any) -> Any:
    number = "i64" if distribution.numbers == "integers" else float
    bounded = {} if number == "i64" else {"nan": False}
    out = {} if kind is None else {"TO": kind}
    domain, metric = prelude.atom_domain(T=number, **bounded), prelude.absolute_distance(T=number)
    make = prelude.m.make_user_measurement
    try:
        return make(domain, metric, prelude.max_divergence(), function, lambda d: level_within(distribution, d), **out)
    except Exception as error:
        if "honest-but-curious" in str(error) or "contrib" in str(error):
            raise _not_allowed() from None
        raise


def _check_allowed() -> None:
    """Refuse if OpenDP is not loaded: its features cannot be enabled then, and loading takes seconds."""
    if find_spec("opendp") is not None and "opendp" not in sys.modules:
        raise _not_allowed()


def _not_allowed() -> Unsupported:
    remedy = 'Call opendp.prelude.enable_features("contrib", "honest-but-curious") first.'
    return Unsupported(
        "OpenDP must allow measurements of other packages", came="an OpenDP that does not yet", remedy=remedy
    )


def level_within(distribution: Distribution, distance: Any) -> float:
    """Return the epsilon that the distribution satisfies at a distance, rounded up; infinity beyond the floats."""
    if isinstance(distance, float) and math.isinf(distance):
        return math.inf
    shift, (lattice, exponent) = exact(distance, "d_in"), on_grid(distribution)
    # Reals are rounded to a grid first: two reals that are nearly equal may be a whole step of it apart.
    moved = math.ceil(shift) if exponent is None else steps(shift, exponent)
    level = lattice.worst_level(Fraction(moved)) if shift > 0 else None
    return 0.0 if level is None else round_up(narrow_interval(level.epsilon_interval))
