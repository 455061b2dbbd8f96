"""Check sections 4 and 5 of Koufogiannis et al. (2015): Corollary 13, RAPPOR, social networks and a conjecture.

**Sources of the two social networks**

`karate_club.csv`: the 78 friendships of 34 members, from W. W. Zachary, *An Information Flow Model for Conflict and
Fission in Small Groups*, Journal of Anthropological Research 33 (1977), 452-473; member 1 is the instructor, 34 the
president. `les_miserables.csv`: the 254 pairs of 77 characters that share a chapter of Victor Hugo's novel, as compiled
by D. E. Knuth, *The Stanford GraphBase* (1993). Both are lists of published facts, exported from networkx 3.6 (BSD
licence), which contains the same edges.
"""

import csv
from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files
from itertools import combinations, pairwise
from math import log

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.gradual.lossless_reals import losslessness
from utmost.core.noise import costs
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.staircase import Staircase
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.local.bits import BitResponse, Coupling
from utmost.design.local.bits import largest_bit_ratio as pair_ratio
from utmost.design.local.thresholded import ThresholdedLaplace, ThresholdedPair
from utmost.design.optima.structure import between_levels
from utmost.publish.releases.trust import check_coalitions, levels_by_distance
from utmost_papers.comparison import Comparison, corrected, equal, extended, rounded

Ties = list[tuple[str, str]]


def karate_club() -> Ties:
    """Return the 78 friendships of Zachary's karate club, as pairs of members named "1" to "34"."""
    return _edges("karate_club.csv")


def les_miserables() -> Ties:
    """Return the 254 pairs of characters of Les Miserables that share a chapter, by name."""
    return _edges("les_miserables.csv")


def _edges(name: str) -> Ties:
    text = (files("utmost_papers") / name).read_text(encoding="utf-8")
    return [(member, friend) for member, friend in list(csv.reader(text.splitlines()))[1:]]


F = Fraction


def applications() -> Iterator[Comparison]:
    """Yield all comparisons with sections 4 and 5 of the paper, in its order."""
    yield from corollary_13()
    yield from rappor()
    yield from social_networks()
    yield from conjecture()


def corollary_13() -> Iterator[Comparison]:
    """Check Corollary 13: clamped responses of a gradual release are a gradual release, with no larger privacy loss."""
    transition = between_levels(3, level(alpha=F(1, 2)), level(alpha=F(1, 4))).matrix
    factor = " / ".join(" ".join(map(str, row)) for row in transition.tolist())
    known = "7/9 1/9 1/9 / 7/27 13/27 7/27 / 1/9 1/9 7/9"
    yield extended(
        "Corollary 13", "clamped to {0, 1, 2}: from alpha 1/4 to 1/2", known, factor, "a channel: also clamped, gradual"
    )
    a1, a2 = F(1, 2), F(1, 4)
    clamped = _clamped_pair(a1, a2)
    worst = max(max(p / q, q / p) for row, next_row in pairwise(clamped) for p, q in zip(row, next_row, strict=True))
    yield equal(
        "Corollary 13", "a pair of clamped responses loses eps2", 1 / a2, worst, shown=("eps2", f"a factor {worst}")
    )


def rappor() -> Iterator[Comparison]:
    """Check section 4.1: RAPPOR's responses as thresholded Laplace noise, and their privacy loss when relaxed."""
    f = BitResponse.permanent
    half = f(F(1, 2))
    yield corrected(
        "(43)",
        "P(z = y)",
        "1 - c1",
        "1 - alpha",
        "1 - alpha" if half.one - half.zero == F(1, 2) else "other",
        "c1 is alpha",
    )
    forms = [ThresholdedLaplace(f(a)) for a in (F(9, 10), F(1, 2), F(1, 7))]
    same = [
        form.rate == Level.of_alpha(a).scaled(2) and form.threshold == 0.5
        for form, a in zip(forms, (F(9, 10), F(1, 2), F(1, 7)), strict=True)
    ]
    yield equal(
        "(45)", "rate and threshold of f", 3, sum(same), shown=("-2 ln alpha and 1/2", f"the same, at {sum(same)} of 3")
    )
    beta, gamma = F(3, 4), F(1, 5)
    form = ThresholdedLaplace(BitResponse(beta, gamma))
    printed = rounded(-1 / log(4 * beta * (1 - gamma)), 5)
    yield corrected(
        "(46)",
        "scale of g, beta = 3/4 and gamma = 1/5",
        f"1/(-ln(4 beta (1-gamma))) = {printed}",
        rounded(-1 / log(4 * gamma * (1 - beta)), 9),
        rounded(1 / form.rate.epsilon_float, 9),
        "1/(-ln(4 gamma (1-beta))); as printed it is negative or infinite wherever the form applies",
    )
    yield equal(
        "(46)", "threshold of g", rounded(log(2 * gamma) / log(4 * gamma * (1 - beta)), 9), rounded(form.threshold, 9)
    )
    above = ThresholdedLaplace(BitResponse("9/10", "6/10"))
    yield extended(
        "(46)",
        "rate of g for beta = 9/10, gamma = 6/10",
        level(alpha=F(1, 4)),
        above.rate,
        "ln((1-gamma)/(1-beta)): both above 1/2",
    )
    pair = ThresholdedPair(ThresholdedLaplace(f(F(1, 2))), ThresholdedLaplace(f(F(1, 4))))
    coupling = Coupling(f(F(1, 2)), f(F(1, 4)))
    yield corrected(
        "Section 4.1",
        "relaxing V_f from alpha 1/2 to 1/4: what a bit loses",
        "no more than by itself: ln 7",
        level(alpha=F(3, 23)),
        pair.loss(),
        "ln(23/3) > ln 7: the reformulation leaks",
    )
    lossless = pair_ratio(coupling.joint(0), coupling.joint(1))
    yield extended(
        "Section 4.1",
        "the same by coupling the bits",
        F(7),
        lossless,
        "z1 = z2 with probability (1-a1)/(1-a2), else a fair coin",
    )


def social_networks() -> Iterator[Comparison]:
    """Check equation (47), the privacy loss against every coalition of members, on two social networks."""
    for name, edges, owner in (
        ("karate club, member 17", karate_club(), "17"),
        ("Les Miserables, Myriel", les_miserables(), "Myriel"),
    ):
        levels = levels_by_distance(edges, owner)
        exactly = check_coalitions(levels_by_distance(edges, owner, lambda d: level(alpha=F(d, d + 1))))
        nearly = check_coalitions(levels)
        everyone = sum(F(each.epsilon) for each in levels.values())
        good = exactly.exact and exactly.discrepancy == 0 and nearly.discrepancy < 1e-12
        yield equal(
            "(47)",
            name,
            True,
            good,
            shown=(
                "a coalition loses its largest eps",
                f"all {exactly.coalitions:.3g} coalitions, by {exactly.distributions} joint distributions: all "
                f"together eps = {max(levels.values()).epsilon}, not {everyone}",
            ),
        )
    friend = levels_by_distance(karate_club(), "17")["6"]
    yield corrected(
        "Section 4.2",
        "what a friend at distance 1 gets",
        "no privacy guarantee",
        F(1),
        friend.epsilon,
        "(47) gives eps = 1",
    )


def conjecture() -> Iterator[Comparison]:
    """Check the conjecture of section 5, that optimal differentially private noise can be relaxed without loss."""
    tried: list[tuple[int, Number, Number]] = [(3, 1, "3/2"), (4, 1, 2), (5, 1, 2), (8, 2, 3)]
    lossless = [bool(losslessness(DiscreteStaircase(e1, D), DiscreteStaircase(e2, D))) for D, e1, e2 in tried]
    yield corrected(
        "Section 5",
        "the least noise for larger sensitivities, relaxed",
        "conjectured lossless",
        "not lossless, 4 of 4",
        f"not lossless, {lossless.count(False)} of {len(tried)}",
        "the staircase; certified obstacles. It is lossless for sensitivity 1 and for half steps",
    )
    rational: list[Number] = ["1/10", "1/4", "1/2", 1, "3/2", 2, 3, 5, 8]
    on_reals = [
        bool(losslessness(Staircase(e1, cost=cost), Staircase(e2, cost=cost)))
        for cost in (costs.absolute, costs.squared)
        for e1, e2 in combinations(rational, 2)
    ]
    yield corrected(
        "Section 5",
        "the least noise on the reals, |x| and x^2, rational levels",
        "conjectured lossless",
        "not lossless, 72 of 72",
        f"not lossless, {on_reals.count(False)} of {len(on_reals)}",
        "a theorem for all rational levels; a certified zero for each of these",
    )
    exceptional = bool(losslessness(Staircase(alpha=F(1, 4)), Staircase(alpha=F(1, 25))))
    yield extended(
        "Section 5",
        "the same for |x|, levels ln 4 and ln 25",
        "lossless",
        "lossless" if exceptional else "not lossless",
        "certified: gammas 1/3 and 1/6",
    )


def _clamped_pair(a1: Fraction, a2: Fraction) -> list[list[Fraction]]:
    """Return, for each count 0, 1, 2, the joint distribution of two responses clamped to 0..2: three rows of nine
    probabilities.
    """
    higher = geometric_channel(3, alpha=a2).matrix
    transition = between_levels(3, level(alpha=a1), level(alpha=a2)).matrix
    return [[higher[u, z] * transition[z, y] for z in range(3) for y in range(3)] for u in range(3)]
