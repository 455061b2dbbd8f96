"""Compare Ghosh, Roughgarden and Sundararajan (2009) with computed values: the examples, Figures 2 to 5, and the
theorems.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from utmost.core.noise.geometric import Geometric
from utmost.core.programs.exact_optima import farkas_gap
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel, laplace_channel
from utmost.design.optima.best_actions import bayes_remap, expected_loss, face_value_loss, face_value_of_noise
from utmost.design.optima.beyond_oblivious import CountQuery, best_worst_case, conflicting_users
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.optima.several_consumers import shared_mechanism, sharing_program, sharing_refutation
from utmost.design.optima.structure import check_lemmas, constraint_matrix, derivation, remap_of_vertex, uniqueness
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts
from utmost_papers.comparison import Comparison, corrected, equal, extended, rounded
from utmost_papers.ghosh_lemmas import lemma_6_4, steps_of_the_proof

F = Fraction
ALPHAS = (F(1, 10), F(1, 2), F(9, 10))

FIGURE_2 = """2/3 0 1/4 1/24 1/48 1/48
1/3 0 1/2 1/12 1/24 1/24
1/6 0 1/2 1/6 1/12 1/12
1/12 0 1/4 1/3 1/6 1/6
1/24 0 1/8 1/6 1/3 1/3
1/48 0 1/16 1/12 1/6 2/3"""
FIGURE_3 = """↓ Z ↑ ↑ ↑ ↑
↓ Z S ↑ ↑ ↑
↓ Z ↓ ↑ ↑ ↑
↓ Z ↓ ↓ ↑ ↑
↓ Z ↓ ↓ ↓ ↑"""
SIGNS = {"down": "↓", "up": "↑", "slack": "S", "zero": "Z"}
FIGURE_4 = {(1, 0, 0): "11/12 1/12", (0, 1, 0): "2/3 1/3", (1, 0, 1): "5/6 1/6", (0, 1, 1): "1/3 2/3"}
# Figure 5: for each database, a denominator, and then pairs (constant, factor of delta) for the outcomes l, m, n and o.
FIGURE_5 = {
    (1, 0, 0): (12, ((8, -1), (1, -1), (3, 1), (0, 1))),
    (0, 1, 0): (12, ((8, -1), (1, -1), (0, 1), (3, 1))),
    (1, 0, 1): (6, ((2, -1), (1, -1), (3, 1), (0, 1))),
    (0, 1, 1): (6, ((2, -1), (1, -1), (0, 1), (3, 1))),
}
# A vertex that is no remap of the geometric mechanism G, and a loss for which it is optimal, which is not strictly
# increasing.
STRAY = (("0", "1/3", "2/3"), ("0", "2/3", "1/3"), ("0", "1/3", "2/3"))
STRAY_LOSS = (("0", "3/4", "3/4"), ("1", "0", "1"), ("2", "1", "0"))


def ghosh() -> Iterator[Comparison]:
    """Yield all comparisons with Ghosh et al. (2009), in the order of the paper."""
    yield example_2_1()
    yield from example_2_2()
    yield from figures_2_and_3()
    yield from theorem_3_1()
    yield from steps_of_the_proof()
    yield from lemmas()
    yield from section_6_1()
    yield from proposition_6_2()
    yield from theorem_6_3()
    yield lemma_6_4()


def example_2_1() -> Comparison:
    """Check the probabilities of geometric noise, and that the least ratio of neighbouring probabilities is alpha."""
    cases = [(a, z) for a in ALPHAS for z in range(-9, 10)]
    distribution = {a: Geometric(alpha=a) for a in ALPHAS}
    right = sum(distribution[a].pmf(z) == (1 - a) / (1 + a) * a ** abs(z) for a, z in cases)
    ratios = {a: min(distribution[a].pmf(z + 1) / distribution[a].pmf(z) for z in range(-9, 9)) for a in ALPHAS}
    return equal(
        "Example 2.1",
        "P(Z = z), and the least ratio of neighbours",
        (len(cases), list(ALPHAS)),
        (right, list(ratios.values())),
        shown=("(1-alpha)/(1+alpha) alpha^|z|, alpha", f"the same, exactly, at {right} of {len(cases)} places; alpha"),
    )


def example_2_2() -> Iterator[Comparison]:
    """Check how much a remap reduces the loss for a prior with half its mass on 0 and half on n."""
    cases = [(n, a, _two_ends(n)) for n, a in product((1, 3, 5, 9), ALPHAS)]
    noise = [face_value_of_noise(Geometric(alpha=a), consumer) for _, a, consumer in cases]
    yield _for_all(
        "Example 2.2", "loss at face value", "2 alpha / (1 + alpha)", cases, noise, lambda n, a: 2 * a / (1 + a)
    )
    best = [expected_loss(geometric_channel(n + 1, alpha=a), consumer) for n, a, consumer in cases]
    formula = "alpha^((n+1)/2) / (1 + alpha)"
    yield _for_all(
        "Example 2.2", "loss after the remap", formula, cases, best, lambda n, a: a ** ((n + 1) // 2) / (1 + a)
    )
    remap = bayes_remap(geometric_channel(6, alpha=F(1, 2)), _two_ends(5)).actions.tolist()
    yield equal("Example 2.2", "the remap, n = 5", [0, 0, 0, 5, 5, 5], remap)
    optima = [optimal_mechanism(PrivacyType(counts(n), alpha=a), consumer).loss for n, a, consumer in cases]
    known = "yes" if optima == best else "no"
    yield extended("Example 2.2", "the remapped loss is optimal", "yes", known, "certified in rationals")
    clamped = [face_value_loss(geometric_channel(n + 1, alpha=a), consumer) for n, a, consumer in cases]
    right = clamped == [a / (1 + a) for _, a, _ in cases]
    yield extended(
        "Example 2.2", "clamped, at face value", "alpha / (1 + alpha)", "alpha / (1 + alpha)" if right else clamped
    )


def figures_2_and_3() -> Iterator[Comparison]:
    """Check the optimal mechanism for the consumer in the paper's worked example, and the constraint matrix of this
    mechanism.
    """
    consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
    ptype = PrivacyType(counts(5), alpha="1/2")
    optimum = optimal_mechanism(ptype, consumer)
    X = optimum.channel
    matrix = "\n".join(" ".join(map(str, row)) for row in X.matrix.tolist())
    yield equal("Figure 2", "the optimal mechanism", FIGURE_2, matrix)
    assert optimum.remap is not None
    yield equal("Example 5.2", "the remap of G", [0, 2, 2, 3, 4, 5], optimum.remap.actions.tolist())
    yield extended("Figure 2", "its loss", "1.194232155316", rounded(optimum.loss, 13), "the paper prints none")
    verdict = uniqueness(ptype, consumer)
    only = "the only one" if verdict.is_unique else "one of several"
    counted = f"{only}: {verdict.tight} priced constraints, {verdict.variables} variables"
    yield extended("Figure 2", "is it the only optimum?", "the only one: 40 priced constraints, 36 variables", counted)
    face = rounded(face_value_loss(geometric_channel(6, alpha="1/2"), consumer), 13)
    yield extended("Figure 2", "loss of G at face value", "1.198981536437", face)
    pattern = constraint_matrix(X, "1/2")
    signs = "\n".join(" ".join(SIGNS[entry] for entry in row) for row in pattern.tolist())
    yield equal("Figure 3", "the constraint matrix", FIGURE_3, signs)
    failing = [check.lemma for check in check_lemmas(pattern) if not check.holds]
    yield equal(
        "Figure 3", "which of Lemmas 5.4 to 5.9 fail on it", [], failing, shown=("none", ", ".join(failing) or "none")
    )
    actions = remap_of_vertex(X, "1/2").actions.tolist()
    yield equal("Figure 3", "the remap built from it by Lemma 5.11", [0, 2, 2, 3, 4, 5], actions)


def theorem_3_1() -> Iterator[Comparison]:
    """Check that the remapped geometric mechanism has the least loss of all, by exact linear programs."""
    kinds = (losses.absolute, losses.squared, losses.binary, losses.asymmetric(1, 3))
    beliefs = [lambda n: priors.uniform(n + 1), lambda n: priors.binomial(n, "1/3"), lambda n: _two_ends(n).prior]
    cases = [(n, a, Consumer(belief(n), loss)) for n, a, belief, loss in product((1, 2, 4), ALPHAS, beliefs, kinds)]
    agreeing = 0
    for n, a, consumer in cases:
        program = optimal_mechanism(PrivacyType(counts(n), alpha=a), consumer, method="program")
        agreeing += program.loss == expected_loss(geometric_channel(n + 1, alpha=a), consumer)
    yield equal(
        "Theorem 3.1",
        "users whose program has the remapped loss",
        len(cases),
        agreeing,
        shown=("every user", f"{agreeing} of {len(cases)}, exactly"),
    )


def lemmas() -> Iterator[Comparison]:
    """Show a case in which Lemma 5.5 and footnote 4 are false: an optimal vertex that is no remap of geometric
    noise.
    """
    consumer = Consumer(priors.uniform(3), [list(row) for row in STRAY_LOSS])
    X = Channel([list(row) for row in STRAY])
    optimum = optimal_mechanism(PrivacyType(counts(2), alpha="1/2"), consumer).loss
    lost = face_value_loss(X, consumer)
    offence = derivation(X, "1/2").offence
    says = f"optimal for one: {lost} of {optimum}; not derivable at {offence}"
    yield corrected(
        "Footnote 4",
        "vertices that are no remap of G",
        "optimal for no user",
        "optimal for one: 17/36 of 17/36; not derivable at (1, 2)",
        says,
        "true of strictly increasing losses; users whose losses have ties may take them",
    )
    failing = [check.lemma for check in check_lemmas(constraint_matrix(X, "1/2")) if not check.holds]
    yield corrected(
        "Lemma 5.5",
        "the pattern of every optimal vertex",
        "down..., a slack, up...",
        "fails on that vertex",
        "fails on that vertex" if "5.5" in failing else "holds",
        "so it is for strict losses and full priors; for others some optimal vertex has it",
    )


def section_6_1() -> Iterator[Comparison]:
    """Check section 6.1: Laplace noise is not optimal, and only the geometric mechanism is optimal for every user."""
    user = Consumer(priors.uniform(2), losses.binary)
    alphas = (F(1, 4), F(1, 100), F(1, 10_000))
    geometric = [expected_loss(geometric_channel(2, alpha=a), user) for a in alphas]
    laplace = [expected_loss(laplace_channel(2, alpha=a), user) for a in alphas]
    roots = (F(1, 2), F(1, 10), F(1, 100))
    cases = [(1, a, user) for a in alphas]
    yield _for_all("Section 6.1", "geometric loss", "alpha / (1 + alpha)", cases, geometric, lambda n, a: a / (1 + a))
    yield _for_all(
        "Section 6.1", "Laplace loss", "sqrt(alpha) / 2", cases, laplace, lambda n, a: roots[alphas.index(a)] / 2
    )
    ratios = [rounded(worse / best, 6) for worse, best in zip(laplace, geometric, strict=True)]
    yield equal(
        "Section 6.1",
        "how much worse, as alpha tends to 0",
        ["1.25", "5.05", "50.005"],
        ratios,
        shown=("tends to infinity", f"{', '.join(ratios)} at alpha = 1/4, 1/100, 1/10000"),
    )
    settings = list(product(range(1, 9), ALPHAS))
    guess = {n: Consumer(priors.uniform(n + 1), losses.binary) for n in range(1, 9)}
    only = sum(uniqueness(PrivacyType(counts(n), alpha=a), guess[n]).is_unique for n, a in settings)
    yield corrected(
        "Theorem 6.1",
        "the only mechanism optimal for all",
        "x^G, up to a permutation",
        "G: uniform prior and binary loss have no other, 24 of 24",
        f"G: uniform prior and binary loss have no other, {only} of {len(settings)}",
        "x^G has infinite range; at alpha = 1 every constant mechanism is optimal",
    )
    best = [optimal_mechanism(PrivacyType(counts(n), alpha=a), guess[n]).loss for n, a in settings]
    formula = [1 - (2 + (n - 1) * (1 - a)) / ((n + 1) * (1 + a)) for n, a in settings]
    text = "1 - (2 + (n-1)(1-alpha)) / ((n+1)(1+alpha))"
    yield extended("Theorem 6.1", "loss of that user", text, text if best == formula else best)


def proposition_6_2() -> Iterator[Comparison]:
    """Check Proposition 6.2: for the worst prior over databases, a mechanism that sees more of the data than the count
    has no smaller loss.
    """
    agreeing, cases = (
        0,
        [(2, 3, losses.absolute), (2, 3, losses.binary), (3, 2, losses.squared), (3, 2, losses.absolute)],
    )
    for values, rows, loss in cases:
        consumer = Consumer(priors.binomial(rows, "1/3"), loss)
        value, _ = best_worst_case(CountQuery(values, rows, [1]), F(1, 2), consumer)
        agreeing += value == optimal_mechanism(PrivacyType(counts(rows), alpha="1/2"), consumer).loss
    yield equal(
        "Proposition 6.2",
        "oblivious mechanisms reach the best worst case",
        len(cases),
        agreeing,
        shown=("always", f"{agreeing} of {len(cases)}, exactly"),
    )


def theorem_6_3() -> Iterator[Comparison]:
    """Check Theorem 6.3: no single mechanism is optimal for two users who have priors over databases."""
    tilt = F(1, 100)
    query, first_user, second_user = conflicting_users(tilt)
    ptype = PrivacyType(query.space, alpha="1/2")
    for name, user, exchanged in (("x1", first_user, False), ("x2", second_user, True)):
        yield _figure_4(name, optimal_mechanism(ptype, user).channel, query, exchanged)
    unique = uniqueness(ptype, first_user).is_unique and uniqueness(ptype, second_user).is_unique
    yield equal("Figure 4", "each is the only optimum", True, unique, shown=("unique", "unique" if unique else "not"))
    tilts = (F(0), F(1, 100), F(1, 9), F(1, 8), F(1, 5))
    losses_found = [optimal_mechanism(ptype, conflicting_users(t)[1]).loss for t in tilts]
    known = [min(F(13, 48) + t / 2, F(1, 3)) for t in tilts]
    text = "13/48 + eps/2 for eps <= 1/8, then 1/3"
    yield extended(
        "Theorem 6.3", "its loss: small, positive eps", text, text if losses_found == known else losses_found
    )
    half = optimal_mechanism(ptype, conflicting_users(tilt, F(1, 2))[1]).loss
    known_half = rounded(F(13, 48) + tilt / 2, 12)
    yield extended(
        "Theorem 6.3", "and delta = 1/2 for small, positive delta", known_half, rounded(half, 12), "any delta"
    )
    yield from _figure_5()
    yield from _refutation(ptype, first_user, second_user, tilt)


def _figure_4(name: str, X: Channel, query: CountQuery, exchanged: bool) -> Comparison:
    rows = dict(zip(query.databases, X.matrix.tolist(), strict=True))
    rows_shown = [" ".join(map(str, rows[(d[1], d[0], d[2]) if exchanged else d][1:3])) for d in FIGURE_4]
    printed = list(FIGURE_4.values())
    return equal(
        "Figure 4",
        f"{name}, four rows{', 1 and 2 exchanged' if exchanged else ''}",
        printed,
        rows_shown,
        shown=("\n".join(printed), "\n".join(rows_shown)),
    )


def _figure_5() -> Iterator[Comparison]:
    """Check that the mechanism of Figure 5, with outcomes merged, is x1 or x2, and is not private at delta = 1."""
    marginals = []
    for d, (denominator, entries) in FIGURE_5.items():
        mirrored = FIGURE_4[(d[1], d[0], d[2])]
        for delta in (0, 1):
            l, m, n, o = (F(constant + factor * delta, denominator) for constant, factor in entries)
            marginals.append((f"{l + n} {m + o}", f"{l + o} {m + n}") == (FIGURE_4[d], mirrored))
    yield equal(
        "Figure 5",
        "induces x1 and x2 for every delta",
        8,
        sum(marginals),
        shown=("yes", f"{sum(marginals)} of 8 rows at delta = 0 and 1"),
    )
    first, both = (F(sum(FIGURE_5[d][1][0]), FIGURE_5[d][0]) for d in ((1, 0, 0), (1, 0, 1)))
    yield equal("Proof of 6.3", "masses on l at {1} and {1, 3}", "7/12 and 1/6", f"{first} and {both}")
    yield corrected(
        "Proof of 6.3",
        "by a similar argument for databases",
        "{3} and {4}",
        "7/2",
        str(first / both),
        "read {1, 3} and {2, 3}; the ratio 7/2 of neighbours is above 1/alpha = 2",
    )


def _refutation(ptype: PrivacyType, first_user: Consumer, second_user: Consumer, tilt: Any) -> Iterator[Comparison]:
    shared = shared_mechanism(ptype, [first_user, second_user])
    yield equal(
        "Theorem 6.3",
        "one mechanism optimal for both",
        False,
        shared.exists,
        shown=("none", "exists" if shared.exists else "none, randomised remaps included"),
    )
    ray = sharing_refutation(ptype, [first_user, second_user])
    optima = [optimum.loss for optimum in shared.alone]
    proven = ray is not None and farkas_gap(sharing_program(ptype, [first_user, second_user], optima), ray) > 0
    yield extended(
        "Theorem 6.3", "exact certificate of infeasibility", True, proven, "Farkas multipliers, in rationals"
    )
    yield extended("Theorem 6.3", "least total loss, eps = 1/100", F(19, 30) + 4 * tilt / 5, shared.together.loss)
    yield extended("Theorem 6.3", "what sharing costs, eps = 1/100", F(11, 120) - tilt / 5, shared.regret)


def _two_ends(n: int) -> Consumer:
    """Return the consumer of Example 2.2: prior 1/2 on 0 and 1/2 on n, with binary loss."""
    return Consumer([F(1, 2) if i in (0, n) else F(0) for i in range(n + 1)], losses.binary)


def _for_all(
    place: str, what: str, formula: str, cases: list[tuple[int, Any, Consumer]], values: list[Any], expected: Any
) -> Comparison:
    """Compare exact values with ``expected(n, alpha)`` in all cases. ``formula`` is the expected value as the paper
    writes it.
    """
    right = sum(value == expected(n, a) for (n, a, _), value in zip(cases, values, strict=True))
    return equal(
        place, what, len(cases), right, shown=(formula, f"the same, exactly, in {right} of {len(cases)} cases")
    )
