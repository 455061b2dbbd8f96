"""Axes that somebody asks a server to make are bounded before they are made."""

import json
import time

import pytest

from utmost import Domain, Unit
from utmost.doors.service.axis_limits import MOST_VALUES, check_axes
from utmost.doors.service.page_counted import brought_counted, planned
from utmost.doors.service.terms import Terms
from utmost.errors import OutOfRange
from utmost.publish.ledger.promise import strategy_text
from utmost.publish.workloads import Strategy, bins

LONG = [
    {"bins": [0, 10**8]},
    {"bins": [0, 1], "width": "1e-7"},
    {"bins": ["-1e15", "1e15"]},
    {"periods": ["0001", "9998"], "every": "hour"},
    {"periods": ["0001-01-01", "2900-01-01"], "every": "day"},
]


@pytest.mark.parametrize("axis", LONG)
def test_a_long_axis_is_refused_before_it_is_made(axis):
    strategy = json.loads(strategy_text(Strategy(Domain(age=bins(4)), Unit(1, 1), {"age": 1})))
    strategy["domain"]["age"] = axis
    start = time.process_time()
    with pytest.raises(OutOfRange, match="over the wire"):
        Terms.read({"strategy": json.dumps(strategy)})
    for reads in (brought_counted, planned):
        with pytest.raises(OutOfRange, match="over the wire"):
            reads(json.dumps({"domain": {"age": axis}}).encode())
    assert time.process_time() - start < 1


def test_what_is_no_domain_is_refused_where_it_is_read():
    for axis in (7, {"bins": 7}, {"bins": ["x", None]}, {"bins": [0, 9], "width": 0}, {"periods": [1, 2]}):
        check_axes({"a": axis})
    for strange in (None, 7, "x", [1]):
        check_axes(strange)
    longest = {"bins": [0, MOST_VALUES]}
    check_axes({"a": longest, "t": {"periods": ["2013", "2023"], "every": "hour"}})
    with pytest.raises(OutOfRange):
        check_axes({"a": {"bins": [0, MOST_VALUES + 1]}})
