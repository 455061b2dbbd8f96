"""What all pictures share: the page, its colours, and how it becomes a file."""

from typing import Any, BinaryIO

from utmost.adapters.extra import extra

BLUE, RED, GOLD, GREEN, INK, PALE = "#2a78b5", "#d1495b", "#e3a02f", "#3a9d7c", "#333333", "#b9c4cc"
BY_TRUST = ("#12355b", "#1f6fb2", "#5aa5d8", "#94c8e8", "#c3e0f1", "#e8f2f9")
"""From near to far."""


def page(width: float, height: float, **subplots: Any) -> tuple[Any, Any]:
    """A figure of so many inches, and its axes.

    Raises:
        Unsupported: where matplotlib is not installed.
    """
    figure = extra("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(**subplots)


def bare(axes: Any) -> None:
    """Take off what carries nothing: the frame above and on the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, color=PALE)


def write(figure: Any, file: BinaryIO, kind: str) -> None:
    """Write the figure as "svg", "png" or "pdf"; the same figure always gives the same bytes."""
    matplotlib = extra("matplotlib", "plot")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "utmost"}):
        figure.savefig(file, format=kind, dpi=160, metadata=metadata)
