"""Adapters: columns are handed out by name, and new ones stand behind their owners."""

import numpy as np
import pytest

from utmost.errors import BadTable
from utmost.tables.frames import adapters, any_table


@pytest.mark.parametrize("table", [{"a": [1], "b": np.array([2])}])
def test_the_adapter_of_a_dict(table):
    adapter = any_table.adapter_of(table)
    out = adapter.with_columns(table, {"a": np.array([7]), "a_margin": np.array([1])}, {"a_margin": "a"})
    assert (adapter.names(table), adapter.column(table, "a"), adapter.place(table, 4)) == (
        ["a", "b"],
        [1],
        "row 5 (index 4)",
    )
    assert list(out.items()) == [("a", [7]), ("a_margin", [1]), ("b", np.array([2]))]
    assert out["b"] is table["b"]


def test_an_adapter_is_registered_once():
    class TableAdapter:
        def knows(self, table):
            return table == "marked"

    adapter, before = TableAdapter(), list(adapters._adapters)
    try:
        adapters.register(adapter)
        adapters.register(adapter)
        assert adapters._adapters == [*before, adapter]
        assert any_table.adapter_of("marked") is adapter
    finally:
        adapters._adapters.remove(adapter)  # alone: dataframes may have come in meanwhile


def test_a_column_that_cannot_be_counted_is_refused():
    with pytest.raises(BadTable, match="column 'a'"):
        any_table.adapter_of({"a": 3}).names({"a": 3})
