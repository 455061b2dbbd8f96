"""Integers beyond 64 bits as columns of Arrow."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from utmost.tables.optional_imports import extra

_DECIMAL = 10**38


def wide_in_arrow(column: Iterable[Any]) -> Any:
    """Return integers of any size as a column of Arrow: as decimals of 38 digits, or as text if one integer has more
    digits.
    """
    arrow, integers = extra("pyarrow", "tables"), list(map(int, column))
    if all(abs(integer) < _DECIMAL for integer in integers):
        return arrow.chunked_array([arrow.array(map(Decimal, integers), arrow.decimal128(38, 0))])
    return arrow.chunked_array([arrow.array(map(str, integers), arrow.string())])
