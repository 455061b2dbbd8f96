"""Vertices as rows of text, block by block: as posteriors, or as the heights h of v(x) ~ alpha^h(x)."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from utmost.exact import Surd
from utmost.geometry import Vertices
from utmost.geometry.distances import Distances


def posterior_rows(blocks: Iterable[Vertices]) -> Iterator[list[str]]:
    """Each vertex as probabilities, one for each secret: fractions where they are rational, else floats."""
    for block in blocks:
        for posterior in block:
            yield list(map(str, posterior.tolist()))


def height_rows(blocks: Iterable[Vertices]) -> Iterator[list[str]]:
    """Each vertex as heights, one for each secret, least 0; the same at every level.

    >>> from utmost.geometry import vertices
    >>> from utmost.privacy import PrivacyType
    >>> from utmost.spaces import grid
    >>> list(height_rows([vertices(PrivacyType(grid(2, 2), alpha="1/2"))]))[0]
    ['0', '1', '1', 'sqrt(2)']
    """
    for block in blocks:
        texts: dict[tuple[int, ...], str] = {}
        for vertex in block.exponents.tolist():
            keys = [tuple(exponent) for exponent in vertex]
            for key in keys:
                if key not in texts:
                    texts[key] = _height(key, block.distances)
            yield [texts[key] for key in keys]


def _height(exponent: tuple[int, ...], distances: Distances) -> str:
    """unit * sum_k exponent[k] sqrt(roots[k]) as text."""
    terms: list[Any] = [
        Surd.sqrt(root) * (distances.unit * c) for c, root in zip(exponent, distances.roots, strict=True) if c
    ]
    total = sum(terms, Surd.of(0))
    text = " + ".join(_term(radicand, coefficient) for radicand, coefficient in total.terms)
    return text.replace("+ -", "- ") or "0"


def _term(radicand: int, coefficient: Fraction) -> str:
    if radicand == 1:
        return str(coefficient)
    root = f"sqrt({radicand})"
    return root if coefficient == 1 else f"-{root}" if coefficient == -1 else f"{coefficient} {root}"
