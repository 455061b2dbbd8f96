"""Search for kernels so that an interrupted search can continue; write kernels and vertices as rows of text.

The state of the search is in a small JSON file, the kernels are in a CSV file. After each block, the CSV file is
flushed to disk before a new state replaces the old one. A continued search first cuts off rows that the state does not
count.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.surds import Surd
from utmost.design.geometry.kernel_search import kernel_blocks
from utmost.design.geometry.kernel_supports import KernelBlock, WalkPosition
from utmost.design.geometry.vertex_search import Vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import BadTable, Unsupported
from utmost.interfaces.documents.space_names import type_facts
from utmost.publish.promises.codec import check_header, fields, header
from utmost.tables.files.json_files import encoded, read_json

KIND = "utmost kernel search"


@dataclass(frozen=True, slots=True)
class KernelSearch:
    position: WalkPosition | None = field(
        default_factory=WalkPosition
    )  # where the search continues; None if it is finished
    sizes: Counter[int] = field(default_factory=Counter)  # kernels found, by number of outcomes
    done: float = 0.0  # finished fraction of the search
    written: int | None = None  # length of the counted part of the list in bytes; None without a list

    def after(self, block: KernelBlock, written: int | None) -> "KernelSearch":
        sizes = Counter(np.count_nonzero(block.supports >= 0, axis=1).tolist())
        return KernelSearch(block.position, self.sizes + sizes, block.done, written)


def kernel_rows(block: KernelBlock) -> Iterator[list[str]]:
    """Yield each kernel as texts: how many vertices the kernel has, and the index of each of them."""
    for support in block.supports.tolist():
        members = [v for v in support if v >= 0]
        yield [str(len(members)), *map(str, members), *[""] * (len(support) - len(members))]


def kernel_header(ptype: PrivacyType) -> list[str]:
    """Return the names of the columns of `kernel_rows`."""
    return ["outcomes", *(f"vertex {k + 1}" for k in range(ptype.space.size))]


def search(
    ptype: PrivacyType, state: Path, out: Path | None, watch: Callable[[float], object] = lambda done: None
) -> KernelSearch:
    """Search for a type's kernels from the position in the state file, or from the start if there is no such file."""
    # `out` is the optional CSV file of kernels; `watch` is called after each block with the finished fraction.
    at = KernelSearch()
    if state.exists():
        at = read(ptype, state)
        if (out is None) != (at.written is None) and (out is not None or at.position is not None):
            required = "a search that began without --out must continue without it"
            if at.written is not None:
                required = "a search that began with --out must continue with the same --out"
            raise BadTable(required, came=str(out or "no --out"), where=str(state))
        if out is not None:  # cut off rows that the state does not count
            counted, length = at.written or 0, out.stat().st_size if out.exists() else 0
            if length < counted:
                came = f"{length} of {counted} bytes"
                raise BadTable(
                    "--out must have all kernels that the search in --resume has counted", came=came, where=str(out)
                )
            with out.open("r+b") as file:
                file.truncate(counted)
    elif out is not None:
        if out.exists():
            raise Unsupported("--out must name a new file for a new search", came="a file that exists", where=str(out))
        titles = ",".join(kernel_header(ptype)) + "\n"
        out.write_text(titles, encoding="utf-8")
        at = KernelSearch(written=len(titles))
    watch(at.done)
    if at.position is None:
        return at

    # A search from the start needs no position, and may use any algorithm.
    for block in kernel_blocks(ptype, start=None if at.position == WalkPosition() else at.position):
        # Write the list before the state that counts its rows: after an interruption, uncounted rows are cut off.
        written: int | None = None
        if out is not None:
            with out.open("ab") as listed:
                for row in kernel_rows(block):
                    listed.write((",".join(row) + "\n").encode())
                listed.flush()
                os.fsync(listed.fileno())
                written = listed.tell()

        at = at.after(block, written)
        position = None if at.position is None else {"orbit": at.position.orbit, "coming": list(at.position.coming)}
        facts = {
            **header(KIND),
            "type": type_facts(ptype),
            "position": position,
            "sizes": {str(size): count for size, count in sorted(at.sizes.items())},
            "done": at.done,
            "written": at.written,
        }
        temporary = state.with_name(
            f".{state.name}.part"
        )  # the state is replaced in one step: half a state would lose the search
        with temporary.open("wb") as file:
            file.write(encoded(facts))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, state)
        watch(at.done)
    return at


def read(ptype: PrivacyType, state: Path) -> KernelSearch:
    """Read the state of a search on a privacy type; refuse a state for another privacy type, and any other file."""
    document = read_json(state, "a state must")
    check_header(document, KIND, "a state", where=str(state))
    with fields("a state", str(state)):
        if document["type"] != type_facts(ptype):
            raise BadTable(
                "the search in --resume must have the privacy type of --space and --epsilon",
                came=document["type"],
                where=str(state),
            )
        position = document["position"]
        return KernelSearch(
            None if position is None else WalkPosition(int(position["orbit"]), tuple(map(int, position["coming"]))),
            Counter({int(size): int(count) for size, count in document["sizes"].items()}),
            float(document["done"]),
            document["written"],
        )


def posterior_rows(blocks: Iterable[Vertices]) -> Iterator[list[str]]:
    """Yield each vertex as probabilities of the secrets: fractions if they are rational, else floats."""
    for block in blocks:
        for posterior in block:
            yield list(map(str, posterior.tolist()))


def height_rows(blocks: Iterable[Vertices]) -> Iterator[list[str]]:
    """Yield each vertex as heights of the secrets, with minimum 0; the heights are the same at every level."""
    for block in blocks:
        texts: dict[tuple[int, ...], str] = {}
        for vertex in block.exponents.tolist():
            keys = [tuple(exponent) for exponent in vertex]
            for key in keys:
                if key not in texts:  # unit * sum_k exponent[k] sqrt(roots[k])
                    unit, roots = block.distances.unit, block.distances.roots
                    terms: list[Any] = [Surd.sqrt(root) * (unit * c) for c, root in zip(key, roots, strict=True) if c]
                    shown = []
                    for radicand, coefficient in sum(terms, Surd.of(0)).terms:
                        factor = "" if coefficient == 1 else "-" if coefficient == -1 else f"{coefficient} "
                        shown.append(str(coefficient) if radicand == 1 else f"{factor}sqrt({radicand})")
                    texts[key] = " + ".join(shown).replace("+ -", "- ") or "0"
            yield [texts[key] for key in keys]
