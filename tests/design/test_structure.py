"""Section 5 of Ghosh et al.: constraint matrices, the lemmas, and what is derivable from G."""

import random
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from design.random_consumers import loose_consumer, random_type, strict_consumer
from utmost import losses, priors
from utmost.channels import Channel, GeometricMatrix, Remap, geometric_channel
from utmost.errors import OutOfRange, PromiseBroken, SolverFailed
from utmost.exact import level, solve_sparse
from utmost.optima import (
    between_levels,
    check_lemmas,
    constraint_matrix,
    derivation,
    optimal_mechanism,
    remap_of_vertex,
)
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts

F = Fraction
STUBBORN = Channel([["0", "1/3", "2/3"], ["0", "2/3", "1/3"], ["0", "1/3", "2/3"]])
STUBBORN_USER = Consumer(priors.uniform(3), [["0", "3/4", "3/4"], ["1", "0", "1"], ["2", "1", "0"]])


def pattern_of(rows):
    names = {"d": "down", "u": "up", "S": "slack", "Z": "zero"}
    return [[names[letter] for letter in row] for row in rows.split()]


def test_figure_3_is_the_constraint_matrix_of_figure_2():
    figure2 = geometric_channel(6, alpha="1/2") @ Remap([0, 2, 2, 3, 4, 5], 6)
    pattern = constraint_matrix(figure2, "1/2")
    assert pattern.tolist() == pattern_of("dZuuuu dZSuuu dZduuu dZdduu dZdddu")
    assert all(check.holds for check in check_lemmas(pattern))
    assert remap_of_vertex(figure2, "1/2").actions.tolist() == [0, 2, 2, 3, 4, 5]
    floats = Channel(figure2.matrix.astype(float))
    assert constraint_matrix(floats, "1/2").tolist() == pattern.tolist()


def test_optimal_vertices_of_strict_consumers_meet_every_lemma_and_are_remaps_of_g():
    """Lemmas 5.4 to 5.9; the remap of Lemma 5.11 rebuilds the program's vertex exactly."""
    rng = random.Random(1)
    for _ in range(40):
        n = rng.randint(1, 7)
        consumer, ptype = strict_consumer(rng, n), random_type(rng, n)
        vertex = optimal_mechanism(ptype, consumer, method="program").channel
        assert all(check.holds for check in check_lemmas(constraint_matrix(vertex, ptype.level)))
        remap = remap_of_vertex(vertex, ptype.level)
        assert (geometric_channel(n + 1, ptype.level) @ remap).same_as(vertex)


def test_optimal_vertices_of_loose_consumers_may_break_lemma_5_5_and_still_cost_the_same():
    """Where the loss has plateaus or the prior zeros, the lemma speaks of some optimal vertex only."""
    rng, broken, stubborn = random.Random(2), 0, 0
    for _ in range(40):
        n = rng.randint(2, 6)
        consumer, ptype = loose_consumer(rng, n), random_type(rng, n)
        program = optimal_mechanism(ptype, consumer, method="program")
        checks = {check.lemma: check for check in check_lemmas(constraint_matrix(program.channel, ptype.level))}
        assert checks["5.4"].holds
        broken += not checks["5.5"].holds
        stubborn += not derivation(program.channel, ptype.level).is_derivable
        assert program.loss == optimal_mechanism(ptype, consumer).loss
    assert broken
    assert stubborn


def test_a_single_count_needs_no_pattern():
    assert remap_of_vertex(Channel([["0", "1"]]), "1/2").actions.tolist() == [1]


def test_lemmas_are_checked_of_a_channel_at_its_alpha_or_of_its_pattern():
    channel = geometric_channel(4, alpha="1/2")
    pattern = constraint_matrix(channel, "1/2")
    assert repr(check_lemmas(channel, "1/2")) == repr(check_lemmas(pattern))
    for wrong in ((channel,), (pattern, "1/2"), ([[1]], "1/2")):
        with pytest.raises(OutOfRange, match="constraint_matrix"):
            check_lemmas(*wrong)


def test_a_failing_lemma_says_where():
    checks = {c.lemma: c for c in check_lemmas(np.array(pattern_of("uu dS Sd")))}
    assert (checks["5.4"].holds, checks["5.4"].where) == (False, "row 0")
    assert (checks["5.5"].holds, checks["5.5"].where) == (False, "row 2")
    assert not checks["5.9"].holds
    with pytest.raises(PromiseBroken, match=r"Lemma 5\.[89]"):
        remap_of_vertex(Channel([["1/2", "1/2"], ["1/2", "1/2"], ["1/2", "1/2"]]), "1/2")


def test_a_channel_that_leaks_has_no_constraint_matrix():
    with pytest.raises(PromiseBroken, match=r"column 0.*counts 0 and 1"):
        constraint_matrix(Channel([["9/10", "1/10"], ["1/10", "9/10"]]), "1/2")


def vertices_for_two_rows(alpha):
    """All vertices of the polytope for n = 2: every choice of 6 privacy constraints beside the 3 sums is tried."""
    rows = []
    for i, r in product(range(2), range(3)):
        for here, there in ((i, i + 1), (i + 1, i)):
            rows.append({here * 3 + r: F(1), there * 3 + r: -alpha})
    sums = [{i * 3 + r: F(1) for r in range(3)} for i in range(3)]
    found = set()
    for chosen in combinations(rows, 6):
        try:
            x = solve_sparse([*sums, *chosen], [F(1)] * 3 + [F(0)] * 6)
        except SolverFailed:
            continue
        if all(sum(c * x[j] for j, c in row.items()) >= 0 for row in rows):
            found.add(tuple(x))
    return [Channel(np.array([*x, None], dtype=object)[:-1].reshape(3, 3)) for x in found]


@pytest.mark.parametrize("alpha", ["1/3", "1/2", "3/4"])
def test_n_2_has_27_vertices_of_which_21_are_derivable(alpha):
    """Footnote 4, counted: 6 vertices of the polytope are no remaps of G; and 6 of G's 27 remaps are no vertices."""
    vertices = vertices_for_two_rows(F(alpha))
    assert len(vertices) == 27
    assert sum(derivation(x, alpha).is_derivable for x in vertices) == 21
    G = geometric_channel(3, alpha=alpha)
    remaps = [G @ Remap(list(actions), 3) for actions in product(range(3), repeat=3)]
    assert len({tuple(x.matrix.ravel()) for x in remaps}) == 27
    corners = {tuple(x.matrix.ravel()) for x in vertices}
    assert sum(tuple(x.matrix.ravel()) not in corners for x in remaps) == 6


def test_n_1_has_4_vertices_all_derivable():
    a = F(1, 2)
    G = geometric_channel(2, alpha=a)
    for actions in product(range(2), repeat=2):
        assert derivation(G @ Remap(list(actions), 2), a).is_derivable


def test_a_stubborn_vertex_is_optimal_for_a_loose_user():
    """Footnote 4 corrected: this vertex is no remap of G, and yet optimal (17/36), as a remap of G is too."""
    ptype = PrivacyType(counts(2), alpha="1/2")
    assert not derivation(STUBBORN, "1/2").is_derivable
    assert STUBBORN.matrix.tolist() in [x.matrix.tolist() for x in vertices_for_two_rows(F(1, 2))]
    assert optimal_mechanism(ptype, STUBBORN_USER).loss == F(17, 36)
    assert (STUBBORN_USER.prior[:, None] * STUBBORN.matrix * STUBBORN_USER.loss).sum() == F(17, 36)


def test_the_three_term_condition_names_the_offence():
    found = derivation(STUBBORN, "1/2")
    assert found.factor.tolist() == [[0, 0, 1], [0, 2, -1], [0, 0, 1]]
    assert found.offence == (1, 2)
    with pytest.raises(PromiseBroken, match=r"column 2.*count 1"):
        _ = found.remap


def test_a_larger_channel_that_no_remap_of_g_gives():
    rows = [["1/9", "2/9", "4/9", "2/9"], ["2/9", "1/9", "2/9", "4/9"], ["4/9", "2/9", "1/9", "2/9"]]
    X = Channel([*rows, ["13/18", "1/9", "1/18", "1/9"]])
    assert PrivacyType(counts(3), alpha="1/2").contains(X)
    assert derivation(X, "1/2").factor.min() == F(-1, 3)


def test_derivability_is_the_three_term_condition():
    """Y = G^{-1} X is a channel exactly when (1+a^2) x_i >= a (x_{i-1} + x_{i+1}) inside; and then X = G Y."""
    rng = random.Random(3)
    for _ in range(60):
        n, a = rng.randint(2, 5), F(rng.randint(1, 9), 10)
        G = geometric_channel(n + 1, alpha=a)
        weights = [[rng.randint(-1, 6) for _ in range(n + 1)] for _ in range(n + 1)]
        rows = [w for w in weights if sum(w) > 0] or [[1] * (n + 1)]
        Y = np.array([[F(x, sum(rows[i % len(rows)])) for x in rows[i % len(rows)]] for i in range(n + 1)])
        X = np.asarray(G.matrix @ Y)
        if (X < 0).any():
            continue
        found = derivation(Channel(X), a)
        inside = (1 + a * a) * X[1:-1] - a * (X[:-2] + X[2:])
        ends = min((X[0] - a * X[1]).min(), (X[-1] - a * X[-2]).min())
        assert found.is_derivable == (inside.min() >= 0 and ends >= 0)
        assert (found.factor == Y).all()
        if found.is_derivable:
            assert (G @ found.remap).same_as(Channel(X))


def test_a_lower_release_is_a_higher_one_remapped():
    """G(a1) = G(a2) K with K >= 0 exactly when a2 <= a1."""
    K = between_levels(3, level(alpha="1/2"), level(alpha="1/4"))
    assert K.matrix.tolist() == [
        [F(7, 9), F(1, 9), F(1, 9)],
        [F(7, 27), F(13, 27), F(7, 27)],
        [F(1, 9), F(1, 9), F(7, 9)],
    ]
    for n in (0, 1, 5):
        for higher, lower in (("1/9", "1/3"), ("1/2", "1/2"), ("1/10", "9/10")):
            K = between_levels(n + 1, level(alpha=lower), level(alpha=higher))
            G = geometric_channel(n + 1, alpha=higher)
            assert (G @ K).same_as(geometric_channel(n + 1, alpha=lower))
        floats = between_levels(n + 1, level(epsilon=1), level(epsilon=2))
        assert (geometric_channel(n + 1, epsilon=2) @ floats).same_as(
            geometric_channel(n + 1, epsilon=1), tolerance=1e-14
        )
    with pytest.raises(OutOfRange, match="larger epsilon"):
        between_levels(4, level(alpha="1/4"), level(alpha="1/2"))
    reverse = GeometricMatrix(3, level(alpha="1/2")).inverse_product(geometric_channel(3, alpha="1/4").matrix)
    assert (reverse < 0).any()


def test_a_truncated_geometric_distribution_is_not_private():
    """Renormalising instead of clamping breaks the level: at n = 2 and alpha = 1/2 the worst ratio is 16/7."""
    weights = np.array([[F(1, 2 ** abs(i - r)) for r in range(3)] for i in range(3)])
    X = weights / weights.sum(axis=1)[:, None]
    assert max((X[:-1] / X[1:]).max(), (X[1:] / X[:-1]).max()) == F(16, 7)
    with pytest.raises(PromiseBroken):
        constraint_matrix(Channel(X), "1/2")


def test_losses_of_figure_2_at_face_value_and_remapped():
    consumer = Consumer([0.25, 0, 0.25, 0, 0.25, 0.25], losses.power("3/2"))
    found = optimal_mechanism(PrivacyType(counts(5), alpha="1/2"), consumer, method="program")
    assert remap_of_vertex(found.channel, "1/2").actions.tolist() == [0, 2, 2, 3, 4, 5]
