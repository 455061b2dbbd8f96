"""The geometric mechanism is universally nib-optimal on every line: the proof, as a certificate for each prior.

[fernandes2022], section VI-A, suggests it from tables. Write a for alpha. For every mechanism M of the type and every
t >= 0 with sum_j t[j] a^-|x-j| <= prior[x] for all x,

    sum_y min_x prior[x] M[x, y] >= sum_y min_x sum_j t[j] a^-|x-j| M[x, y] >= sum_jy t[j] M[j, y] = sum_j t[j],

as M[x, y] >= a^|x-j| M[j, y]. The largest such sum is, by duality, the least prior . w with w >= 0 and
h(j) = sum_x w[x] a^-|x-j| >= 1 for all j. Now h(j-1) + h(j+1) = (a + 1/a) h(j) + (1/a - a) w[j], so h is strictly
convex and is 1 at two neighbours at most: a vertex w has at most two entries. One entry: w[x] = 1. Two, u <= j < v:
w[u] = a^(j+1-u) / (1+a) and w[v] = a^(v-j) / (1+a). But these are the chances that the geometric mechanism answers
above j for u, and up to j for v. So prior . w is what it loses with the remap "up to j say v, above j say u" (or
"always say x"), and nobody loses less.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import Remap, geometric_channel
from utmost.errors import NotAPrior, Unsupported
from utmost.exact import Array, Level, checked, fractions, frozen, is_exact
from utmost.privacy import PrivacyType
from utmost.spaces import LineMetric
from utmost.spaces.priors import prior as check_prior


@dataclass(frozen=True, slots=True, eq=False)
class NibOptimum:
    """The least expected nib loss of a prior on a line, attained by the geometric mechanism, with both proofs.

    Attributes:
        prior: (n,) Fractions. level: with rational alpha.
        loss: what the remapped geometric mechanism loses, and no mechanism less than.
        remap: from its outcomes to actions.
        packing: (n,) the t of the bound.
    """

    prior: Array
    level: Level
    loss: Fraction
    remap: Remap
    packing: Array

    def verify(self) -> bool:
        """Whether the remap loses this much, and the packing fits under the prior and sums to it. Cost: O(n^2)."""
        n, alpha = len(self.prior), self.level.alpha_fraction()
        G = geometric_channel(n, self.level).matrix
        lost = sum((self.prior[w] * G[w, y] for y, w in enumerate(self.remap.actions.tolist())), Fraction(0))
        used = np.flatnonzero(self.packing != 0).tolist()
        fits = all(
            sum((self.packing[j] / alpha ** abs(x - j) for j in used), Fraction(0)) <= p
            for x, p in enumerate(self.prior)
        )
        total = sum(self.packing, Fraction(0))
        return bool((self.packing >= 0).all() and fits and lost == total == self.loss)


@checked
def least_nib_loss(ptype: PrivacyType, prior: object) -> NibOptimum:
    """The least expected nib loss over all mechanisms of a line, min over remaps of the geometric one, with proof.

    min of prior[x], and of (a^(j+1-u) prior[u] + a^(v-j) prior[v]) / (1 + a) over u <= j < v.

    Args:
        prior: (n,) exact.
        ptype: on `counts`, with rational alpha.

    Raises:
        Unsupported: for another space, an irrational alpha, and a float64 prior.
        NotAPrior: for another number of secrets.

    Cost: O(n) additions and multiplications of rationals.

    >>> from utmost.spaces import counts, priors
    >>> found = least_nib_loss(PrivacyType(counts(4), alpha="1/2"), priors.uniform(5))
    >>> found.loss, found.remap.actions.tolist(), found.verify()
    (Fraction(1, 20), [4, 4, 0, 0, 0], True)
    """
    belief = check_prior(prior)
    if not isinstance(ptype.space.metric, LineMetric) or not ptype.level.is_rational or not is_exact(belief):
        raise Unsupported("the least nib loss is known on counts, for rational alpha and priors", came=repr(ptype))
    n, alpha = ptype.space.size, ptype.level.alpha_fraction()
    if len(belief) != n:
        raise NotAPrior(f"the prior must have {n} probabilities", came=len(belief))
    single = int(belief.argmin())
    loss, cut = belief[single], None
    below, above = _least_upwards(belief, alpha), _least_upwards(belief[::-1], alpha)[::-1]
    for j in range(n - 1):
        both = (alpha * below[j][0] + alpha * above[j + 1][0]) / (1 + alpha)
        if both < loss:
            loss, cut = both, (below[j][1], j, n - 1 - above[j + 1][1])
    packing = fractions(np.zeros(n, dtype=np.int64))
    if cut is None:
        packing[single] = loss
        return NibOptimum(belief, ptype.level, loss, Remap([single] * n, n), frozen(packing))
    u, j, v = cut
    left, right = belief[u] * alpha ** (j - u), belief[v] * alpha ** (v - j)
    packing[j + 1] = (left - right) / (1 / alpha - alpha)
    packing[j] = right - alpha * packing[j + 1]
    actions = [v if y <= j else u for y in range(n)]
    return NibOptimum(belief, ptype.level, loss, Remap(actions, n), frozen(packing))


def _least_upwards(belief: Array, alpha: Fraction) -> list[tuple[Fraction, int]]:
    """For every j the least a^(j-u) belief[u] over u <= j, and the u."""
    found: list[tuple[Fraction, int]] = []
    for j, p in enumerate(belief):
        found.append(min((alpha * found[-1][0], found[-1][1]), (p, j)) if found else (p, j))
    return found
