"""Figure 6 of Koufogiannis et al., on a real network: who is trusted how far, and who might conspire."""

from collections.abc import Sequence
from typing import BinaryIO

from utmost.adapters.figures.canvas import BY_TRUST, INK, PALE, RED, bare, page, write
from utmost.adapters.figures.layout import layout
from utmost.release.gradual import levels_by_distance

Edges = list[tuple[str, str]]


def social_graph(file: BinaryIO, kind: str, edges: Edges, owner: str, title: str, named: Sequence[str] = ()) -> None:
    """The network, its members coloured by their level; the farthest of them, all together, are the coalition.

    Args:
        edges: the network.
        owner: whose value is shared.
        title: above the picture.
        named: further members whose names are written out. In a large network only those and the coalition are named.
    """
    levels = {str(member): each for member, each in levels_by_distance(edges, owner).items()}
    places = layout(edges)
    different = sorted(set(levels.values()), reverse=True)
    far = [member for member, each in levels.items() if each == different[-1]]
    is_large = len(places) > 50
    size = 80 if is_large else 190
    figure, axes = page(9.0, 6.6)
    for one, other in edges:
        (x1, y1), (x2, y2) = places[one], places[other]
        axes.plot([x1, x2], [y1, y2], color=PALE, linewidth=0.7, zorder=1)
    for each, colour in zip(different, BY_TRUST[1:], strict=False):
        members = [member for member, found in levels.items() if found == each]
        xs, ys = zip(*(places[member] for member in members), strict=True)
        label = f"ε = {each.epsilon}: {len(members)} members"
        axes.scatter(xs, ys, s=size, color=colour, edgecolor="#7d95a6", linewidth=0.7, zorder=2, label=label)
    xs, ys = zip(*(places[member] for member in far), strict=True)
    naive = sum(levels[member].epsilon for member in far)
    note = f"coalition of the {len(far)} farthest: ε = {different[-1].epsilon} together, not {naive}"
    axes.scatter(xs, ys, s=1.8 * size, facecolor="none", edgecolor=RED, linewidth=1.4, zorder=2, label=note)
    axes.scatter(*places[owner], s=2.2 * size, marker="*", color=BY_TRUST[0], zorder=3, label=f"{owner} shares a value")
    for member, (x, y) in places.items():
        if member != owner and (not is_large or member in named or member in far):
            short = len(member) <= 2
            axes.annotate(
                member, (x, y), xytext=(0, 0 if short else 9), textcoords="offset points", ha="center", zorder=4,
                va="center" if short else "bottom", fontsize=7, color=_ink(levels[member], different) if short else INK,
            )  # fmt: skip
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, markerscale=0.6)
    bare(axes)
    write(figure, file, kind)


def _ink(each: object, different: Sequence[object]) -> str:
    """White on the dark colours, ink on the pale ones."""
    return "white" if different.index(each) < 2 else INK
