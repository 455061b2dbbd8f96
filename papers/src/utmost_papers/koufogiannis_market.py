"""Check Koufogiannis et al. (2015): Propositions 3, 4 and 6, Theorem 1, Figures 2 and 4 to 7, and the data market."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import exp

from utmost.core.exact.levels import Level, level
from utmost.core.gradual.prices import read_prices, step_price
from utmost.core.gradual.process import joint_pmf, largest_ratio
from utmost.core.gradual.steps import Relaxing, Tightening
from utmost.core.noise import costs
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.staircase import Staircase
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import randomized_response
from utmost.publish.releases.trust import levels_by_distance
from utmost_papers.comparison import Comparison, counted, equal, extended, rounded
from utmost_papers.koufogiannis_applications import Ties, karate_club, les_miserables

F = Fraction
LOWER_TO_HIGHER = tuple(level(alpha=F(1, n)) for n in (2, 3, 4, 7))


def rules() -> Iterator[Comparison]:
    """Check Propositions 3, 4 and 6: post-processing, composition, and privacy for larger changes of the data."""
    channels = [make(4, alpha=a) for make in (geometric_channel, randomized_response) for a in (F(1, 3), F(3, 4))]
    ratios = [_worst(C) for C in channels]
    blends = [Channel(rows) for rows in ([[1, 0], ["1/3", "2/3"], [0, 1], ["1/2", "1/2"]], [["1/4"] * 4] * 4)]
    right = sum(_worst(C @ P) >= ratio for (C, ratio), P in product(zip(channels, ratios, strict=True), blends))
    yield counted("Proposition 3", "what is done with a response keeps its level", right, 2 * len(channels))
    pairs = list(permutations(range(len(channels)), 2))
    right = sum(_worst(channels[i].parallel(channels[j])) >= ratios[i] * ratios[j] for i, j in pairs)
    yield counted("Proposition 4", "independent responses lose eps1 + eps2 at most", right, len(pairs))
    reached = sum(_worst(channels[i].parallel(channels[j])) == ratios[i] * ratios[j] for i, j in pairs)
    yield extended("Proposition 4", "and lose as much", f"{len(pairs)} of {len(pairs)}", f"{reached} of {len(pairs)}")
    shifts = [(a, s, x) for a in (F(1, 3), F(3, 4)) for s in range(1, 6) for x in range(-9, 10)]
    right = sum(Geometric(alpha=a).pmf(x + s) >= a**s * Geometric(alpha=a).pmf(x) for a, s, x in shifts)
    yield counted("Proposition 6", "eps-Lipschitz noise is s eps-private for changes of up to s", right, len(shifts))


def _worst(C: Channel) -> Fraction:
    """Return the least ratio of the probabilities of an outcome given x and given x + 1, over all outcomes and all x. A
    ratio of 1 reveals nothing.
    """
    rows = C.matrix.tolist()
    pairs = [pair for row, next_row in pairwise(rows) for pair in zip(row, next_row, strict=True) if max(pair) > 0]
    return min(Fraction(min(p, q)) / Fraction(max(p, q)) for p, q in pairs)


def figure_2() -> Iterator[Comparison]:
    """Check Figure 2: the staircase has a smaller cost than Laplace noise, but only Laplace noise is Lipschitz
    private.
    """
    ratios = [
        (rounded(Staircase(e, cost=c).expected_cost(c) / Laplace(e, 1).expected_cost(c), 4), e)
        for c in (costs.absolute, costs.squared)
        for e in (1, 3)
    ]
    below = all(float(ratio) < 1 for ratio, _ in ratios)
    yield equal(
        "Figure 2",
        "the staircase costs less than Laplace noise, |x| and x^2, eps = 1 and 3",
        True,
        below,
        shown=("optimal eps-differentially private", ", ".join(f"{ratio}" for ratio, _ in ratios)),
    )
    near = [F(1, 10), F(1, 1000)]
    distribution = Staircase(1, 1)
    falls = [
        distribution.pdf(distribution.gamma - float(s) / 2) / distribution.pdf(distribution.gamma + float(s) / 2)
        for s in near
    ]
    laplace = [Laplace(1, 1).pdf(1.0) / Laplace(1, 1).pdf(1.0 + float(s)) for s in near]
    lipschitz = all(abs(ratio - exp(float(s))) < 1e-12 for ratio, s in zip(laplace, near, strict=True))
    yield equal(
        "Figure 2",
        "changes of 1/10 and 1/1000, eps = 1: largest ratios",
        True,
        lipschitz and all(abs(fall - exp(1)) < 1e-12 for fall in falls),
        shown=(
            "Laplace noise is Lipschitz private, the staircase is not",
            f"{', '.join(rounded(r, 6) for r in laplace)} against {', '.join(rounded(r, 6) for r in falls)}",
        ),
    )


def theorem_1() -> Iterator[Comparison]:
    """Check Theorem 1: any responses of a chain together have only the largest of their epsilons, and each has the
    least variance.
    """
    parts = [LOWER_TO_HIGHER[: j + 1] for j in range(len(LOWER_TO_HIGHER))]
    ratios = [largest_ratio(part) for part in parts]
    known = [1 / part[-1].alpha_fraction() for part in parts]
    yield equal(
        "Theorem 1A",
        "the first j responses lose eps_j, j = 1 to 4",
        known,
        ratios,
        shown=("eps_j", ", ".join(f"a factor {ratio}" for ratio in ratios)),
    )
    subsets = [part for k in range(1, 1 << 4) for part in [[at for i, at in enumerate(LOWER_TO_HIGHER) if k >> i & 1]]]
    right = sum(largest_ratio(part) == 1 / max(part).alpha_fraction() for part in subsets)
    yield counted("Theorem 1B", "any set of levels up to eps loses eps", right, len(subsets))
    spreads = [
        Geometric(higher).moment(2) + Tightening(lower, higher).variance == Geometric(lower).moment(2)
        for lower, higher in pairwise(LOWER_TO_HIGHER)
    ]
    yield counted("Theorem 1A", "each response has the least variance of its level", sum(spreads), len(spreads))
    lower, middle, higher = LOWER_TO_HIGHER[:3]
    noises = list(product((-2, -1, 0, 1, 3), repeat=3))
    right = sum(
        joint_pmf([x, y, z], [lower, middle, higher]) * Geometric(middle).pmf(y)
        == joint_pmf([x, y], [lower, middle]) * joint_pmf([y, z], [middle, higher])
        for x, y, z in noises
    )
    yield counted("Figure 4", "the next response needs the last one only", right, len(noises))


def market() -> Iterator[Comparison]:
    """Check that a data market may sell accuracy in steps without a surcharge if prices do not decrease as epsilon
    grows.
    """
    prices = read_prices(dict(zip(LOWER_TO_HIGHER, (3, 10, 10, 42), strict=True)))
    walks = [walk for k in range(1, 5) for walk in permutations(LOWER_TO_HIGHER, k)]
    right = sum(_paid(prices, walk) == prices[max(walk)] for walk in walks)
    yield counted("Section 1, market", "any steps in any order cost the price of the last level", right, len(walks))
    falling = {at: F(price) for at, price in zip(LOWER_TO_HIGHER, (3, 10, 9, 42), strict=True)}
    cheaper = min(price for at, price in falling.items() if at >= LOWER_TO_HIGHER[1])
    yield extended(
        "Section 1, market",
        "prices that fall can be got around",
        "a level sold at 10 is had for 9",
        f"a level sold at {falling[LOWER_TO_HIGHER[1]]} is had for {cheaper}",
        "buy the higher level and tighten it; where prices do not fall, nobody can: a theorem",
    )
    noises = list(product(range(-3, 4), repeat=2))
    lower, higher = LOWER_TO_HIGHER[0], LOWER_TO_HIGHER[2]
    right = sum(
        joint_pmf([x, y], [lower, higher]) / Geometric(higher).pmf(y) == Tightening(lower, higher).pmf(x - y)
        and Relaxing(lower, higher).pmf(y, x) * Geometric(lower).pmf(x) == joint_pmf([x, y], [lower, higher])
        for x, y in noises
    )
    yield counted("Section 1, market", "given y2 the earlier y1 says nothing of the data", right, len(noises))
    single, average = Laplace(2, 1).moment(2), Laplace(1, 1).moment(2) / 2
    yield extended(
        "Section 3, scenarios",
        "variance after 1 and then 1 more, independently, against 2 at once",
        "2",
        rounded(average / single, 9),
        "the friction of composition; a gradual release has none",
    )


def _paid(prices: dict[Level, Fraction], walk: tuple[Level, ...]) -> Fraction:
    held, total = None, F(0)
    for to in walk:
        total += step_price(prices, held, to)
        held = to if held is None or to > held else held
    return total


def networks() -> Iterator[Comparison]:
    """Check Figures 5 to 7: the level of each member of a network, by an independent search for the member's distance
    from the owner.
    """
    for figure, name, edges, owner in (
        ("Figure 5", "karate club, member 17", karate_club(), "17"),
        ("Figure 6", "Les Miserables, Myriel", les_miserables(), "Myriel"),
    ):
        levels = levels_by_distance(edges, owner)
        known = {who: F(1, steps) for who, steps in _steps(edges, owner).items() if who != owner}
        epsilons = {who: F(at.epsilon) for who, at in levels.items() if at.epsilon is not None and who != owner}
        counted = Counter(known.values())
        text = ", ".join(f"{counted[e]} at {e}" for e in sorted(counted, reverse=True))
        yield equal(figure, f"levels by distance: {name}", known, epsilons, shown=("eps = 1/d", text))
    levels_of_club = sorted(set(levels_by_distance(karate_club(), "17").values()))
    ratio = largest_ratio([level(alpha=F(d, d + 1)) for d in (5, 4, 3, 2, 1)])
    yield equal(
        "Figure 7",
        "one path of the process serves all friends: what all together learn",
        F(2),
        ratio,
        shown=("the level of the nearest", f"a factor {ratio} = 1/alpha of distance 1, {len(levels_of_club)} levels"),
    )


def _steps(edges: Ties, owner: str) -> dict[str, int]:
    """Return the distance of each member from the owner (0 for the owner), by breadth-first search."""
    steps, ring = {owner: 0}, {owner}
    while ring:
        ring = {b for pair in edges for a, b in (pair, pair[::-1]) if a in ring and b not in steps}
        steps |= dict.fromkeys(ring, max(steps.values()) + 1)
    return steps
