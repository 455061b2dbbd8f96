"""What all tests share: one profile for every property, and names of cases that are the same in every worker."""

import os
import re

from hypothesis import settings

# A busy machine is no failure of a theorem, and forty cases of each keep the suite quick. A gate tries the same cases
# each time; everyone else tries new ones.
settings.register_profile("utmost", deadline=None, max_examples=40, derandomize="CI" in os.environ)
settings.load_profile("utmost")

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def pytest_make_parametrize_id(val):
    """A function's name without its address, which differs from worker to worker."""
    text = repr(val)
    return _ADDRESS.sub("", text) if _ADDRESS.search(text) else None
