"""Check the numbers in the figures of Fernandes et al. (2022): hypers, corners, kernels, and Figure 8."""

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
# The secrets (three bits each) in the order of the rows of Figure 8. The first four form the path of Figure 7, whose
# distances are those of a line.
FIGURE_8_ROWS = (0b000, 0b100, 0b110, 0b111, 0b010, 0b011, 0b101, 0b001)
PATH = FIGURE_8_ROWS[:4]


def figures_1_to_3() -> Iterator[Comparison]:
    """Check Figures 1 to 3: the hyper of a channel, corners of a region of posteriors, and the uncertainty of nib."""
    channel = matrix_of(FIGURE_1_CHANNEL)
    yield equal("Figure 1", "the hyper of the channel", FIGURE_1_HYPER, hyper_text(channel))
    geometric = geometric_channel(3, alpha=HALF)
    same = same_columns(channel, geometric)
    yield extended(
        "Figure 1", "what the channel is", "the geometric mechanism", _or_not(same, "the geometric mechanism")
    )
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
    """Check the distances in Figure 6 (a grid in the plane) and along the coloured path of Figure 7 (a cube)."""
    plane = grid(3, 3)
    steps = [(abs(i // 3 - j // 3), abs(i % 3 - j % 3)) for i in range(9) for j in range(9)]
    known = [Surd.sqrt(a * a + b * b).simplified() for a, b in steps]
    lengths = [plane.length(i, j) for i in range(9) for j in range(9)]
    squares = sorted({a * a + b * b for a, b in steps})
    text = f"{len(lengths)} distances, roots of {', '.join(map(str, squares))}"
    yield equal("Figure 6", "distances on the 2x2 grid", known, lengths, shown=("Euclidean", text))
    cube = hamming(3)
    along = cube.restrict(PATH).distances.tolist()
    straight = along == counts(3).distances.tolist()
    yield equal(
        "Figure 7", "the distances along the path", True, straight, shown=("linear", _or_not(straight, "linear"))
    )


def kernel_figures() -> Iterator[Comparison]:
    """Check that the mechanisms that Figures 4, 5 and 8 mark as kernels are kernels, and the numbers in Figure 8."""
    line, equidistant = PrivacyType(counts(2), alpha=HALF), PrivacyType(discrete(3), alpha=HALF)
    marked = is_kernel(line, geometric_channel(3, alpha=HALF))
    yield claim("Figure 4", "the geometric mechanism is a kernel", marked)
    both = [make(3, alpha=HALF) for make in (randomized_response, dual_randomized_response)]
    marked = all(is_kernel(equidistant, channel) for channel in both)
    yield claim("Figure 5", "R and its dual are kernels", marked)
    yield from figure_8()


def figure_8() -> Iterator[Comparison]:
    """Check Figure 8: a kernel on the cube that is the geometric mechanism on a path, its hyper and its capacities."""
    ptype = PrivacyType(hamming(3), alpha=HALF)
    channel = kernel_along(ptype, PATH)
    rows = channel.restrict(FIGURE_8_ROWS)
    yield equal("Figure 8", "the kernel", FIGURE_8, rows_text(rows.matrix))
    yield equal("Figure 8", "its hyper", FIGURE_8_HYPER, hyper_text(rows))
    yield claim("Figure 8", "it is a kernel", is_kernel(ptype, channel))
    same = same_columns(channel.restrict(PATH), geometric_channel(4, alpha=HALF))
    yield equal("Figure 8", "its restriction to the path", True, same, shown=("geometric", _or_not(same, "geometric")))
    best = bool(universality(ptype, lifted_loss(losses.binary.matrix(4), PATH, 8), channel))
    yield claim("Figure 8", "universally optimal for lifted binary loss", best)
    mult, add = capacity(channel).value, capacity(channel, kind="additive").value
    yield extended("Figure 8", "its capacities", "2 and 2/3", f"{mult} and {add}")
    yield corrected(
        "Figure 8", "its secrets, by section VI-D", "3", 8, channel.shape[0], "the cube of 3 bits has 8 secrets"
    )


def kernel_along(ptype: PrivacyType, path: tuple[int, ...]) -> Channel:
    """Return the kernel that is the geometric mechanism on a path of bit strings, in which strings with equally many
    ones have the same row.
    """
    listed = vertices(ptype)
    on_path = {tuple(c / c.sum()) for c in geometric_channel(len(path), ptype.level).matrix.T}
    ones = np.array([x.bit_count() for x in range(ptype.space.size)])
    columns = []
    for v in listed:
        part = v[list(path)]
        if tuple(part / part.sum()) in on_path and all(len(set(v[ones == k])) == 1 for k in set(ones.tolist())):
            columns.append(v)
    columns.sort(key=lambda v: tuple(-v[list(path)]))
    return uniform_mixture(columns)


def uniform_mixture(columns: list[Array]) -> Channel:
    """Return the channel whose columns are multiples of ``columns``, with the factors that make every row sum 1."""
    from utmost.design.geometry.decomposition import solve_columns

    amounts = solve_columns([list(v) for v in columns], [Fraction(1)] * len(columns[0]))
    assert amounts is not None, "the uniform distribution lies in the span"
    return Channel(np.array(columns, dtype=object).T * np.array(amounts, dtype=object))


def claim(place: str, what: str, holds: bool) -> Comparison:
    """Return a comparison that is "equal" if a statement of the paper holds."""
    return equal(place, what, True, holds, shown=("yes", "yes" if holds else "no"))


def same_columns(first: Channel, second: Channel) -> bool:
    """Return whether two channels are equal except for the order of their outcomes."""
    return sorted(map(tuple, first.matrix.T)) == sorted(map(tuple, second.matrix.T))


def matrix_of(text: str) -> Channel:
    """Return the channel with one row of fractions per line of text: "2/3 1/3"."""
    return Channel([line.split() for line in text.splitlines()])


def rows_text(matrix: Array) -> str:
    """Return a matrix as text, one line for each row."""
    return "\n".join(" ".join(map(str, row)) for row in matrix.tolist())


def hyper_text(channel: Channel) -> str:
    """Return the posteriors of the uniform prior as the columns of a text table. The last line contains their
    probabilities.
    """
    posterior_hyper = hyper(channel, priors.uniform(channel.shape[0]))
    return rows_text(np.vstack([posterior_hyper.posteriors, posterior_hyper.weights[None, :]]))


def _or_not(holds: bool, text: str) -> str:
    return text if holds else f"not {text}"
