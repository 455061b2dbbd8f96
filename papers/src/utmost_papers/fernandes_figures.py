"""The figures of Fernandes et al. (2022) as numbers: hypers, regions, kernels and the mechanism of Figure 8."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.core.exact.surds import Surd
from utmost.design.capacities.capacity import capacity
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import dual_randomized_response, randomized_response
from utmost.design.geometry.decomposition import is_kernel
from utmost.design.geometry.universal_optima import universality
from utmost.design.geometry.vertex_search import vertices
from utmost.design.leakage.hypers import hyper
from utmost.design.leakage.measures import l_uncertainty
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses, priors
from utmost.design.spaces.families import counts, discrete, grid, hamming
from utmost.design.spaces.loss_algebra import lifted_loss
from utmost_papers.comparison import Comparison, corrected, equal, extended

HALF = "1/2"

FIGURE_1_CHANNEL = """2/3 1/6 1/6
1/3 1/3 1/3
1/6 1/6 2/3"""
FIGURE_1_HYPER = """4/7 1/4 1/7
2/7 1/2 2/7
1/7 1/4 4/7
7/18 2/9 7/18"""
FIGURE_8 = """2/3 1/6 1/12 1/12
1/3 1/3 1/6 1/6
1/6 1/6 1/3 1/3
1/12 1/12 1/6 2/3
1/3 1/3 1/6 1/6
1/6 1/6 1/3 1/3
1/6 1/6 1/3 1/3
1/3 1/3 1/6 1/6"""
FIGURE_8_HYPER = """8/27 2/21 1/21 1/27
4/27 4/21 2/21 2/27
2/27 2/21 4/21 4/27
1/27 1/21 2/21 8/27
4/27 4/21 2/21 2/27
2/27 2/21 4/21 4/27
2/27 2/21 4/21 4/27
4/27 4/21 2/21 2/27
9/32 7/32 7/32 9/32"""
# The rows of Figure 8, and the path of Figure 7 along which distances on the cube are those of a line.
FIGURE_8_ROWS = (0b000, 0b100, 0b110, 0b111, 0b010, 0b011, 0b101, 0b001)
PATH = FIGURE_8_ROWS[:4]


def figures_1_to_3() -> Iterator[Comparison]:
    """Yield comparisons for a channel and its hyper, the region on three secrets, and nib above an apex."""
    channel = matrix_of(FIGURE_1_CHANNEL)
    yield equal("Figure 1", "the hyper of the channel", FIGURE_1_HYPER, hyper_text(channel))
    geometric = geometric_channel(3, alpha=HALF)
    rows = sorted(map(tuple, channel.matrix.T)) == sorted(map(tuple, geometric.matrix.T))
    yield extended("Figure 1", "what the channel is", "the geometric mechanism", _said(rows, "the geometric mechanism"))
    corners = vertices(PrivacyType(counts(2), alpha=HALF))
    corner_texts = "; ".join(" ".join(map(str, v)) for v in corners)
    known = "1/7 2/7 4/7; 1/4 1/2 1/4; 2/5 1/5 2/5; 4/7 2/7 1/7"
    yield extended("Figure 2", "the corners of the region", known, corner_texts, "drawn, but not named in the paper")
    middle = l_uncertainty(losses.nib).prior(priors.uniform(3))
    ends = [l_uncertainty(losses.nib).prior(prior) for prior in np.eye(3, dtype=int)]
    bent = middle > sum(ends) / 3
    yield equal(
        "Figure 3", "U_nib is not planar", True, bent, shown=("not planar", f"{middle} in the middle, 0 outside")
    )


def figures_6_and_7() -> Iterator[Comparison]:
    """Yield comparisons for points of the plane, and for the coloured path of the cube."""
    plane = grid(3, 3)
    steps = [(abs(i // 3 - j // 3), abs(i % 3 - j % 3)) for i in range(9) for j in range(9)]
    known = [Surd.sqrt(a * a + b * b).simplified() for a, b in steps]
    lengths = [plane.length(i, j) for i in range(9) for j in range(9)]
    apart = sorted({a * a + b * b for a, b in steps})
    text = f"{len(lengths)} distances, roots of {', '.join(map(str, apart))}"
    yield equal("Figure 6", "distances on the 2x2 grid", known, lengths, shown=("Euclidean", text))
    cube = hamming(3)
    along = cube.restrict(PATH).distances.tolist()
    straight = along == counts(3).distances.tolist()
    yield equal("Figure 7", "the distances along the path", True, straight, shown=("linear", _said(straight, "linear")))


def kernel_figures() -> Iterator[Comparison]:
    """Yield comparisons for the kernels marked in Figures 4, 5 and 8."""
    line, equidistant = PrivacyType(counts(2), alpha=HALF), PrivacyType(discrete(3), alpha=HALF)
    marked = is_kernel(line, geometric_channel(3, alpha=HALF))
    yield claim("Figure 4", "the geometric mechanism is a kernel", marked)
    both = [make(3, alpha=HALF) for make in (randomized_response, dual_randomized_response)]
    marked = all(is_kernel(equidistant, channel) for channel in both)
    yield claim("Figure 5", "R and its dual are kernels", marked)
    yield from figure_8()


def figure_8() -> Iterator[Comparison]:
    """Yield comparisons for the kernel on the cube whose restriction to a path is the geometric mechanism."""
    ptype = PrivacyType(hamming(3), alpha=HALF)
    channel = kernel_along(ptype, PATH)
    rows = channel.restrict(FIGURE_8_ROWS)
    yield equal("Figure 8", "the kernel", FIGURE_8, rows_text(rows.matrix))
    yield equal("Figure 8", "its hyper", FIGURE_8_HYPER, hyper_text(rows))
    yield claim("Figure 8", "it is a kernel", is_kernel(ptype, channel))
    same = same_columns(channel.restrict(PATH), geometric_channel(4, alpha=HALF))
    yield equal("Figure 8", "its restriction to the path", True, same, shown=("geometric", _said(same, "geometric")))
    best = bool(universality(ptype, lifted_loss(losses.binary.matrix(4), PATH, 8), channel))
    yield claim("Figure 8", "universally optimal for lifted binary loss", best)
    mult, add = capacity(channel).value, capacity(channel, kind="additive").value
    yield extended("Figure 8", "its capacities", "2 and 2/3", f"{mult} and {add}")
    yield corrected(
        "Figure 8", "its secrets, by section VI-D", "3", 8, channel.shape[0], "the cube of 3 bits has 8 secrets"
    )


def kernel_along(ptype: PrivacyType, path: tuple[int, ...]) -> Channel:
    """Return the kernel of vertices that extend the geometric mechanism along a path, and are constant on layers."""
    # The layers of the cube are the sets of strings with equal numbers of ones. StopIteration: there is no such vertex.
    listed = vertices(ptype)
    wanted = {tuple(c / c.sum()) for c in geometric_channel(len(path), ptype.level).matrix.T}
    ones = np.array([x.bit_count() for x in range(ptype.space.size)])
    columns = []
    for v in listed:
        part = v[list(path)]
        if tuple(part / part.sum()) in wanted and all(len(set(v[ones == k])) == 1 for k in set(ones.tolist())):
            columns.append(v)
    columns.sort(key=lambda v: tuple(-v[list(path)]))
    return uniform_mixture(columns)


def uniform_mixture(columns: list[Array]) -> Channel:
    """Return the channel whose columns are multiples of the given columns, with row sums 1."""
    from utmost.design.geometry.decomposition import solve_columns

    amounts = solve_columns([list(v) for v in columns], [Fraction(1)] * len(columns[0]))
    assert amounts is not None, "the uniform distribution lies in the span"
    return Channel(np.array(columns, dtype=object).T * np.array(amounts, dtype=object))


def claim(place: str, what: str, holds: bool) -> Comparison:
    """Compare a statement of the paper with whether it holds."""
    return equal(place, what, True, holds, shown=("yes", "yes" if holds else "no"))


def same_columns(first: Channel, second: Channel) -> bool:
    """Return whether two channels are equal up to the order of their outcomes."""
    return sorted(map(tuple, first.matrix.T)) == sorted(map(tuple, second.matrix.T))


def matrix_of(text: str) -> Channel:
    """Return the channel whose rows are written in the text."""
    return Channel([line.split() for line in text.splitlines()])


def rows_text(matrix: Array) -> str:
    """Return a matrix as rows of text."""
    return "\n".join(" ".join(map(str, row)) for row in matrix.tolist())


def hyper_text(channel: Channel) -> str:
    """Return the posteriors of the uniform prior as text, each with its probability below."""
    posterior_hyper = hyper(channel, priors.uniform(channel.shape[0]))
    return rows_text(np.vstack([posterior_hyper.posteriors, posterior_hyper.weights[None, :]]))


def _said(holds: bool, text: str) -> str:
    return text if holds else f"not {text}"
