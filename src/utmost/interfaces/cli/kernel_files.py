"""A search for kernels that survives being stopped, and vertices as rows of text.

A small JSON file says where the search stands, a CSV file has the kernels. After each stretch the kernels found are
forced to the disk, then the state is replaced by one that counts them. What was written after the last state is cut off
when the search goes on.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.surds import Surd
from utmost.design.geometry.kernel_search import kernel_blocks
from utmost.design.geometry.kernel_supports import KernelBlock, WalkPosition
from utmost.design.geometry.log_domain import Distances
from utmost.design.geometry.vertex_search import Vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import BadTable, Unsupported
from utmost.interfaces.documents.space_names import type_facts
from utmost.publish.promises.codec import check_header, fields, header
from utmost.tables.files.json_files import encoded, read_json

KIND = "utmost kernel search"


@dataclass(frozen=True, slots=True)
class KernelSearch:
    """The state of a search.

    Attributes:
        position: Place where it goes on; None when it is finished.
        sizes: Number of kernels found, by number of outcomes.
        done: the share of the search that is done, between 0 and 1.
        written: Number of bytes of the list that belong to what is done; None where nothing is listed.
    """

    position: WalkPosition | None = field(default_factory=WalkPosition)
    sizes: Counter[int] = field(default_factory=Counter)
    done: float = 0.0
    written: int | None = None

    def after(self, block: KernelBlock, written: int | None) -> "KernelSearch":
        """The search once a stretch is done."""
        sizes = Counter(np.count_nonzero(block.supports >= 0, axis=1).tolist())
        return KernelSearch(block.position, self.sizes + sizes, block.done, written)


def kernel_rows(block: KernelBlock) -> Iterator[list[str]]:
    """Each kernel as text: how many vertices it has, and their numbers."""
    for support in block.supports.tolist():
        members = [v for v in support if v >= 0]
        yield [str(len(members)), *map(str, members), *[""] * (len(support) - len(members))]


def kernel_header(ptype: PrivacyType) -> list[str]:
    """The names of the columns of `kernel_rows`."""
    return ["outcomes", *(f"vertex {k + 1}" for k in range(ptype.space.size))]


def search(
    ptype: PrivacyType, state: Path, out: Path | None, watch: Callable[[float], object] = lambda done: None
) -> KernelSearch:
    """Search for the kernels of a type from where the state file says, or from the start where there is none.

    Args:
        ptype: the type.
        state: the JSON file.
        out: the CSV file, if the kernels are to be listed, too.
        watch: is called after each stretch with the share that is done.

    Raises:
        BadTable: for a state of another kind or another type, and a list that does not go with it.
        Unsupported: for going on without the extra ``utmost[geometry]``, and a new list over an old file.
    """
    at = _begun(ptype, state, out)
    watch(at.done)
    if at.position is None:
        return at
    # From the start no state is needed, and any way to search may be taken.
    for block in kernel_blocks(ptype, start=None if at.position == WalkPosition() else at.position):
        # First the list, then the state that counts it: what lies between is cut off when the search goes on.
        at = at.after(block, None if out is None else _appended(out, block))
        _write(ptype, state, at)
        watch(at.done)
    return at


def _begun(ptype: PrivacyType, state: Path, out: Path | None) -> KernelSearch:
    """The state in the file, with the list cut to what belongs to it; or a new search with an empty list."""
    if state.exists():
        at = read(ptype, state)
        if (out is None) != (at.written is None) and (out is not None or at.position is not None):
            wanted = "without a list" if at.written is None else "with one"
            raise BadTable(f"the search was begun {wanted}", came=str(out or "no list"), where=str(state))
        if out is not None:
            _cut(out, at.written or 0)
        return at
    if out is None:
        return KernelSearch()
    if out.exists():
        raise Unsupported("a new list must go to a new file", came="a file that exists", where=str(out))
    header = ",".join(kernel_header(ptype)) + "\n"
    out.write_text(header, encoding="utf-8")
    return KernelSearch(written=len(header))


def read(ptype: PrivacyType, state: Path) -> KernelSearch:
    """The state in a file, of a search on this type.

    Raises:
        BadTable: for a file of another kind.
    """
    document = read_json(state, "a state must")
    check_header(document, KIND, "a state", where=str(state))
    with fields("a state", str(state)):
        if document["type"] != type_facts(ptype):
            raise BadTable("the state must be of the type that is searched", came=document["type"], where=str(state))
        position = document["position"]
        return KernelSearch(
            None if position is None else WalkPosition(int(position["orbit"]), tuple(map(int, position["coming"]))),
            Counter({int(size): int(count) for size, count in document["sizes"].items()}),
            float(document["done"]),
            document["written"],
        )


def _write(ptype: PrivacyType, state: Path, at: KernelSearch) -> None:
    position = None if at.position is None else {"orbit": at.position.orbit, "coming": list(at.position.coming)}
    facts = {
        **header(KIND),
        "type": type_facts(ptype),
        "position": position,
        "sizes": {str(size): count for size, count in sorted(at.sizes.items())},
        "done": at.done,
        "written": at.written,
    }
    # Whole or not at all: half a state would lose the search.
    aside = state.with_name(f".{state.name}.part")
    with aside.open("wb") as file:
        file.write(encoded(facts))
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, state)


def _appended(out: Path, block: KernelBlock) -> int:
    """The kernels of a stretch added to the list, on the disk; the length of the list."""
    with out.open("ab") as file:
        for row in kernel_rows(block):
            file.write((",".join(row) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _cut(out: Path, written: int) -> None:
    length = out.stat().st_size if out.exists() else 0
    if length < written:
        raise BadTable("the list must hold what the state counts", came=f"{length} of {written} bytes", where=str(out))
    with out.open("r+b") as file:
        file.truncate(written)


def posterior_rows(blocks: Iterable[Vertices]) -> Iterator[list[str]]:
    """Each vertex as probabilities, one for each secret: fractions where they are rational, else floats."""
    for block in blocks:
        for posterior in block:
            yield list(map(str, posterior.tolist()))


def height_rows(blocks: Iterable[Vertices]) -> Iterator[list[str]]:
    """Each vertex as heights, one for each secret, least 0; the same at every level.

    >>> from utmost.geometry import vertices
    >>> from utmost.privacy_types import PrivacyType
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
