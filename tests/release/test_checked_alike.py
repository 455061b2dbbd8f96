"""A table is checked in the same way, whatever memory its release has."""

import numpy as np
import pytest

import utmost as ut
from utmost.errors import BadTable
from utmost.ledger import Ledger, PublishRequest


def once(table, promise, _folder):
    return ut.release(table, promise, epsilon=1, once=True)


def in_this_process(table, promise, _folder):
    return ut.release(table, promise, epsilon=1)


def in_a_ledger(table, promise, folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        return ledger.publish("t", table, promise, epsilon=1)


def with_others(table, promise, folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        request = PublishRequest("t", promise, ut.level(1), "t")
        return ledger.publish_measures([request], {"t": table})["t"]


@pytest.fixture(params=[once, in_this_process, in_a_ledger, with_others])
def released(request, tmp_path):
    return lambda table, promise: request.param(table, promise, tmp_path)


@pytest.mark.parametrize(
    ("true", "copy"),
    [([601.0, 370.0], ["601", "370 "]), ([601, 370], ["601.0", "3.7e2"]), ([601.0, 370.0], [601, 370])],
)
def test_a_copy_is_known_however_its_numbers_are_written(released, true, copy):
    with pytest.raises(BadTable, match="column 'n'"):
        released({"n": true, "copy": copy}, ut.Promise("n", public="copy", unit=ut.Unit(1, 1)))


def test_labels_that_were_declared_beforehand_may_be_what_the_counts_are(released):
    """Refusing such labels would reveal that the counts are equal to them."""
    domain = ut.Domain(size=[1, 2, 3])
    counted = ut.counting.CountedTable(domain, np.array([1, 2, 3]), ut.Unit(1, 1))
    assert list(released(counted, ut.Promise.of_counted(counted)).table["size"]) == [1, 2, 3]


def test_the_name_of_a_margin_is_free_once_the_column_that_has_it_is_dropped(released):
    table = {"n": [601, 370], "n_margin": [1, 2]}
    with pytest.raises(BadTable, match="'n_margin'"):
        released(table, ut.Promise("n", public="n_margin", unit=ut.Unit(1, 1)))
    answer = released(table, ut.Promise("n", drop="n_margin", unit=ut.Unit(1, 1)))
    assert answer.table["n_margin"] == [3, 3]
