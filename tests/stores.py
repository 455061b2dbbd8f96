"""Where a ledger may be made, on each store; a file of tests that says ``ONE_STORE = True`` is content with SQLite."""

import pytest

from postgres import fresh_database


def pytest_generate_tests(metafunc):
    """Every promise is tested on both stores, but where others test it on both already."""
    is_said = any(mark.args[0] == "place" for mark in metafunc.definition.iter_markers("parametrize"))
    if "place" in metafunc.fixturenames and not is_said:
        stores = ["sqlite"] if getattr(metafunc.module, "ONE_STORE", False) else ["sqlite", "postgres"]
        metafunc.parametrize("place", stores, indirect=True)


@pytest.fixture
def place(request, tmp_path):
    """Where a ledger may be made."""
    return tmp_path / "releases.db" if request.param == "sqlite" else fresh_database()
