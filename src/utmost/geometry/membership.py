"""Is a given mechanism a vertex mechanism, is it a kernel?"""

import numpy as np

from utmost.channels import Channel
from utmost.exact import checked
from utmost.geometry.decomposition import RationalCone
from utmost.geometry.linear import null_vector
from utmost.privacy import PrivacyType


@checked
def is_vertex_mechanism(channel: Channel, ptype: PrivacyType) -> bool:
    """Whether every outcome that occurs leaves a vertex of the type behind: its tight pairs join all secrets.

    Args:
        channel: (n, m) of Fractions.
        ptype: a type with rational alpha^d.

    Raises:
        Unsupported: for a float64 channel, and where some alpha^d is irrational.
        PromiseBroken: for a channel outside the type.

    Source: [fernandes2022], definition 4.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> is_vertex_mechanism(geometric_channel(3, alpha="1/2"), PrivacyType(counts(3), alpha="1/2"))
    True
    """
    cone = RationalCone.of(channel, ptype)
    return all(_joins_all(cone.tight(list(column))) for column in channel.matrix.T if any(column))


@checked
def is_kernel(channel: Channel, ptype: PrivacyType) -> bool:
    """Whether the posteriors of a channel are vertices and linearly independent; proportional columns count as one.

    Raises:
        Unsupported, PromiseBroken: as `is_vertex_mechanism`.

    Source: [fernandes2022], definition 5. The geometric mechanism is a kernel on the line (lemma 19), randomised
    response on the discrete space (lemma 21).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> is_kernel(geometric_channel(3, alpha="1/2"), PrivacyType(counts(3), alpha="1/2"))
    True
    """
    if not is_vertex_mechanism(channel, ptype):
        return False
    posteriors = {tuple(column / column.sum()) for column in channel.matrix.T if any(column)}
    return len(posteriors) <= channel.shape[0] and null_vector(sorted(posteriors)) is None


def _joins_all(tight: np.ndarray) -> bool:
    reached = np.zeros(len(tight), dtype=bool)
    reached[0] = True
    near = tight | tight.T
    while (more := reached | near[reached].any(axis=0)).sum() > reached.sum():
        reached = more
    return bool(reached.all())
