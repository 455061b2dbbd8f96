r"""The additive capacity of a Euclidean lattice: a column for each corner, as steep as a lattice in two directions.

On counts with level e the geometric mechanism, its columns merged by where they are least, has two columns: g rises
from t^m / 2 (2m + 1 counts) or t^(m+1) / (1 + t) (2m + 2 counts) at one end, t = exp(-e), and the other is 1 - g. Take
it at level e p for the rows and e q for the columns, p^2 + q^2 = 1. The product g h is private on the lattice, for
|log g(r)h(c) - log g(s)h(d)| <= e p |r-s| + e q |c-d| <= e |(r,c) - (s,d)| by Cauchy and Schwarz. With (p, q) along
the diagonal of an odd lattice its least entry is alpha^D / 4 in each of four columns, D the distance from the middle to
a corner; and z = alpha^D on the middle proves that none has a smaller sum. So the additive capacity is 1 - alpha^D.
For even sides the same mechanism, and z on the middle points, enclose it.
"""

from fractions import Fraction

import numpy as np

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.lattice_mechanism import LatticeMechanism
from utmost.design.capacity.sandwich import lowered
from utmost.exact import Array
from utmost.privacy import PrivacyType
from utmost.spaces import EuclideanGridMetric

THEOREM = "on a Euclidean lattice with a middle point the additive capacity is 1 - alpha^(distance from it to a corner)"
# exp(-75) is below the last place of a float next to 1: a dual as small as this proves nothing more than 0 does.
_FAR = 75.0


def on_lattice(ptype: PrivacyType) -> CapacityCertificate | None:
    """The certificate of the additive capacity of a lattice with odd sides, else None."""
    metric = ptype.space.metric
    if not isinstance(metric, EuclideanGridMetric) or metric.size == 1 or metric.rows % 2 == 0 or metric.cols % 2 == 0:
        return None
    return _around(ptype, metric, THEOREM)


def bound_on_lattice(ptype: PrivacyType) -> CapacityCertificate | None:
    """Two bounds of the additive capacity of any Euclidean lattice, else None."""
    metric = ptype.space.metric
    if not isinstance(metric, EuclideanGridMetric) or metric.size == 1:
        return None
    return _around(ptype, metric, None)


def _around(ptype: PrivacyType, metric: EuclideanGridMetric, theorem: str | None) -> CapacityCertificate:
    return CapacityCertificate(ptype, "additive", LatticeMechanism(ptype), _on_the_middle(ptype, metric), None, theorem)


def _on_the_middle(ptype: PrivacyType, metric: EuclideanGridMetric) -> Array:
    """The largest feasible dual that is the same on the one, two or four middle points, and 0 elsewhere."""
    dual = np.full(metric.size, Fraction(0), dtype=object)
    radius = float(np.hypot(metric.rows - 1, metric.cols - 1)) / 2
    if ptype.level.epsilon_float * radius > _FAR:
        return dual
    rows, cols = ({(side - 1) // 2, side // 2} for side in (metric.rows, metric.cols))
    dual[[r * metric.cols + c for r in rows for c in cols]] = Fraction(1)
    return lowered(ptype, dual)
