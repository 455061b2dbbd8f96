"""Two-sided geometric noise without clamping, as a finite channel on counts: each infinite tail is one outcome."""

from utmost.channels.channel import Channel, stochastic
from utmost.channels.geometric import GeometricMatrix
from utmost.exact import Level, Number, checked, level, natural


@checked
def unbounded_geometric_channel(
    n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> Channel:
    """Two-sided geometric noise on {0, ..., n}, with every response below 0 as one outcome and every one above n.

    C[i, j] = (1-alpha)/(1+alpha) alpha^|i-j| inside; the tails have alpha^(i+1)/(1+alpha) and alpha^(n-i+1)/(1+alpha).
    The column of each response below 0 is proportional to that of 0, so folding a tail loses nothing; and merging the
    columns that say the same gives G of `geometric_channel`: the two mechanisms have the same hyper.

    Args:
        n: the largest count, n >= 0.
        epsilon, alpha: the privacy level, one of them.

    Returns:
        (n+1, n+3), with the outcomes named "< 0", 0, ..., n, "> n"; exact where alpha is rational, else float64.

    Source: [ghosh2009], example 2.1; [fernandes2022], section VI-A.

    >>> unbounded_geometric_channel(1, alpha="1/2").matrix[0].tolist()
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 6), Fraction(1, 6)]
    """
    g = GeometricMatrix(natural(n, "n") + 2, level(epsilon, alpha))
    wide = g.matrix()[1:-1]  # clamping to {-1, ..., n+1} is what folds the tails
    return stochastic(wide, outcomes=("< 0", *range(g.n - 1), f"> {g.n - 2}"))
