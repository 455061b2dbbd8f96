r"""Which channels on counts are remaps of the geometric mechanism: X = G Y with Y row-stochastic.

Y = G^{-1} X, and G^{-1} is tridiagonal, so Y >= 0 is a condition on three neighbouring entries of a column:

    (1 + alpha^2) x_i - alpha (x_{i-1} + x_{i+1}) >= 0 inside,   x_0 >= alpha x_1 and x_n >= alpha x_{n-1} at the ends.

The rows of Y sum to 1 by themselves.

Source: [gupte2010], Theorem 2; the vertices that are not derivable are those of footnote 4 of [ghosh2009].
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.channels import Channel, GeometricMatrix
from utmost.errors import OutOfRange, PromiseBroken
from utmost.exact import Array, Level, Number, checked, frozen, is_exact, level


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """Whether X = G Y has a solution with Y row-stochastic, and what Y is.

    Attributes:
        factor: (n+1, m) the matrix Y = G^{-1} X, whatever its signs.
        offence: (row i, column r) of the most negative entry of Y, or None where X is derivable: the three entries
            x_(i-1)r, x_ir, x_(i+1)r break the condition.
    """

    factor: Array
    offence: tuple[int, int] | None

    @property
    def is_derivable(self) -> bool:
        """Whether Y is a channel."""
        return self.offence is None

    @property
    def remap(self) -> Channel:
        """Y as a randomised remap.

        Raises:
            PromiseBroken: when X is not derivable.
        """
        if self.offence is not None:
            i, r = self.offence
            came = f"Y[{i}, {r}] = {self.factor[i, r]}"
            raise PromiseBroken(f"column {r} must meet the three-term condition around count {i}", came=came)
        return Channel(self.factor if is_exact(self.factor) else np.maximum(self.factor, 0.0))


@checked
def derivation(X: Channel, alpha: Number | Level, tolerance: float = 1e-9) -> Derivation:
    """The factor Y of X = G Y, in the number world of X and alpha.

    Args:
        X: (n+1, m).
        alpha: the level's alpha (or a `Level`).
        tolerance: how far below 0 an entry of a float Y may be; exact ones not at all.

    Cost: O(n m).

    >>> rows = [["0", "1/3", "2/3"], ["0", "2/3", "1/3"], ["0", "1/3", "2/3"]]
    >>> found = derivation(Channel(rows), "1/2")
    >>> found.factor.tolist()[1], found.offence
    ([Fraction(0, 1), Fraction(2, 1), Fraction(-1, 1)], (1, 2))
    """
    at = alpha if isinstance(alpha, Level) else level(alpha=alpha)
    factor = GeometricMatrix(X.shape[0] - 1, at).inverse_product(X.matrix)
    i, r = divmod(int(np.argmin(factor)), factor.shape[1])
    least: Any = 0 if is_exact(factor) else -tolerance
    return Derivation(frozen(np.array(factor)), None if factor[i, r] >= least else (i, r))


@checked
def between_levels(n: int, loose: Level, strict: Level) -> Channel:
    """The K with G(strict) = G(loose) K: a stricter geometric release is a looser one, remapped at random.

    Raises:
        OutOfRange: when ``strict`` is the looser of the two; then K would have negative entries.

    Source: [gupte2010], Lemma 3.

    >>> between_levels(2, level(alpha="1/4"), level(alpha="1/2")).matrix[1].tolist()
    [Fraction(7, 27), Fraction(13, 27), Fraction(7, 27)]
    """
    if loose < strict:
        raise OutOfRange("the first level must not be stricter than the second", came=(str(loose), str(strict)))
    target = GeometricMatrix(n, strict).matrix()
    factor = GeometricMatrix(n, loose).inverse_product(target)
    return Channel(factor if is_exact(factor) else np.maximum(factor, 0.0))
