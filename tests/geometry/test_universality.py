"""Universal optimality: verdicts, exact regrets, certificates that do not accept a lie; and nib on every line."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from utmost import losses, priors
from utmost.channels import Channel, geometric_channel, randomized_response, tight_constraints
from utmost.errors import Infeasible, NotALoss, NotAPrior, OutOfRange, PromiseBroken, Unsupported
from utmost.geometry import (
    distinguishing_mechanism,
    kernels,
    least_nib_loss,
    refines,
    universal_mechanism,
    universal_nib,
    universality,
    vertices,
)
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.programs import LinearProgram, solve_exactly
from utmost.spaces import Consumer, counts, discrete, graph, hamming, joint_loss, lifted_loss
from utmost.testing import strategies

HALF = {"alpha": "1/2"}


def distance_loss(space):
    return np.array([[Fraction(int(d)) for d in row] for row in space.distances], dtype=object)


@pytest.mark.parametrize(
    ("space", "loss", "regret"),
    [
        (discrete(3), losses.binary, "1/24"),
        (discrete(3), losses.nib, "2/75"),
        (discrete(3), losses.absolute, "1/18"),
        (discrete(3), losses.squared, "2/35"),
        (discrete(4), losses.nib, "1/49"),
        (discrete(4), losses.binary, "2/35"),
        pytest.param(discrete(4), losses.absolute, "4/49", marks=pytest.mark.slow),
        pytest.param(discrete(4), losses.squared, "1/11", marks=pytest.mark.slow),
        (hamming(2), losses.binary, "1/12"),
        (hamming(2), losses.nib, "1/36"),
        (hamming(2), distance_loss(hamming(2)), "1/6"),
    ],
)
def test_no_mechanism_is_universally_optimal(space, loss, regret):
    """The least regret as a rational, proved from both sides without a solver."""
    ptype = PrivacyType(space, **HALF)
    verdict = universal_mechanism(ptype, loss)
    assert not verdict
    assert verdict.regret == Fraction(regret)
    assert verdict.certificate.verify()
    assert verdict.conflict.verify()
    assert ptype.contains(verdict.mechanism)
    assert all(ptype.contains(channel) for channel in verdict.conflict.mechanisms)


@pytest.mark.parametrize(("n", "alpha"), [(1, "1/2"), (3, "4/5")])
@pytest.mark.parametrize("loss", [losses.binary, losses.nib, losses.absolute, losses.squared])
def test_the_geometric_mechanism_on_the_line(n, loss, alpha):
    """[ghosh2009], and the loss nib of [fernandes2022], section VI-A: universally optimal, with proof."""
    ptype = PrivacyType(counts(n), alpha=alpha)
    verdict = universality(ptype, loss, geometric_channel(n + 1, alpha=alpha))
    assert verdict
    assert verdict.certificate.verify()
    found = universal_mechanism(ptype, loss)
    assert found
    assert found.regret == 0
    assert found.certificate.verify()


@pytest.mark.parametrize("loss", [pytest.param(losses.binary, marks=pytest.mark.slow), losses.nib])
def test_the_line_of_five_has_a_universal_mechanism(loss):
    """It exists, with regret 0 and proof, and the search is not reported that it is the geometric one."""
    found = universal_mechanism(PrivacyType(counts(4), **HALF), loss)
    assert (found.exists, found.regret) == (True, 0)
    assert found.certificate.verify()


@pytest.mark.parametrize(
    ("space", "loss", "conflict", "optima", "together"),
    [
        (hamming(2), losses.binary, ["1/2 0 0 1/2", "0 1/2 1/2 0"], ["1/4", "1/4"], "2/3"),
        (discrete(3), losses.binary, ["1/3 1/3 1/3", "1/2 1/2 0"], ["1/2", "1/3"], "7/8"),
        (discrete(3), losses.nib, ["1/3 1/3 1/3", "1/4 1/4 1/2"], ["1/5", "1/6"], "7/18"),
        (discrete(3), losses.absolute, ["1/5 1/5 3/5", "1/2 1/2 0"], ["8/15", "1/3"], "14/15"),
    ],
)
def test_two_priors_that_no_mechanism_serves_at_once(space, loss, conflict, optima, together):
    """The least loss for each prior, and the least total of one mechanism for both, by programs over vertices."""
    ptype = PrivacyType(space, **HALF)
    priors = [np.array([Fraction(p) for p in prior.split()], dtype=object) for prior in conflict]
    assert [least_total(ptype, loss, [prior]) for prior in priors] == [Fraction(value) for value in optima]
    assert least_total(ptype, loss, priors) == Fraction(together)
    assert sum(map(Fraction, optima)) < Fraction(together)


def least_total(ptype, loss, priors):
    """min over mechanisms of sum_k U(prior_k, M), a bundle of vertices with their total prices."""
    listed, table = vertices(ptype).columns, loss.matrix(ptype.space.size)
    costs = sum(
        (np.array(prior)[:, None, None] * table[:, :, None] * listed[:, None]).sum(axis=0).min(axis=0)
        for prior in priors
    )
    n, count = listed.shape
    rows, columns = (part.ravel() for part in np.indices((n, count)))
    one = [Fraction(1)] * n
    return solve_exactly(LinearProgram.of_triplets(costs, rows, columns, listed.ravel(), one, one)).value


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ["1/10", "9/10"])
@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_geometric_mechanism_is_nib_optimal_at_other_levels(n, alpha):
    """The conjecture of section VI-A away from ln 2."""
    ptype = PrivacyType(counts(n), alpha=alpha)
    assert universality(ptype, losses.nib, geometric_channel(n + 1, alpha=alpha))


@pytest.mark.slow
@pytest.mark.parametrize("loss", [losses.binary, losses.nib])
@pytest.mark.parametrize(("n", "count", "survivors"), [(2, 2, 1), (3, 11, 1)])
def test_one_kernel_of_the_line_survives(n, count, survivors, loss):
    """Of the 2 and 11 kernels on lines of 3 and 4 secrets the geometric mechanism alone is universally optimal."""
    ptype = PrivacyType(counts(n), **HALF)
    found = [bool(universality(ptype, loss, kernel)) for kernel in kernels(ptype)]
    assert (len(found), sum(found)) == (count, survivors)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5, 6])
def test_the_geometric_mechanism_is_nib_optimal_on_longer_lines(n):
    """What [fernandes2022] suggests, section VI-A, decided up to 7 secrets."""
    verdict = universality(PrivacyType(counts(n), **HALF), losses.nib, geometric_channel(n + 1, alpha="1/2"))
    assert verdict
    assert verdict.certificate.verify()


def test_a_mechanism_that_is_not_optimal_comes_with_a_better_one():
    """Randomised response fails binary loss on three secrets; prior and better mechanism show it."""
    ptype = PrivacyType(discrete(3), **HALF)
    response = randomized_response(3, alpha="1/2")
    verdict = universality(ptype, losses.binary, response)
    assert not verdict
    assert ptype.contains(verdict.better)
    loss = losses.binary.matrix(3)
    assert best_loss(verdict.better, loss, verdict.prior) < best_loss(response, loss, verdict.prior)


def best_loss(channel, loss, prior):
    return sum(min((prior * column) @ loss[:, w] for w in range(loss.shape[1])) for column in channel.matrix.T)


@given(st.integers(0, 10**6))
def test_no_prior_contradicts_a_verdict(seed):
    """At random priors and against every kernel, a universally optimal mechanism loses no more."""
    rng = np.random.default_rng(seed)
    weights = [Fraction(int(k) + 1) for k in rng.integers(0, 20, 3)]
    prior = np.array([w / sum(weights) for w in weights], dtype=object)
    ptype = PrivacyType(counts(2), **HALF)
    loss = losses.nib.matrix(3)
    mine = best_loss(geometric_channel(3, alpha="1/2"), loss, prior)
    assert all(mine <= best_loss(kernel, loss, prior) for kernel in kernels(ptype))


@pytest.mark.parametrize("alpha", ["1/5", "4/5"])
@pytest.mark.parametrize("space", [graph([(0, 1), (1, 2), (0, 2)]), graph([(0, 1), (1, 2), (2, 3), (3, 0)])])
def test_binary_loss_has_no_mechanism_where_there_is_a_cycle(space, alpha):
    """Brenner and Nissim's impossibility, at every level tried; the conflict proves it."""
    verdict = universal_mechanism(PrivacyType(space, alpha=alpha), losses.binary)
    assert not verdict
    assert verdict.conflict.verify()


TREES = {
    "path": "01 12 23",
    "star of three": "01 02 03",
    "star of four": "01 02 03 04",
    "a long leg": "01 14 02 03",
    "two stars": "01 02 03 14 15",
    "two long legs": "01 14 02 25 03",
    "a leg of three": "01 14 45 02 03",
    "broom": "01 02 03 04 15",
}


@pytest.mark.parametrize(
    "name",
    [name if name in list(TREES)[:4] else pytest.param(name, marks=pytest.mark.slow) for name in TREES],
)
def test_nib_on_trees_has_a_universal_mechanism_up_to_one_over_the_degree_less_one(name):
    """By the general search, at the threshold and a thousandth above: it is a^d(x, y) by weights, and no other."""
    edges = [(int(i), int(j)) for i, j in TREES[name].split()]
    degree = max(sum(place in edge for edge in edges) for place in range(6))
    most = Fraction(1, degree - 1) if degree > 2 else Fraction(9, 10)
    verdict = universal_mechanism(PrivacyType(graph(edges), alpha=most), losses.nib)
    assert verdict
    assert verdict.certificate.verify()
    assert columns_of(verdict.mechanism) == columns_of(tight_constraints(graph(edges), alpha=most))
    if degree > 2:
        above = universal_mechanism(PrivacyType(graph(edges), alpha=most + Fraction(1, 1000)), losses.nib)
        assert not above
        assert above.conflict.verify()
        with pytest.raises(Infeasible, match="weighting"):
            tight_constraints(graph(edges), alpha=most + Fraction(1, 1000))


def columns_of(channel):
    """All columns that are not zero, in no order."""
    return sorted(tuple(column) for column in channel.matrix.T if any(column))


@pytest.mark.parametrize(("alpha", "exists"), [("1/3", True), ("1/2", True), ("3/5", False)])
def test_binary_loss_on_a_star_depends_on_the_level(alpha, exists):
    """A hub with three leaves is no path; yet up to alpha = 1/2 one mechanism serves every prior, above it none."""
    verdict = universal_mechanism(PrivacyType(graph([(0, 1), (0, 2), (0, 3)]), alpha=alpha), losses.binary)
    assert bool(verdict) == exists
    assert verdict.certificate.verify()
    assert exists or verdict.conflict.verify()


@pytest.mark.parametrize("space", [counts(1), counts(3), discrete(4), hamming(2)])
def test_every_type_has_a_mechanism_for_some_loss(space):
    """[fernandes2022], theorem 10, repaired: the closest two secrets can be distinguished as well as possible."""
    ptype = PrivacyType(space, **HALF)
    channel, loss = distinguishing_mechanism(ptype)
    assert ptype.contains(channel)
    verdict = universality(ptype, loss, channel)
    assert verdict
    assert verdict.certificate.verify()


def test_false_certificates_are_refused():
    """A smaller slack, a changed dual, a missing cell, a smaller or larger regret: none verifies."""
    ptype = PrivacyType(discrete(3), **HALF)
    verdict = universal_mechanism(ptype, losses.binary)
    proof, conflict = verdict.certificate, verdict.conflict
    assert not replace(proof, slack=proof.slack - Fraction(1, 10**6)).verify()
    prior, dual = next(iter(proof.duals.items()))
    assert not replace(proof, duals={**proof.duals, prior: tuple(z + 1 for z in dual)}).verify()
    assert not replace(proof, cells=replace(proof.cells, cells=proof.cells.cells[1:])).verify()
    assert not replace(conflict, regret=conflict.regret + Fraction(1, 10**6)).verify()
    weights = (conflict.weights[0] + Fraction(1, 100), *conflict.weights[1:])
    assert not replace(conflict, weights=weights).verify()


def test_refusals():
    """Floats, irrational powers, channels outside the type, losses of another size."""
    ptype = PrivacyType(counts(2), **HALF)
    with pytest.raises(Unsupported, match="float64"):
        universal_mechanism(ptype, [[0.5, 1.0]] * 3)
    with pytest.raises(NotALoss, match="3 rows"):
        universal_mechanism(ptype, [[0, 1]] * 2)
    with pytest.raises(PromiseBroken):
        universality(ptype, losses.binary, geometric_channel(3, alpha="1/3"))
    with pytest.raises(OutOfRange, match="two secrets"):
        distinguishing_mechanism(PrivacyType(counts(0), **HALF))
    with pytest.raises(OutOfRange, match="different indices"):
        lifted_loss([[0, 1], [1, 0]], (0, 0), 3)
    with pytest.raises(OutOfRange, match="1 rows"):
        joint_loss([[0, 1]], [[0, 1], [1, 0]])


@given(st.integers(1, 12).flatmap(strategies.priors), strategies.alphas)
def test_what_the_geometric_mechanism_loses_is_a_bound_for_all(prior, alpha):
    """The remap of G loses the sum of a packing t, and no mechanism loses less: the whole theorem, prior by prior."""
    found = least_nib_loss(PrivacyType(counts(len(prior) - 1), alpha=alpha), prior)
    assert found.verify()
    assert np.count_nonzero(found.packing) <= 2
    assert refines(better=geometric_channel(len(prior), alpha=alpha), worse=found.mechanism)


@given(st.integers(2, 5).flatmap(strategies.priors), st.sampled_from(["1/10", "1/2", "9/10"]))
def test_the_program_over_all_vertices_agrees(prior, alpha):
    """The least loss of any mechanism, by the exact simplex method on the vertices of the type."""
    ptype = PrivacyType(counts(len(prior) - 1), alpha=alpha)
    assert (
        optimal_mechanism(ptype, Consumer(prior, losses.nib), method="program").loss
        == least_nib_loss(ptype, prior).loss
    )


@given(st.integers(1, 4).flatmap(strategies.priors), strategies.alphas)
def test_no_other_remap_of_the_geometric_mechanism_is_better(prior, alpha):
    """All n^n remaps."""
    n = len(prior)
    G = geometric_channel(n, alpha=alpha).matrix
    lost = (sum(prior[w] * G[w, y] for y, w in enumerate(remap)) for remap in itertools.product(range(n), repeat=n))
    assert min(lost) == least_nib_loss(PrivacyType(counts(n - 1), alpha=alpha), prior).loss


@st.composite
def trees(draw, most=6):
    """A random tree, each secret joined to one before it, and a prior of it."""
    joined = [(draw(st.integers(0, x - 1)), x) for x in range(1, draw(st.integers(2, most)))]
    return graph(joined), draw(strategies.priors(len(joined) + 1))


@given(trees(), st.sampled_from(["1/10", "1/2", "9/10"]))
def test_the_least_nib_loss_on_trees_is_that_of_the_program(tree, alpha):
    """At every level, also where no mechanism serves all priors."""
    space, prior = tree
    ptype = PrivacyType(space, alpha=alpha)
    found = least_nib_loss(ptype, prior)
    assert found.verify()
    assert found.loss == optimal_mechanism(ptype, Consumer(prior, losses.nib), method="program").loss


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("above", [0, Fraction(1, 1000)])
def test_the_theorem_on_trees_decides_as_the_general_search(name, above):
    edges = [(int(i), int(j)) for i, j in TREES[name].split()]
    degree = max(sum(place in edge for edge in edges) for place in range(6))
    ptype = PrivacyType(graph(edges), alpha=(Fraction(1, degree - 1) if degree > 2 else Fraction(9, 10)) + above)
    verdict = universal_nib(ptype)
    assert bool(verdict) is (degree == 2 or not above)
    assert verdict.verify()
    if verdict:
        assert columns_of(verdict.mechanism) == columns_of(tight_constraints(ptype.space, alpha=ptype.level.alpha))


def test_large_trees_are_decided_with_proof():
    """60 secrets, one of them with 10 neighbours: beside the threshold 1/9, either way."""
    joined = [(0, x) for x in range(1, 11)] + [(x - 10 + x % 7, x) for x in range(11, 60)]
    for alpha, exists in (("1/9", True), ("1/8", False)):
        verdict = universal_nib(PrivacyType(graph(joined), alpha=alpha))
        assert (bool(verdict), verdict.verify()) == (exists, True)
    many = PrivacyType(graph(joined), alpha="1/2")
    conflict = universal_nib(many).conflict
    assert conflict.leaves == (1, 2, 3, 4)
    assert conflict.verify()
    for wrong in ({"leaves": (1, 2, 3)}, {"leaves": (1, 1, 2, 3)}, {"leaves": (1, 2, 3, 59)}, {"centre": 1}):
        assert not replace(conflict, **wrong).verify()
    few = PrivacyType(graph(joined), alpha="1/50")
    assert not replace(conflict, ptype=few).verify()
    assert not replace(universal_nib(few), mechanism=Channel(np.eye(60, dtype=object))).verify()


def test_the_priors_of_a_conflict_have_no_common_optimum():
    """The least of the largest regrets over the priors of a star is above 0 by the program, and 0 below the level."""
    star = PrivacyType(graph([(0, 1), (0, 2), (0, 3)]), alpha="3/5")
    against = [prior for prior, _, _ in universal_nib(star).conflict.priors()]
    best = [least_nib_loss(star, prior).loss for prior in against]
    cells = vertices(star).weights.astype(float)
    values = [[min(float(p) * v for p, v in zip(prior, cell, strict=True)) for cell in cells.T] for prior in against]
    program = linprog(
        np.append(np.zeros(cells.shape[1]), 1.0),
        A_ub=np.column_stack([values, -np.ones(len(against))]),
        b_ub=np.array(best, dtype=float),
        A_eq=np.column_stack([cells, np.zeros(len(cells))]),
        b_eq=np.ones(len(cells)),
    )
    assert program.fun > 1e-4


def test_the_uniform_prior_gives_the_additive_capacity():
    """1 - n loss is the additive capacity of the line: 1/3, 1/2, 2/3, 3/4, 5/6 (table 4)."""
    capacities = []
    for n in range(2, 7):
        found = least_nib_loss(PrivacyType(counts(n - 1), alpha="1/2"), priors.uniform(n))
        capacities.append(1 - n * found.loss)
    assert [str(c) for c in capacities] == ["1/3", "1/2", "2/3", "3/4", "5/6"]


def test_false_certificates_for_nib_are_refused():
    found = least_nib_loss(PrivacyType(counts(3), alpha="1/3"), priors.from_counts([1, 2, 3, 2]))
    assert found.verify()
    assert not replace(found, loss=found.loss * Fraction(99, 100)).verify()
    assert not replace(found, packing=found.packing * 2).verify()
    assert not replace(found, packing=-found.packing).verify()
    assert not replace(found, prior=found.prior[::-1]).verify()


def test_what_nib_refuses():
    line = PrivacyType(counts(2), alpha="1/2")
    for ptype, prior in (
        (PrivacyType(discrete(3), alpha="1/2"), priors.uniform(3)),
        (PrivacyType(counts(2), epsilon=1), priors.uniform(3)),
        (line, [0.5, 0.25, 0.25]),
    ):
        with pytest.raises(Unsupported, match=r"on trees|must be exact"):
            least_nib_loss(ptype, prior)
    with pytest.raises(NotAPrior, match="3 probabilities"):
        least_nib_loss(line, priors.uniform(2))


def test_a_proof_without_a_cell_or_a_dual_proves_nothing():
    """Without one of its cells a proof covers not all priors; and sums of floats are rounded."""
    proof = universality(PrivacyType(counts(2), **HALF), losses.binary, geometric_channel(3, **HALF)).certificate
    prior, dual = next(iter(proof.duals.items()))
    assert proof.verify()
    for changed in (dual[:2], (*dual, Fraction(0)), tuple(map(float, dual)), (float("nan"),) * 3):
        assert not replace(proof, duals={**proof.duals, prior: changed}).verify()
    assert not replace(proof, duals={one: z for one, z in proof.duals.items() if one != prior}).verify()
    cells = proof.cells.cells
    for k in range(len(cells)):
        rest = replace(proof.cells, cells=cells[:k] + cells[k + 1 :])
        assert not replace(proof, cells=rest).verify()


def test_a_remap_of_some_outcomes_alone_attains_nothing():
    found = least_nib_loss(PrivacyType(counts(4), **HALF), priors.uniform(5))
    assert found.verify()
    assert not replace(found, actions=found.actions[:1]).verify()
    assert not replace(found, actions=(5, 0)).verify()
    assert not replace(found, mechanism=geometric_channel(5, **HALF)).verify()
    assert not replace(found, packing=found.packing[:4]).verify()


def test_a_proof_is_of_its_type():
    """A mechanism outside the type beats all in it, and conflicts with all; and each type has its own vertices."""
    ptype, tight = PrivacyType(discrete(3), **HALF), PrivacyType(discrete(3), alpha="1/5")
    verdict = universal_mechanism(ptype, losses.binary)
    proof, conflict = verdict.certificate, verdict.conflict
    assert proof.verify()
    assert conflict.verify()
    assert not replace(proof, ptype=tight).verify()
    assert not replace(conflict, ptype=tight).verify()
    open_book = Channel([[int(x == y) for y in range(3)] for x in range(3)])
    cells = type(proof.cells).of(open_book.matrix, proof.loss)
    duals = {prior: (Fraction(0),) * 3 for prior in cells.priors}
    assert not replace(proof, channel=open_book, slack=Fraction(0), cells=cells, duals=duals).verify()
    mechanisms = (open_book,) * len(conflict.priors)
    assert not replace(conflict, mechanisms=mechanisms, regret=sum(conflict.multipliers)).verify()
    for other in (Channel([[1], [1]]), Channel(open_book.matrix.astype(float))):
        assert not replace(conflict, mechanisms=(other,) * len(conflict.priors)).verify()
    assert not replace(proof, loss=proof.loss[:2]).verify()


def test_a_conflict_is_of_priors():
    """Masses of 2 have twice the regret, and negative ones any."""
    conflict = universal_mechanism(PrivacyType(discrete(3), **HALF), losses.binary).conflict
    doubled = tuple(2 * prior for prior in conflict.priors)
    twice = tuple(2 * z for z in conflict.multipliers)
    assert not replace(conflict, priors=doubled, multipliers=twice, regret=2 * conflict.regret).verify()
    assert not replace(conflict, priors=(), weights=(), mechanisms=()).verify()
    assert not replace(conflict, priors=tuple(prior[:2] for prior in conflict.priors)).verify()
