"""The lattice of gradual noise: blocks and steps are taken apart exactly, and nothing wraps.

The lattice is imported from where it is: noise near 2^63, at which machine integers wrap, is drawn by nobody's release.
"""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from utmost.privacy import Unit
from utmost.publish.promises.lattice import Lattice, lattice_of

words = st.integers(-(2**63), 2**63 - 1)
edges = st.sampled_from([-(2**63), 1 - 2**63, -1, 0, 1, 2**62, 2**63 - 2, 2**63 - 1]) | words


@given(st.integers(0, 10**6) | st.integers(2**60, 2**64), st.lists(edges, min_size=1, max_size=4))
def test_noise_is_a_place_in_the_middle_of_a_block_and_whole_blocks(half, noise):
    """noise = place + block * steps with |place| at most half a block, in one way only."""
    unit = Lattice(2 * half + 1, 1, 2 * half + 1, None)
    place, coarse = unit.split(np.array(noise, np.int64))
    if half == 0:
        assert place is None
        assert coarse.tolist() == noise
        return
    assert [p + unit.block * c for p, c in zip(place.tolist(), coarse.tolist(), strict=True)] == noise
    assert all(abs(p) <= half for p in place.tolist())
    assert unit.times(coarse).tolist() == [unit.block * c for c in coarse.tolist()]


@given(st.integers(1, 2**64), st.lists(edges, min_size=1, max_size=3))
@example(3, [2**62])
@example(2**63 - 1, [1, -1])
@example(2**63, [0])
def test_whole_blocks_never_wrap(block, coarse):
    assert Lattice(block, 1, block, None).times(np.array(coarse, np.int64)).tolist() == [block * c for c in coarse]


def test_noise_is_geometric_where_nobody_asks_for_half_steps():
    """Two steps have no half-step noise, and geometric noise of any sensitivity."""
    assert lattice_of("integers", Unit(2, 1)).block == 1
