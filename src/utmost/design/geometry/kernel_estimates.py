"""Estimate the number of kernels of a privacy type that has too many to list, from random sets of its vertices."""

from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer, optional, real
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.geometry.kernel_supports import is_kernel_support, scaled_differences
from utmost.design.geometry.vertex_search import Vertices, vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import OutOfRange

# Exact numbers decide the sign of a coefficient whose size is below this threshold. Rounding errors are far smaller.
_NEAR_ZERO = 1e-7

_MOST_SAMPLES = 10**9


@dataclass(frozen=True, slots=True, repr=False)
class KernelEstimate(Display):
    """An unbiased estimate of the number of kernels, with a confidence interval."""

    value: float
    low: float  # interval from the normal approximation of the mean of the samples
    high: float
    confidence: float
    samples: int


@progress_bar("Sampling kernels")
def estimate_kernels(
    ptype: PrivacyType,
    samples: int,
    generator: np.random.Generator,
    size: int | None = None,
    confidence: float = float(DEFAULT_CONFIDENCE),
) -> KernelEstimate:
    """Estimate how many kernels of a given size a type has.

    A sample is a random set of size - 1 of the N vertices; its count is the number of vertices that complete it to a
    kernel. A kernel has ``size`` such subsets, so C(N, size-1) / size times the mean count is an unbiased estimate.

    Args:
        ptype: Privacy type with few enough vertices to list.
        samples: Number of samples, at least 2.
        generator: Source of the random sets; no privacy depends on it.
        size: Number of outcomes of the kernels to count; by default n, the number of secrets.
        confidence: Confidence of the interval, between 0 and 1.

    Cost: one linear system with N right-hand sides for each sample.

    >>> from utmost.spaces import counts
    >>> found = estimate_kernels(PrivacyType(counts(4), alpha="1/2"), 500, np.random.default_rng(1))
    >>> found.low < 157 < found.high
    True
    """
    instance(ptype, PrivacyType, "ptype")
    samples = integer(samples, "samples")
    instance(generator, np.random.Generator, "generator")
    size = optional(size, integer, "size")
    confidence = real(confidence, "confidence")
    if exact_integer(samples, "samples") > _MOST_SAMPLES:
        raise OutOfRange(f"samples must be at most {_MOST_SAMPLES}", came=samples, where="estimate_kernels")
    if samples < 2:
        raise OutOfRange("samples must be at least 2", came=samples, where="estimate_kernels")
    if not 0 < confidence < 1:
        raise OutOfRange("confidence must lie strictly between 0 and 1", came=confidence, where="estimate_kernels")
    listed = vertices(ptype)
    n = ptype.space.size
    wanted = n if size is None else exact_integer(size, "size")
    if not 1 <= wanted <= n:
        raise OutOfRange(f"size must lie between 1 and {n}, the number of secrets", came=size, where="estimate_kernels")
    counter = _Completions(listed, scaled_differences(listed))
    counts = np.array(
        [counter.count(generator.choice(len(listed), size=wanted - 1, replace=False)) for _ in range(samples)]
    )
    scale = comb(len(listed), wanted - 1) / wanted
    half = NormalDist().inv_cdf((1 + confidence) / 2) * float(counts.std(ddof=1)) / sqrt(samples)
    mean = float(counts.mean())
    return KernelEstimate(scale * mean, scale * max(mean - half, 0.0), scale * (mean + half), confidence, samples)


@dataclass(frozen=True, slots=True, eq=False)
class _Completions:
    """Count the vertices that complete a set of vertices to a kernel; ``system`` is an array (n, N), see
    `WalkTables`.
    """

    vertices: Vertices
    system: NDArray[np.float64]

    def count(self, chosen: NDArray[np.int64]) -> int:
        """Return the number of vertices that form a kernel with all of the chosen vertices."""
        n, k = len(self.system), len(chosen)
        basis, triangle = np.linalg.qr(self.system[:, chosen], mode="complete")
        if k and np.abs(np.diagonal(triangle)).min() < _NEAR_ZERO:
            return self._exactly(chosen, np.setdiff1d(np.arange(len(self.vertices)), chosen))
        # In this basis the chosen vertices are 0 in the last n - k rows. There, a multiple of the added vertex must
        # equal the target.
        rotated, target = basis.T @ self.system, basis.T[:, 0]
        over = rotated[k:]
        length = np.sqrt((over**2).sum(axis=0))
        last = over.T @ target[k:] / np.maximum(length, _NEAR_ZERO) ** 2
        off = np.abs(target[k:, None] - last * over).max(axis=0) if n - k > 1 else np.zeros(len(last))
        first = np.linalg.solve(triangle[:k], target[:k, None] - last * rotated[:k]) if k else np.empty((0, len(last)))
        least = np.minimum(first.min(axis=0, initial=np.inf), last)
        least[chosen] = -1
        near = length < _NEAR_ZERO
        near[chosen] = False
        # Exact numbers decide the vertices for which a float is too near to 0.
        maybe = near | ((least > -_NEAR_ZERO) & (off < _NEAR_ZERO))
        sure = (least > _NEAR_ZERO) & ~near & (n - k == 1)
        return int((maybe & sure).sum()) + self._exactly(chosen, np.flatnonzero(maybe & ~sure))

    def _exactly(self, chosen: NDArray[np.int64], others: NDArray[np.int64]) -> int:
        """Return how many of the vertices ``others`` form a kernel with all chosen vertices, decided with exact
        numbers.
        """
        return sum(is_kernel_support(self.vertices, [*map(int, chosen), int(j)]) for j in others)
