"""Mistakes that lose privacy or mislead, from counting to a published table: each is refused, and says what to do."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import utmost as ut
from utmost.errors import BadTable, NotDeclared, NotDetermined, OutOfRange

DOMAIN = ut.Domain(ward=["A", "B"], outcome=["admitted", "rejected"])
WARDS, ONE = ut.Domain(ward=["A", "B"]), ut.Unit(1, 1)
EVENTS = {"person": ["p", "q"], "ward": ["A", "B"], "outcome": ["admitted", "rejected"]}


def more_admitted_than_applied():
    table = {"ward": ["A", "B"], "applicants": [10, 7], "admitted": [4, 8]}
    ut.counting.cells_table(table, DOMAIN, nested={"outcome": ["admitted", "applicants"]}, unit=ONE)


def a_share_for_an_undeclared_marginal():
    ut.workloads.Plan(DOMAIN, ONE, {"ward outcome": "1/2", "warden": "1/2"})


def a_plan_that_leaves_a_wanted_table_open():
    ut.workloads.Plan(DOMAIN, ONE, {"ward": 1}, ut.Workload(DOMAIN, {"outcome": 1}))


def an_answer_that_was_not_measured():
    released = ut.release(
        np.ones((2, 2), dtype=int), ut.workloads.Plan(DOMAIN, ONE, {"ward": 1}), epsilon=1, once=True
    ).table
    released.ratio({"outcome": "admitted"}, {})


def events_of_nobody():
    ut.count_table({**EVENTS, "person": ["p", None]}, DOMAIN, ut.Counting("person", at_most=1))


def a_domain_learned_from_the_events():
    ut.count_table(EVENTS, None, ut.Counting("person", at_most=1), by=["ward", "outcome"])


def a_smaller_unit_than_was_counted():
    counted = ut.count_table(EVENTS, DOMAIN, ut.Counting("person", at_most=2))
    ut.release(counted, ut.workloads.Plan(DOMAIN, ONE, {"ward": 1}), epsilon=1, once=True)


def amounts_with_a_comma_before_their_decimals():
    events = {"person": ["p", "q"], "ward": ["A", "B"], "paid": ["12,50", "7"]}
    ut.count_table(events, WARDS, ut.Counting("person", at_most=1), measure=ut.sum("paid", per_cell=9))


def persons_of_a_type_that_arrow_cannot_encode():
    events = pa.table({"person": pa.array([b"p" * 16], pa.uuid()), "ward": ["A"]})
    ut.count_table(events, WARDS, ut.Counting("person", at_most=1))


def a_public_time_beyond_the_calendar():
    table = pa.table({"day": pa.array([2**62, 1], pa.timestamp("s")), "n": [1, 2]})
    ut.release(table, ut.Promise("n", public="day", unit=ONE), epsilon=1)


@pytest.mark.parametrize(
    ("use", "kind", "remedy"),
    [
        (a_public_time_beyond_the_calendar, BadTable, "'day'.*Drop the rows"),
        (more_admitted_than_applied, BadTable, "admitted"),
        (a_share_for_an_undeclared_marginal, OutOfRange, "Did you mean 'ward'"),
        (a_plan_that_leaves_a_wanted_table_open, OutOfRange, "Also measure .* or a finer table; or"),
        (an_answer_that_was_not_measured, NotDetermined, "or measure .outcome. or a finer table"),
        (amounts_with_a_comma_before_their_decimals, BadTable, 'decimal=","'),
        (persons_of_a_type_that_arrow_cannot_encode, BadTable, "Cast it to text"),
        (events_of_nobody, BadTable, "every event must name its person"),
        (a_domain_learned_from_the_events, NotDeclared, "must list the possible values"),
        (a_smaller_unit_than_was_counted, OutOfRange, "unit"),
    ],
)
def test_wrong_use_names_its_mend(use, kind, remedy):
    with pytest.raises(kind, match=remedy) as caught:
        use()
    assert getattr(caught.value, "remedy", None), "every one of them says what to do"


def test_a_signalling_nan_in_a_public_column_is_a_label():
    table = {"label": [Decimal("sNaN"), Decimal(1)], "n": [1, 2]}
    assert ut.release(table, ut.Promise("n", public="label", unit=ONE), epsilon=1).rows == 2
