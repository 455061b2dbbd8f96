"""Product spaces: secrets of several parts, at the sum of the distances of their parts."""

from utmost.privacy import PrivacyType
from utmost.spaces import EuclideanGridMetric, ManhattanGridMetric, Space, SumMetric, counts


def factors(ptype: PrivacyType) -> tuple[PrivacyType, ...] | None:
    """The types of the parts of a product, the part that moves fastest last; None where none are known.

    Columns v kron w of private columns are private, for alpha^d is the product of the parts' powers; and the steepest
    columns are of this form. So mechanisms and nonnegative duals of the parts multiply, and with them sum_y max_x M
    and sum_y min_x M.

    >>> from utmost.spaces import grid
    >>> [part.space.size for part in factors(PrivacyType(grid(2, 5, "manhattan"), 1))]
    [2, 5]
    """
    metric = ptype.space.metric
    match metric:
        case SumMetric():
            parts = Space(metric.first), Space(metric.second)
        case ManhattanGridMetric():
            parts = counts(metric.rows - 1), counts(metric.cols - 1)
        case EuclideanGridMetric() if 1 in (metric.rows, metric.cols):
            return (PrivacyType(counts(metric.size - 1), ptype.level),)
        case _:
            return None
    return tuple(PrivacyType(part, ptype.level) for part in parts)
