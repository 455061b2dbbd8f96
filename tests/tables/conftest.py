"""What several tests of tables share."""

import pytest


@pytest.fixture(params=["polars", "duckdb"])
def lazily(request):
    """Columns to a frame of each engine on this machine."""
    pytest.importorskip("duckdb")
    from engine_tables import ENGINES

    return ENGINES[request.param]
