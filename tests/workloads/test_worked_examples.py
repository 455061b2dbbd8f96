"""Small examples with known results, for functions of plans, bounds and estimates that no public name gives alone."""

from fractions import Fraction

import numpy as np
import pytest

# A plan has each of these among much else, and is nearly as good without it.
from utmost.core.noise.joint_cells import RotatedPair
from utmost.core.programs.linear_program import LinearProgram
from utmost.exact import level
from utmost.privacy import Unit
from utmost.publish.workloads.bounds.bound_inequalities import answer_below, variance_below
from utmost.publish.workloads.bounds.clean_certificate import rounded_up
from utmost.publish.workloads.bounds.one_way_volume import one_way_bound, one_way_volume
from utmost.publish.workloads.bounds.rotated_bounds import integer_rows_bound, joint_times
from utmost.publish.workloads.bounds.workload_evidence import changed_by_one
from utmost.publish.workloads.measuring import spectra
from utmost.publish.workloads.measuring.forms import numbers_of, selected
from utmost.publish.workloads.measuring.least_draw import least_draw
from utmost.publish.workloads.measuring.marginal_spaces import MarginalSpaces, part_energies
from utmost.publish.workloads.measuring.measured_families import family_in_words, is_difference, measured_family
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.measuring.product_rows import AxisRows, ProductRows
from utmost.publish.workloads.measuring.row_sets import row_sums
from utmost.publish.workloads.measuring.unit_charge import TOTAL_FREE, ShareCondition, is_total, share_conditions
from utmost.publish.workloads.measuring.variance_components import relative_precision
from utmost.publish.workloads.planning.candidate_families import candidate_families
from utmost.publish.workloads.planning.marginal_search import marginal_shares
from utmost.publish.workloads.planning.row_search import descended, few_levels, real_rows, whole_rows
from utmost.publish.workloads.planning.signed_search import grouped_rows, paired_rows, signed_rows
from utmost.publish.workloads.reconstruction.certain_inverse import rounded_inverse
from utmost.publish.workloads.reconstruction.clean import least_whole_flow
from utmost.publish.workloads.reconstruction.hat_reconstruction import HatReconstruction
from utmost.publish.workloads.reconstruction.inner_optimum import ChainSums
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.reconstruction.marginal_reconstruction import MarginalReconstruction
from utmost.publish.workloads.reconstruction.product_reconstruction import ProductReconstruction
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts, places_of_labels
from utmost.publish.workloads.reconstruction.whole_flows import whole_flow
from utmost.workloads import Domain, Workload, between, edges

SEXES = Domain(sex=["men", "women"])


@pytest.mark.parametrize(
    ("spectrum", "squares"),
    [
        (spectra.group_spectrum((1, 25, 200), 1), ["0", "175/8", "25/8"]),
        (spectra.row_spectrum((1, 2, 4), np.array([True, True, True, False])), ["1/2", "1/4", "9/4"]),
        (spectra.rows_spectrum((1, 2), np.array([[2, -1], [1, 1]], dtype=object)), ["9/2", "5/2"]),
        (spectra.window_spectrum((1, 2, 4), 2), ["1", "2", "3"]),
        (spectra.runs_spectrum((1, 3), [0, 1]), ["4/3", "5/3"]),
        (spectra.prefix_spectrum((1, 2)), ["1/2", "5/2"]),
        (spectra.range_spectrum((1, 2)), ["1", "3"]),
    ],
)
def test_spectra(spectrum, squares):
    assert list(map(str, spectrum)) == squares


def test_forms():
    form = selected(Domain(age=["young", "old"], sex=["men", "women"]), {"sex": "men"}, {"age": ["1/2", 3]})
    assert ([factor.tolist() for factor in form.factors], form.denominator) == ([[1, 6], [1, 0]], 2)
    age = edges([16, 25, 45, None], missing="not stated")
    numbers = numbers_of(age, 0, {"45+": 60}, "age", np.array([1, 1, 1, 0]))
    assert numbers == [20, Fraction(69, 2), 60, 0]


def test_measured_families():
    domain = Domain(age=range(100), sex=["men", "women"])
    assert measured_family(domain, "age~16 sex") == (-16, 0)
    assert domain.family_name((-16, 0)) == "age~16 sex"
    assert family_in_words(domain, (-16, 0)) == "hat functions of age, 16 apart, by sex"
    assert family_in_words(domain, (0, 1)) == "age"
    assert (is_difference((0, -1)), is_difference((0, -2))) == (True, False)
    totals = Domain(sex=["men", "women"], country=["FR"])
    assert [is_total(totals, family) for family in totals.families()] == [False, False, True, True]
    values = np.array([1, 2, 3, 4])
    assert (row_sums(values, 4, 1, 2).tolist(), row_sums(values, 4, 1, -2).tolist()) == ([3, 7], [1, 8, 11])


def test_sums_and_differences_weigh_an_answer():
    """An answer c_1 x_1 + c_2 x_2 is (c_1 + c_2)/2 of a sum and (c_1 - c_2)/2 of a difference."""
    domain = Domain(row=list("ABC"), column=["applied", "admitted"])
    sides = PairAxis.of(domain, "column").sides(Workload(domain, {"row column": 1, "row": 1}))
    assert [side.weight for side in sides] == [Fraction(5, 4), Fraction(1, 4)]


def test_residual_subspaces():
    spaces = MarginalSpaces.of(Domain(a=range(3), b=range(4), c=range(5)), [(0, 0, 1), (1, 0, 0)])
    assert {space: at for space, at in spaces.covers.items() if len(at) > 1} == {((1, 0),): [0, 1], (): [0, 1]}
    energies = part_energies(Workload(Domain(sex=["men", "women"], age=range(5)), {"sex": 1}))
    assert energies == [{(): Fraction(1, 4), ((0, 0),): Fraction(1, 4)}]


def test_charges_and_what_they_leave_room_for():
    cells = Domain(cell=range(100))
    counts = Unit(1, 1, "change-one", nonnegative=True)
    assert share_conditions(counts, 100) == (ShareCondition(Fraction(1), Fraction(1)),)
    assert [condition.scale for condition in share_conditions(Unit(1, 6), 1)] == [6]
    assert TOTAL_FREE.shares(cells, {(0,): Fraction(1), (1,): Fraction(0)}) == {(0,): 1, (1,): 1}
    assert changed_by_one(Unit(1, 3, "change-one"), level(1))[1].epsilon == Fraction(1, 2)


def test_precisions_and_weights():
    assert [float(relative_precision(share, 5000.0)) for share in (0.0, 1.0)] == [0.0, 1.0]
    assert float(relative_precision(0.5, 1e-9)) == 0.25
    law = least_draw(level(1), Unit(5, 2, nonnegative=True), 2)
    assert repr(law) == "CellsDraw(epsilon=1, sensitivity=5, cells=2, changed=2, step=4)"


def test_shares():
    wanted = Workload(Domain(a=range(3), b=range(4), c=range(5)), {"a b": 1, "b": 1})
    assert candidate_families(wanted) == {(0, 0, 1): 2, (0, 1, 1): 2, (1, 0, 1): 2, (1, 1, 1): 2}
    domain = Domain({f"x{i}": range(2 + i) for i in range(4)})
    tables = Workload(domain, dict.fromkeys(("x0 x1", "x0 x2", "x1 x3"), 1), per_answer=True)
    shares = marginal_shares(tables, 1.0, ShareCondition(Fraction(1)))
    assert sorted(map(str, shares.values())) == ["1653/5000", "2509/10000", "837/2000"]


def test_searched_rows():
    prefixes = np.tri(16).T @ np.tri(16) / 16
    assert round(real_rows(prefixes, 2, 1.0, exact=False).error, 1) == 13.2 < 2 * prefixes.trace()
    assert few_levels(np.array([1.0, 1.0, 4.0, 4.0]), 2).tolist() == pytest.approx([1, 1, 4, 4])
    rows = whole_rows(np.array([[0.3, 0.3], [0.3, 0.0]]), np.array([0.4, 0.7]), 1.0, 10)
    assert rows.tolist() == [[3, 3], [3, 0]]
    least = descended(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2), 50)
    assert least.tolist() == pytest.approx([3, 3])
    found, shares = signed_rows(3, 1.0)
    listed = sorted(zip(map(str, shares), found, strict=True))
    assert listed == [("7/15", (1, -1, 0)), ("7/15", (1, 1, -1)), ("8/15", (0, 0, 1))]
    assert grouped_rows(8, 1.0)[0] == (3, 5)
    assert paired_rows(2)[0] == (
        (1, 0, 0, 0, 0),
        (0, 1, -1, 0, 0),
        (1, -1, -1, 0, 0),
        (0, 0, 0, 1, -1),
        (1, 0, 0, -1, -1),
    )


def test_bounds():
    assert float(variance_below(level(1))) == pytest.approx(1.841347188)
    answers = [float(answer_below(level(1), Fraction(D), True)) for D in (1, 2)]
    assert answers == pytest.approx([1.8413, 7.5891], abs=1e-4)
    assert rounded_up(Fraction("0.0012341")) == Fraction("0.00124")
    assert (rounded_up(Fraction(2)), rounded_up(Fraction(99_911))) == (2, 100_000)
    assert (one_way_volume([2, 2], is_joined=False), one_way_volume([2], is_joined=True)) == (2, 3)
    domain = Domain({name: range(5) for name in "abcdefghij"})
    bound = one_way_bound(Workload(domain, dict.fromkeys(domain.columns, 1)), Unit(1, 1))
    assert bound == pytest.approx(595.5, abs=0.05)
    pair = PairAxis.of(Domain(row=range(3), column=["a", "b"]), "column")
    least = integer_rows_bound(pair, Workload(pair.domain, {"row column": 1}), Unit(1, 2), level(1))
    assert RotatedPair(1).variance / least == pytest.approx(1.0638, abs=1e-4)
    times = [joint_times(Unit(1, 2), level(epsilon)) for epsilon in ("1/4", 1, 2, 3)]
    assert times == pytest.approx([1.0, 0.996, 0.947, 0.804], abs=1e-3)


def test_estimates():
    assert rounded_inverse(np.array([[2, 1], [1, 2]], dtype=object), 100).tolist() == [[67, -33], [-33, 67]]
    sums, divisor = Reconstruction(SEXES, {(0,): 1, (1,): 2}).estimates(
        {(0,): np.array([3, 4]), (1,): np.array([12])}, (0,)
    )
    assert (sums / divisor).tolist() == [5.0, 6.0]
    marginal = MarginalReconstruction(Domain(sex=["men", "women"], age=range(3)), {(0, 1): 1, (-1, 0): 1, (1, 0): 1})
    tables = {(0, 1): np.array([7, 4]), (-1, 0): np.array([3, 0, 0]), (1, 0): np.array([5, 4, 2])}
    sums, divisor = marginal.estimates(tables, (0, 0))
    assert (sums / divisor).tolist() == [4.0, 2.0, 1.0, 1.0, 2.0, 1.0]


def test_estimates_from_sums_without_noise_are_the_cells():
    cells = np.array([5, 0, 2, 1])
    hats = HatReconstruction(Domain(age=range(4)), {(0,): 3, (-2,): 1})
    sums, divisor = hats.estimates({family: hats.domain.sums(cells, family) for family in hats.weights}, (0,))
    assert (sums // divisor).tolist() == cells.tolist()
    rows = ProductRows(Domain(age=range(3)), (AxisRows(0, np.array([[1, 1, 0]]), 2),))
    products = ProductReconstruction(rows, dict.fromkeys(rows.shares, 1))
    sums, divisor = products.estimates(rows.sums(np.array([5, 0, 2]), list(rows.shares)), (0,))
    assert (sums // divisor).tolist() == [5, 0, 2]


def test_clean_tables():
    facts = PublicFacts.of_places(SEXES, [((1,), 0, 9), ((0,), 1, between(2, 5))])
    assert facts.words == "total = 9; sex=women from 2 to 5"
    assert places_of_labels(Domain(sex=["men", "women"], year=[1, 2]), (1, 0)) == {("1",): 0, ("2",): 1}
    rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    flow = whole_flow(np.full(4, 0.5), np.array([0.0, 1, 1, 1]), [[rows], [columns]])
    assert flow.tolist() == [1.0, 0.0, 0.0, 1.0]
    pair, one = np.array([0, 0]), [np.ones(1)]
    inner = ChainSums([pair], one, one).inner_optimum(np.array([1.0, 2]))[0]
    assert inner.tolist() == pytest.approx([1, 0], abs=1e-6)
    program = LinearProgram.of_triplets(
        [0.4, 0.6], [0, 0], [0, 1], [1, 1], [1], [1], column_lower=[0, 0], column_upper=[1, 1]
    )
    assert least_whole_flow(program, ChainSums([pair], one, one), [[pair], []]).tolist() == [1.0, 0.0]
