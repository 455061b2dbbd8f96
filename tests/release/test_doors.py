"""Doors: columns are handed out by name, and new ones stand behind their owners."""

import numpy as np
import pytest

from utmost.errors import BadTable
from utmost.release import doors


@pytest.mark.parametrize("table", [{"a": [1], "b": np.array([2])}])
def test_the_door_of_a_dict(table):
    door = doors.door_of(table)
    out = door.with_columns(table, {"a": np.array([7]), "a_radius": np.array([1])}, {"a_radius": "a"})
    assert (door.names(table), door.column(table, "a"), door.place(table, 4)) == (["a", "b"], [1], "row 5 (index 4)")
    assert list(out.items()) == [("a", [7]), ("a_radius", [1]), ("b", np.array([2]))]
    assert out["b"] is table["b"]


def test_a_door_is_opened_once():
    class Door:
        def knows(self, table):
            return table == "marked"

    door, before = Door(), list(doors._doors)
    try:
        doors.register(door)
        doors.register(door)
        assert doors._doors == [*before, door]
        assert doors.door_of("marked") is door
    finally:
        doors._doors[:] = before


def test_a_column_that_cannot_be_counted_is_refused():
    with pytest.raises(BadTable, match="column 'a'"):
        doors.door_of({"a": 3}).names({"a": 3})
