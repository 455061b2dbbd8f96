"""The capacity of a privacy type by any measure of information: a program over the vertices of the type.

A mechanism with columns M_y = n w_y v_y has at prior p the measure sum_y w_y phi(v_y), where phi(v) is the measure of
the joint column p * (n v). A convex phi is largest at vertices: splitting a column into vertices only adds to the sum.
So the most that any mechanism of the type leaks is

    max sum_v w_v phi(v)   subject to   sum_v w_v v = u,   w >= 0,

over the vertices v, u the uniform distribution; and a y with y . v >= phi(v) for all v proves that none leaks more
than y . u.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.errors import OutOfRange
from utmost.exact import Array, as_array, checked, frozen, is_exact, objects
from utmost.geometry import vertices
from utmost.leakage import Capacity, Measure
from utmost.privacy import PrivacyType
from utmost.programs import LinearProgram, solve, solve_exactly
from utmost.spaces import priors


@dataclass(frozen=True, slots=True, eq=False)
class VertexCertificate:
    """Evidence that no mechanism of a type leaks more by a measure at a prior.

    Attributes:
        ptype, measure, prior: whose leakage, by what, and with what belief before.
        mechanism: the mechanism, its columns multiples of vertices.
        dual: (n,) y with y . v >= phi(v) for every vertex v of the type.
        slack: by how much floats may break that: 0 where all is rational.
    """

    ptype: PrivacyType
    measure: Measure
    prior: Array
    mechanism: Channel
    dual: Array
    slack: Any = 0

    @property
    def upper(self) -> Any:
        """No mechanism of the type leaks more than this, by the measure, additively."""
        after = self.dual.sum() / len(self.dual) + self.slack
        gained = _gained(self.measure, after, self.measure.prior(self.prior))
        return gained if isinstance(gained, Fraction) else float(gained)

    def verify(self) -> bool:
        """Whether the mechanism is of the type, and the dual above the measure of every vertex.

        Cost: the vertices are listed again.
        """
        columns = vertices(self.ptype).columns
        gains = _gains(self.measure, self.prior, columns)
        is_above = (self.dual @ columns + self.slack >= gains).all()
        return bool(is_above) and self.ptype.contains(self.mechanism, tolerance=1e-9)


@checked
def capacity_over_vertices(ptype: PrivacyType, measure: Measure, prior: object = None) -> Capacity:
    """The largest additive leakage of any mechanism of a type, by a measure, at a prior.

    Args:
        ptype: a type whose vertices can be listed (see `utmost.geometry.vertex_search`).
        measure: a vulnerability or an uncertainty, such as `shannon_entropy` or `g_vulnerability(gain)`.
        prior: (n,); uniform when left out.

    Returns:
        ``value``: exact where prior, measure and vertices are, else a float; ``mechanism``, which attains it; and a
        `VertexCertificate`.

    Raises:
        OutOfRange: for another number of secrets.

    Cost: a linear program with n rows and a column for each vertex.

    Source: [fernandes2022], theorem 3 and definition 8, for measures other than the two capacities'.

    >>> from utmost.leakage import bayes_vulnerability
    >>> from utmost.spaces import counts
    >>> found = capacity_over_vertices(PrivacyType(counts(2), alpha="1/2"), bayes_vulnerability)
    >>> found.value, found.certificate.verify()
    (Fraction(2, 9), True)
    """
    n = ptype.space.size
    belief = priors.uniform(n) if prior is None else as_array(prior, "prior", ndim=1)
    if len(belief) != n:
        raise OutOfRange(f"the prior must have {n} entries, one for each secret", came=len(belief))
    columns = vertices(ptype).columns
    gains = _gains(measure, belief, columns)
    exactly = is_exact(columns)
    solution = (solve_exactly if exactly else solve)(_program(columns, gains if exactly else gains.astype(np.float64)))
    used = np.flatnonzero(solution.primal > 0)
    matrix = n * columns[:, used] * solution.primal[used]
    dual = -solution.duals
    slack: Any
    if exactly and is_exact(gains):
        mechanism, slack = Channel(matrix), 0
    else:
        rounding = 2.0**-50 * n * float(np.abs(gains).max(initial=0.0)) + 1e-300
        slack = max(0.0, float((gains - dual.astype(np.float64) @ columns.astype(np.float64)).max())) + rounding
        mechanism = Channel(matrix if exactly else matrix / matrix.sum(axis=1, keepdims=True))
        dual = dual.astype(np.float64)
    certificate = VertexCertificate(ptype, measure, belief, mechanism, frozen(np.array(dual)), slack)
    return Capacity(certificate.upper, mechanism, certificate)


def _gains(measure: Measure, prior: Array, columns: Array) -> Array:
    """phi(v), with the sign of a vulnerability, for every vertex: (N,)."""
    joint = prior[:, None] * (len(prior) * columns)
    found = np.asarray(measure.of_columns(joint if is_exact(joint) else joint.astype(np.float64)))
    return found if measure.rises else -found


def _gained(measure: Measure, after: Any, before: Any) -> Any:
    """Leakage from what is known after and before; ``after`` has the sign of a vulnerability."""
    return after - (before if measure.rises else -before)


def _program(columns: Array, gains: Array) -> LinearProgram:
    """min -gains . w subject to columns w = u, w >= 0; floats among exact gains are read as the rationals they are."""
    n, count = columns.shape
    cost = -gains
    if is_exact(columns):
        cost = objects(map(Fraction, cost.tolist()))
    rows, places = (part.ravel() for part in np.indices((n, count)))
    share = np.full(n, Fraction(1, n) if is_exact(columns) else 1 / n, dtype=columns.dtype)
    return LinearProgram.of_triplets(cost, rows, places, columns.ravel(), share, share)
