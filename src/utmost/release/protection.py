"""What a release warns of before anything is drawn: a promise that is kept, and protects practically nobody."""

import warnings
from fractions import Fraction

from utmost.errors import LittleProtection, RowsObserved
from utmost.exact import Level
from utmost.noise import Law

LARGEST = 10
"""The epsilon above which odds change by a factor of more than 22 000."""

_SURE = Fraction(19, 20)


def warn_of_level(level: Level, law: Law) -> None:
    """Warn of a level at which practically nobody is protected.

    Args:
        level: of the whole release.
        law: the noise of one cell.

    Warns:
        LittleProtection: for epsilon above 10, and where 19 in 20 released cells are the true ones.
    """
    if level.epsilon_interval(64).lower > LARGEST:
        said = (
            f"epsilon is above {LARGEST}, so the odds of any guess about an individual may grow more than 22 000-fold"
        )
    elif law.domain == "integers" and law.radius(_SURE) == 0:
        said = "more than 19 in 20 released cells will be the true ones"
    else:
        return
    warnings.warn(
        f"This level protects practically nobody: {said}. Choose a smaller one.", LittleProtection, stacklevel=4
    )


def warn_of_rows(rows_from: str) -> None:
    """Warn where the list of rows tells of individuals.

    Warns:
        RowsObserved: for rows that were observed in the data.
    """
    if rows_from == "observed":
        said = "The promise does not cover which rows there are: one individual may be the reason that a row is there."
        mend = "List the rows before you look at the data, with zero where nobody is counted."
        warnings.warn(f"{said} {mend}", RowsObserved, stacklevel=4)
