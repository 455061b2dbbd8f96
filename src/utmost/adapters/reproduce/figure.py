"""One figure of a paper beside ours."""

from dataclasses import dataclass

EQUAL, CORRECTED, EXTENDED = "equal", "corrected", "extended"


@dataclass(frozen=True, slots=True)
class Figure:
    """What a paper prints, what is computed here, and how they compare.

    Attributes:
        name: where in the paper.
        paper: what it prints, as text; empty where it prints nothing.
        ours: the same, computed.
        verdict: "equal", "corrected" (the paper is wrong; ``note`` says how) or "extended" (the paper does not say).
        note: one sentence, or nothing.
    """

    name: str
    paper: str
    ours: str
    verdict: str
    note: str = ""


def compared(name: str, paper: str, ours: str) -> Figure:
    """A figure that is expected to be equal; where it is not, it counts as corrected and the difference is noted."""
    return (
        Figure(name, paper, ours, EQUAL) if paper == ours else Figure(name, paper, ours, CORRECTED, "the values differ")
    )
