"""The joint distribution of planar noise at several levels in closed form, written out beside the library's draws."""

import numpy as np


def joint_transform(frequencies, levels):
    """E exp(i (t_1.V_1 + ... + t_m.V_m)), with one pair t of frequencies for each level.

    The noise at level l is Brownian motion stopped after Gamma(3/2, rate l^2), and what runs on from l_(k+1) down to
    l_k is independent: by sorted levels and T_k = t_1 + ... + t_k the product of (1 + |T_k|^2/l_k^2)^(-3/2), each
    but the last divided by the same with l_(k+1). Source: proofs/theory/planar.md.
    """
    order = np.argsort([level.epsilon_float for level in levels])
    rates = np.array([levels[place].epsilon_float for place in order]) ** 2
    squares = (np.cumsum([frequencies[place] for place in order], axis=0) ** 2).sum(axis=1)
    own, next_one = (1 + squares / rates) ** -1.5, (1 + squares[:-1] / rates[1:]) ** -1.5
    return own.prod() / next_one.prod()
