"""Mechanisms of a type that are known on some of the secrets: figure 8 of [fernandes2022] is found this way."""

from collections.abc import Iterator, Sequence

import numpy as np

from utmost.channels import Channel
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Array, checked
from utmost.exact import indices as places
from utmost.geometry.vertices import vertices
from utmost.privacy import PrivacyType


@checked
def vertex_extensions(target: Channel, secrets: Sequence[int], ptype: PrivacyType) -> Iterator[Channel]:
    """All vertex mechanisms of a type with the outcomes of a mechanism on some secrets, that restrict to it.

    Each column of the extension is a vertex of the type whose restriction is proportional to the column of the target,
    scaled to be equal to it. Columns are chosen one after another, as long as no row sums to more than 1.

    Args:
        target: (k, m) Fractions, all outcomes possible.
        secrets: k of the n secrets, in the order of the target's rows.
        ptype: with rational alpha^d.

    Yields:
        Channels (n, m) C with ``C.restrict(secrets)`` equal to the target.

    Raises:
        Unsupported: for a float64 target, and where some alpha^d is irrational.
        OutOfRange: for another number of secrets.

    Source: [fernandes2022], section VI-D: with theorem 6(5) the extension inherits the losses of the target.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import hamming
    >>> cube = PrivacyType(hamming(2), alpha="1/2")
    >>> found = list(vertex_extensions(geometric_channel(2, alpha="1/2"), [0, 1, 3], cube))
    >>> [[str(p) for p in C.matrix[2]] for C in found]
    [['1/3', '1/3', '1/3']]
    """
    listed = vertices(ptype)
    if not (listed.is_exact and target.is_exact):
        raise Unsupported("extensions are found in rational arithmetic only", came="floats or irrational alpha^d")
    if target.shape[0] != len(secrets):
        raise OutOfRange(f"the target must have {len(secrets)} rows, one for each secret", came=target.shape[0])
    kept: list[int] = places(secrets, ptype.space.size, "secrets").tolist()
    choices = [_matching(listed.weights, kept, column) for column in target.matrix.T]
    yield from _chosen(choices, [], np.zeros(len(listed.weights), dtype=object))


def _matching(columns: Array, kept: list[int], wanted: Array) -> list[Array]:
    """The vertices that are proportional to a column on the secrets kept, scaled to it."""
    pivot = int(np.flatnonzero(wanted != 0)[0])
    scaled = columns * (wanted[pivot] / columns[kept[pivot]])
    return [column for column in scaled.T if (column[kept] == wanted).all()]


def _chosen(choices: list[list[Array]], chosen: list[Array], sums: Array) -> Iterator[Channel]:
    if len(chosen) == len(choices):
        if (sums == 1).all():
            yield Channel(np.array(chosen, dtype=object).T)
        return
    for column in choices[len(chosen)]:
        if (sums + column <= 1).all():
            yield from _chosen(choices, [*chosen, column], sums + column)
