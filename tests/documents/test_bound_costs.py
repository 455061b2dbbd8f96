"""What a bound costs and cuts: known noise, estimates with bars that hold, and what the choice itself costs."""

from fractions import Fraction
from math import hypot
from pathlib import Path

import numpy as np
import pytest

import utmost as ut
from goodness import LEVEL, no_more_often
from utmost.errors import OutOfRange, Unsupported, WrongKind
from utmost.statements import bound_costs

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights.csv"
AIRLINES = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
DOMAIN = ut.Domain(carrier=AIRLINES, month=ut.workloads.bins(1, 13))
BOUNDS = [1, 2, 4, 8]


def histogram(counts, bounds=BOUNDS, name="at_most"):
    domain = ut.Domain({name: ut.workloads.plain(bounds, other="more")})
    return ut.counting.CountedTable(domain, np.array(counts), ut.Unit(1, 1))


# Nobody can have more than all cells.
COUNTED = histogram([100, 40, 30, 30, 0], [1, 2, 4, DOMAIN.size])


def test_what_is_cut_is_what_the_counting_drops():
    """The other way: of the real flights each bound drops so many cells of persons, as the report says."""
    bounds = range(1, 13)
    counted = ut.count_contributions(FLIGHTS, DOMAIN, ut.Counting("aircraft"), "at_most", bounds)
    costs = bound_costs(counted, DOMAIN, epsilon=1, public=True)
    for row in costs.rows[::4]:
        report = ut.count_table(FLIGHTS, DOMAIN, ut.Counting("aircraft", at_most=row.bound)).report
        assert (row.lost.value, row.lost.margin) == (report.removed, 0)
    assert [row.bound for row in costs.rows] == list(bounds)
    assert costs.paid is None
    assert "costs no level" in str(costs)


def test_the_margin_is_that_of_the_table_that_is_released():
    costs = bound_costs(COUNTED, DOMAIN, epsilon="1/2", public=True, per_cell=3, confidence="0.9")
    for row in costs.rows:
        plan = ut.releases.cell_noise_at(epsilon="1/2", unit=ut.Unit(3, row.bound), confidence="0.9")
        assert row.margin == plan.margin
        assert row.noise == pytest.approx(float(plan.drawn.variance()) ** 0.5)


def test_estimates_between_bounds_are_written_down():
    """Of 4 persons who need 3 or 4 cells each is taken to need 3.5, and the margin reaches to both."""
    costs = bound_costs(histogram([0, 0, 4, 0], [1, 2, 4]), DOMAIN, epsilon=1, public=True)
    assert [row.persons.value for row in costs.rows] == [4, 4, 0]
    assert [row.lost.exact for row in costs.rows] == [4 * Fraction(5, 2), 4 * Fraction(3, 2), 0]
    assert [row.lost.margin for row in costs.rows] == [2, 2, 0]
    assert [row.lost_at_least for row in costs.rows] == [4 * 2, 4 * 1, 0]


def test_beyond_the_largest_bound_a_loss_is_known_from_below_alone():
    """Of 1 person who needs more than 4 nobody says how many: no bound is the best one."""
    costs = bound_costs(histogram([0, 0, 4, 1], [1, 2, 4]), DOMAIN, epsilon=1, public=True)
    assert (costs.best, costs.beyond.value) == (None, 1)
    assert [(row.lost, row.loss, row.error) for row in costs.rows] == [(None, None, None)] * 3
    assert [row.lost_at_least for row in costs.rows] == [4 * 2 + 4, 4 * 1 + 3, 1]
    assert [row.error_at_least for row in costs.rows] == [hypot(row.noise, row.loss_at_least) for row in costs.rows]
    assert costs.table["lost_at_least"].tolist() == [12, 7, 1]
    assert not {"lost", "lost_margin", "error"} & costs.table.keys()
    assert "1 persons have more than 4. List larger bounds" in str(costs)
    assert str(costs).count("at least") == 6
    all_cells = ut.Domain(page=list("abcd"))  # whatever a noisy count says, nobody has a fifth
    assert bound_costs(histogram([0, 0, 4, 1], [1, 2, 4]), all_cells, epsilon=1, public=True).best is not None


def test_persons_are_scaled_to_a_public_number():
    thousand = bound_costs(histogram([0, 0, 4, 1], [1, 2, 4]), DOMAIN, epsilon=1, public=True, persons=1000)
    assert [row.persons.value for row in thousand.rows] == [1000, 1000, 200]


def test_the_error_of_a_sum_is_its_noise_and_its_part_of_the_loss():
    cells, total = (bound_costs(COUNTED, DOMAIN, epsilon=1, public=True, marginal=marginal) for marginal in (None, ""))
    by_carrier = bound_costs(COUNTED, DOMAIN, epsilon=1, public=True, marginal="carrier")
    for cell, carrier, whole in zip(cells.rows, by_carrier.rows, total.rows, strict=True):
        assert carrier.noise == pytest.approx(cell.noise * 12**0.5)
        assert whole.noise == pytest.approx(cell.noise * DOMAIN.size**0.5)
        assert cell.loss * DOMAIN.size == pytest.approx(carrier.loss * 16) == pytest.approx(whole.loss)
        assert whole.loss == pytest.approx(float(whole.lost.exact))
        assert cell.error == pytest.approx(hypot(cell.noise, cell.loss))
    assert total.best >= by_carrier.best >= cells.best
    assert min(total.table["error"]) == dict(zip(total.table["at_most"], total.table["error"], strict=True))[total.best]
    full = bound_costs(COUNTED, DOMAIN, epsilon=1, public=True, per_cell=7)
    assert [row.loss for row in full.rows] == [pytest.approx(7 * row.loss) for row in cells.rows]


def test_the_square_of_a_noisy_loss_is_less_its_variance():
    """Or the bound that is least cut would look better than it is, the more the noise."""
    release, variance = planned_of(COUNTED), 0.0
    for row in bound_costs(release, DOMAIN, epsilon=1).rows:
        assert (row.loss * DOMAIN.size) ** 2 == pytest.approx(
            max(0, float(row.lost.exact) ** 2 - row.lost.variance) * (row.lost.exact > 0)
        )
        variance = max(variance, row.lost.variance)
    assert variance > 100


def released_in_every_way(counted, tmp_path):
    """As a table, as a table that was read back, by a plan, by a plan that was read back, and from a ledger."""
    table = ut.release(counted, ut.Promise.of_counted(counted), epsilon="1/10", once=True)
    table.save(tmp_path / "table.csv")
    plan = plan_of(counted)
    planned = ut.release(counted, plan, epsilon="1/10", once=True)
    planned.save(tmp_path / "plan.json")
    with ut.Ledger.open(tmp_path / "ledger.db", create=True) as ledger:
        kept = ledger.publish("contributions", counted, ut.Promise(noise=plan), epsilon="1/10")
    return [table, ut.read_release(tmp_path / "table.csv"), planned, ut.read_release(tmp_path / "plan.json"), kept]


def test_a_release_of_any_kind_is_read_and_its_level_is_said(tmp_path):
    for release in released_in_every_way(COUNTED, tmp_path):
        costs = bound_costs(release, DOMAIN, epsilon="9/10")
        assert costs.paid == ut.exact.level("1/10")
        assert "they cost epsilon=1" in costs.words
        exact = bound_costs(COUNTED, DOMAIN, epsilon="9/10", public=True)
        assert [row.margin for row in costs.rows] == [row.margin for row in exact.rows]
        assert all(row.persons.margin > 0 for row in costs.rows)
        assert costs.rows[0].lost.variance == bound_costs(planned_of(COUNTED), DOMAIN, epsilon=1).rows[0].lost.variance


def plan_of(counted):
    return ut.workloads.Plan(counted.domain, counted.unit, {"at_most": 1})


def planned_of(counted, epsilon="1/10"):
    return ut.release(counted, plan_of(counted), epsilon=epsilon, once=True)


def test_bars_of_what_is_cut_hold_as_often_as_they_say():
    """40 releases: the true numbers lie within their bars in nine of ten at least, but for chance."""
    # 60 persons need 3 or 4 cells, so that 60 to 120 are lost; of 30 beyond 4 at least 30 more than 4, 90 more than 2.
    counted, closed = histogram([140, 60, 30], [2, 4]), histogram([140, 60, 0], [2, 4])
    hits, runs = np.zeros(4), 40
    for run in range(runs):
        promised = ut.Promise.of_counted(counted) if run % 2 else plan_of(counted)
        release = ut.release(counted, promised, epsilon="1/2", once=True)
        row = bound_costs(release, DOMAIN, epsilon=1, confidence="0.9").rows[0]
        of_closed = bound_costs(planned_of(closed, "1/2"), DOMAIN, epsilon=1, confidence="0.9").rows[0].lost
        within = [of_closed is None or abs(of_closed.value - lost) <= of_closed.margin for lost in (60, 120)]
        hits += [abs(row.persons.value - 90) <= row.persons.margin, row.lost_at_least <= 60 + 90, *within]
    assert min(no_more_often(runs - hit, runs, 0.1) for hit in hits) > LEVEL


def test_the_best_bound_follows_the_data_and_the_noise():
    """Nobody above one cell: one. Everybody at eight, and a high level: eight. A low level: less."""

    def best(counts, **words):
        return bound_costs(histogram(counts), DOMAIN, public=True, **words).best

    assert best([500, 0, 0, 0, 0], epsilon=1) == 1
    assert best([0, 0, 0, 5000, 0], epsilon=10) == 8
    assert best([0, 0, 0, 5000, 0], epsilon="1/100") == 1


def test_amounts_are_in_their_own_unit():
    counted = histogram([5, 3, 0], ["0.5", 20], "per_cell")
    costs = bound_costs(counted, DOMAIN, epsilon=1, public=True, step="0.01", at_most=2)
    unit = ut.Unit(2000, 2, amount=ut.privacy.Amount("amount", "0.01"))
    assert costs.rows[1].margin == ut.releases.cell_noise_at(epsilon=1, unit=unit).margin
    assert costs.name == "per_cell"
    assert costs.rows[0].lost.exact == 3 * (Fraction("20.51") / 2 - Fraction("0.5"))


@pytest.mark.parametrize(
    ("contributions", "words", "error"),
    [
        (COUNTED, {}, OutOfRange),
        (planned_of(COUNTED), {"public": True}, OutOfRange),
        (planned_of(COUNTED), {"persons": 7}, OutOfRange),
        (COUNTED, {"public": True, "persons": 0}, OutOfRange),
        (COUNTED, {"public": True, "at_most": 2}, OutOfRange),
        (histogram([1, 1], [3], "per_cell"), {"public": True, "per_cell": 2}, OutOfRange),
        (histogram([1, 1], [3], "hour"), {"public": True}, OutOfRange),
        (
            ut.count_table({"p": [1], "sex": ["m"]}, ut.Domain(sex=["m"]), ut.Counting(each_row=True)),
            {"public": True},
            OutOfRange,
        ),
        ({1: 7}, {"public": True}, WrongKind),
        (
            ut.release(
                COUNTED,
                ut.Promise(COUNTED.column, public="at_most", noise=ut.CellNoise(COUNTED.unit, numbers="reals")),
                epsilon=1,
                once=True,
            ),
            {},
            Unsupported,
        ),
    ],
)
def test_what_is_no_choice_is_refused(contributions, words, error):
    with pytest.raises(error):
        bound_costs(contributions, DOMAIN, epsilon=1, **words)
    with pytest.raises(WrongKind):
        bound_costs(COUNTED, {"page": ["A"]}, epsilon=1, public=True)


def test_it_draws_itself():
    pytest.importorskip("matplotlib")
    figure = ut.plot(bound_costs(COUNTED, DOMAIN, epsilon=1, public=True))
    assert figure.axes[0].get_xlabel() == "at_most"
    assert len(figure.axes[0].lines) == 4
