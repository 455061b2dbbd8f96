"""Why the noise of a strategy keeps its level, in a sentence for each way to measure."""

OF_GROUPS = (
    "each sum of a family is noised at the family's share of the level, one individual changes no more cells than are "
    "charged, each cell lies in one group of a family, and the shares are together 1; what is computed of the sums "
    "costs nothing. Estimates are least squares, unbiased exactly; lossless to relax with these shares"
)

OF_HATS = (
    "each sum of a family is noised at the family's share of the level, the hat functions of spacing s at 1/s of that "
    "for one unit of their sum; one individual changes no more cells than are charged, a cell lies in one group of a "
    "family, or under hat functions whose weights for it add up to s, and the shares are together 1; what is computed "
    "of the sums costs nothing. Estimates are linear, unbiased exactly; lossless to relax with these shares"
)

OF_ROWS = (
    "each sum is noised at the share of the level that its class of listed rows has; one individual changes no more "
    "cells than are charged, and over all sums in which a cell lies, its weight in the sum times the share of the sum "
    "adds up to 1, as the listed rows show; what is computed of the sums costs nothing. Estimates are linear, unbiased "
    "exactly; lossless to relax with these shares"
)

OF_DIFFERENCES = (
    "each sum of a family is noised at the family's share of the level, one individual changes no more cells than are "
    "charged, each cell lies in one group of a family, where it is added or, in differences of two values, taken off, "
    "and the shares are together 1; what is computed of the sums costs nothing. Estimates are linear, unbiased "
    "exactly; lossless to relax with these shares"
)

_EXACTLY = {
    "and the shares are together 1": (
        "and the shares are such that the sum of level times change, over all sums and at most over all that one "
        "individual may change, is the level"
    ),
    "and the shares of sums are together 1, as are those of differences": (
        "and the shares of sums, and those of differences, are together as many as the rows leave room for that one "
        "individual can change"
    ),
}
"""What stands in a theorem instead of shares that add up to 1."""

OF_SIGNED = (
    "signed sums of the cells of a row are measured, each by every listed row along the other axes, at the product of "
    "the shares of both. One individual raises the cells of a row together and lowers none: for every corner d of what "
    "may change, the shares times |a.d| of the signed rows a add up to the level at most, as they show, and for each "
    "value of the other axes so do theirs; what is computed of the sums costs nothing. Estimates are linear, unbiased "
    "exactly; lossless to relax with these shares"
)

OF_ROTATED = (
    "sums and differences of the two cells of a row are measured, and |d_1 + d_2| + |d_1 - d_2| = 2 max(|d_1|, |d_2|): "
    "one individual changes sums and differences together by no more than independent noise would pay for the cells. "
    "Each family's are noised at its share of the level, each group holds a row once, and the shares of sums are "
    "together 1, as are those of differences; what is computed of them costs nothing. Estimates are least squares, "
    "unbiased exactly; lossless to relax with these shares"
)


def exactly_charged(theorem: str) -> str:
    """The theorem where shares add up to more than 1, as one individual cannot change as much as the unit charges."""
    for plain, exact in _EXACTLY.items():
        theorem = theorem.replace(plain, exact)
    return theorem


OF_SHARED = (
    "each sum of a family is noised at the family's share of the level; an amount x between l and h adds x - l to "
    "one cell of a pair and h - x to the other, so that one individual changes both together by no more than h - l "
    "for each event, in no more pairs than are charged; each cell lies in one group of a family, and the shares are "
    "together 1; what is computed of the sums costs nothing. Estimates are least squares, unbiased exactly; lossless "
    "to relax with these shares"
)

IN_ALL = (
    "One individual's changes of all cells add up to no more than in_all, so the cells that are charged are as many as "
    "have the whole sensitivity, in_all / sensitivity: geometric noise pays for the sizes of changes alone"
)
