"""Estimates of the number of clients with each candidate word, from counts of reports, with standard errors.

Let n_wj be the number of clients of cohort j with word w. The expected number of true ones at place i is
t_ij = sum_w B_wij n_wj, where B_wij is 1 if w sets place i in cohort j. Cohorts are drawn at random, so n_wj is N_w/c
on average, and a regression estimates the N_w. Words that are no candidates raise all places about equally.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, sequence_of, text
from utmost.core.exact.arrays import Floats, as_array
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, between_0_and_1, read_confidence
from utmost.design.local.bits import BitResponse
from utmost.design.local.words import Bloom, BloomCounts
from utmost.errors import OutOfRange, SolverFailed

# After this many block exchanges without progress, single exchanges are used.
_PATIENCE = 5
# The product of this number and the largest entry is added to the diagonal: dependent columns get equal coefficients.
_RIDGE = 1e-11


def nonnegative_least_squares(gram: Floats, moments: Floats, *, tolerance: float = 1e-9) -> Floats:
    """Return the x >= 0 that minimises x'Gx/2 - b'x, for G = A'A and b = A'y: the minimum of ||Ax - y||."""
    # Block principal pivoting is fast for nearly independent columns. If it makes no progress, the active-set method of
    # Lawson and Hanson follows, which always terminates. The Karush-Kuhn-Tucker conditions hold for the result.
    gram, moments = (
        as_array(gram, "gram", ndim=2).astype(np.float64),
        as_array(moments, "moments", ndim=1).astype(float),
    )
    size = len(moments)
    if gram.shape != (size, size):
        raise OutOfRange(f"gram must have the shape ({size}, {size})", came=str(gram.shape))
    if not size or not np.diag(gram).max() > 0:
        return np.zeros(size)
    ridged = gram + _RIDGE * float(np.diag(gram).max()) * np.eye(size)
    slack = tolerance * max(1e-300, float(np.abs(moments).max()))
    solution = _by_blocks(ridged, moments, slack)
    return solution if solution is not None else _one_by_one(ridged, moments, slack)


def _by_blocks(gram: Floats, moments: Floats, slack: float) -> Floats | None:
    """Free all places at 0 with a negative gradient, fix all negative places, and repeat; None without progress."""
    free, fewest, patience = np.zeros(len(moments), np.bool_), len(moments) + 1, _PATIENCE
    while patience:
        x = _solution_on(gram, moments, free)
        wrong = np.where(free, x < 0, gram @ x - moments < -slack)
        count = int(np.count_nonzero(wrong))
        if not count:
            return x
        fewest, patience = (count, _PATIENCE) if count < fewest else (fewest, patience - 1)
        free = free ^ wrong
    return None


def _one_by_one(gram: Floats, moments: Floats, slack: float) -> Floats:
    """Free the place with the steepest descent, move towards the solution until a coefficient reaches 0, and fix it."""
    x, free = np.zeros(len(moments)), np.zeros(len(moments), np.bool_)
    for _ in range(30 * len(moments)):
        descent = np.where(free, -np.inf, moments - gram @ x)
        best = int(np.argmax(descent))
        if descent[best] <= slack:
            return x
        free[best] = True
        wanted = _solution_on(gram, moments, free)
        while (falling := free & (wanted <= 0)).any():
            # Move until the first coefficient reaches 0.
            shares = x[falling] / np.maximum(x[falling] - wanted[falling], 1e-300)
            x = x + float(shares.min()) * (wanted - x)
            free[np.flatnonzero(falling)[shares <= shares.min()]] = False
            x = np.where(free, np.maximum(x, 0), 0.0)
            wanted = _solution_on(gram, moments, free)
        x = wanted
    raise SolverFailed(
        "the active set must stop changing",
        came=f"changes after {len(moments)} places",
        where="nonnegative_least_squares",
        remedy="Pass a larger tolerance.",
    )


def _solution_on(gram: Floats, moments: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return the solution that is 0 at all places that are not free."""
    places = np.flatnonzero(free)
    x = np.zeros(len(moments))
    x[places] = np.linalg.solve(gram[np.ix_(places, places)], moments[places])
    return x


@dataclass(frozen=True, slots=True, repr=False)
class FoundWord(Display):
    """A candidate word that some clients have, according to the reports.

    Attributes:
        word: Word.
        count: Estimated number of clients with the word.
        error: Standard error of the count.
        p_value: p-value of the hypothesis that no client has the word, before the correction for many candidates.
    """

    word: str
    count: float
    error: float
    p_value: float

    def interval(self, confidence: Number = DEFAULT_CONFIDENCE) -> tuple[float, float]:
        """Return a normal confidence interval of the count, cut off at 0.

        >>> [round(end) for end in FoundWord("mary", 1000.0, 50.0, 0.0).interval()]
        [902, 1098]
        """
        reach = NormalDist().inv_cdf((1 + float(read_confidence(confidence))) / 2) * self.error
        return max(0.0, self.count - reach), self.count + reach


@dataclass(frozen=True, slots=True, repr=False)
class Decoding(Display):
    """The words found, most frequent first, and the estimated remainder."""

    found: tuple[FoundWord, ...]  # candidates that are significant
    others: float  # estimated number of clients with other words
    # Residual variance divided by the variance that the model expects. Above 1, missing or rare words are likely, and
    # the standard errors have been widened.
    spread: float

    def count(self, word: str) -> float:
        """Return the estimate for a word; 0 if the word was not found."""
        return next((each.count for each in self.found if each.word == word), 0.0)


def decode(
    counts: BloomCounts,
    response: BitResponse,
    bloom: Bloom,
    candidates: Sequence[str],
    *,
    significance: Number = "0.05",
) -> Decoding:
    """Find the candidate words that clients have, and estimate the number of clients with each.

    1. Estimate the number of true ones at every place, without bias.
    2. Keep the candidates whose places have the largest estimates, half as many candidates as there are places.
    3. Regress on these, with nonnegative coefficients (and one more coefficient for all other words).
    4. Regress on the candidates with a positive coefficient by weighted least squares. Remove the least significant
       candidates until all are significant. Standard errors include the responses, the random cohorts and the residuals
       of the model.

    Args:
        counts: Numbers of ones and of clients in the reports.
        response: Response from true bit to report.
        bloom: Bloom filter of the reports.
        candidates: Distinct words.
        significance: Probability that any word is found that no client has, divided equally among all candidates
            (Bonferroni).

    Raises:
        OutOfRange: for repeated candidates, counts of a wrong shape, no clients, and a significance outside (0, 1).

    Cost: a microsecond or two for each candidate and cohort, then the regression: seconds for thousands of candidates.
    """
    instance(counts, BloomCounts, "counts")
    instance(response, BitResponse, "response")
    instance(bloom, Bloom, "bloom")
    sequence_of(candidates, text, "candidates")
    share = between_0_and_1(significance, "the significance", "decode")
    if len(set(candidates)) != len(candidates):
        twice = next(word for at, word in enumerate(candidates) if word in candidates[:at])
        raise OutOfRange(
            "the candidates must be distinct words",
            came=f"{twice!r} twice",
            where="decode",
            remedy="Remove repeated words.",
        )
    if counts.ones.shape != (bloom.cohorts, bloom.bits) or not counts.clients.any():
        required = f"the counts must have {bloom.cohorts} cohorts and {bloom.bits} bits, and at least one client"
        came = f"shape {counts.ones.shape} with {int(counts.clients.sum())} clients"
        raise OutOfRange(required, came=came)
    rows = _PlaceEquations.of(counts, response, bloom)
    words = rows.screened(list(candidates), bloom)
    words = words.part(nonnegative_least_squares(*rows.normal(words))[:-1] > 0)
    critical = float(share) / max(1, len(candidates))
    while True:
        fit = _Fit.of(rows, words)
        doubtful = np.flatnonzero(fit.p_values > critical)
        if not doubtful.size:
            return fit.decoding(words.words)
        worst = doubtful[np.argsort(fit.p_values[doubtful])[-max(1, doubtful.size // 2) :]]
        words = words.part(~np.isin(np.arange(len(words.words)), worst))


@dataclass(frozen=True, slots=True, eq=False)
class _CandidateWords:
    """Words, and a 0/1 matrix (words, places) of the places that each word sets over all cohorts."""

    words: list[str]
    sets: Floats

    def part(self, some: NDArray[np.bool_]) -> "_CandidateWords":
        return _CandidateWords([word for word, keep in zip(self.words, some, strict=True) if keep], self.sets[some])


@dataclass(frozen=True, slots=True, eq=False)
class _PlaceEquations:
    """One equation for each place: estimate, variance, share of clients in the cohort, and weight of other words."""

    estimates: Floats
    variances: Floats
    shares: Floats
    others: Floats
    cohorts: int

    @classmethod
    def of(cls, counts: BloomCounts, response: BitResponse, bloom: Bloom) -> "_PlaceEquations":
        shares = counts.clients / counts.clients.sum()
        here = np.repeat(counts.clients > 0, bloom.bits)
        by_place = np.repeat(shares, bloom.bits)
        # A word that is no candidate sets each place of its cohort with this probability.
        chance = 1 - (1 - 1 / bloom.bits) ** bloom.hashes
        variances = np.where(here, np.maximum(counts.variances(response).reshape(-1), 1e-9), np.inf)
        return cls(counts.true_ones(response).reshape(-1), variances, by_place, by_place * chance, bloom.cohorts)

    def screened(self, candidates: list[str], bloom: Bloom) -> _CandidateWords:
        """Return the candidates whose places have the largest estimates, half as many as there are places."""
        usual = np.average(self.estimates.reshape(self.cohorts, -1), axis=1).repeat(bloom.bits)
        excess = np.where(np.isfinite(self.variances), (self.estimates - usual) * self.shares / self.variances, 0.0)
        # The places of each word over all cohorts.
        places = [
            sorted({c * bloom.bits + place for c in range(bloom.cohorts) for place in bloom.places(word, c)})
            for word in candidates
        ]
        scores = np.array([excess[at].sum() for at in places])
        best = np.sort(np.argsort(-scores, kind="stable")[: max(1, len(excess) // 2)])
        sets = np.zeros((len(best), len(excess)))
        for row, number in enumerate(best.tolist()):
            sets[row, places[number]] = 1.0
        return _CandidateWords([candidates[number] for number in best.tolist()], sets)

    def design(self, words: _CandidateWords) -> Floats:
        """Return (words + 1, places): the expected ones at each place for a client of each word; other words last."""
        return np.vstack([words.sets * self.shares, self.others])

    def normal(self, words: _CandidateWords) -> tuple[Floats, Floats]:
        """Return the Gram matrix and the moments, each row divided by its variance."""
        design = self.design(words)
        weighted = design / self.variances
        return weighted @ design.T, weighted @ self.estimates


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Estimates and standard errors for words, followed by those for other words."""

    counts: Floats
    errors: Floats
    spread: float

    @classmethod
    def of(cls, rows: _PlaceEquations, words: _CandidateWords) -> "_Fit":
        design = rows.design(words)
        gram, moments = rows.normal(words)
        # The inverse, after scaling to a unit diagonal, with a ridge of 1e-12 for equal columns.
        scale = np.sqrt(np.where(np.diag(gram) > 0, np.diag(gram), 1.0))
        unit = gram / np.outer(scale, scale) + 1e-12 * np.eye(len(gram))
        inverse: Floats = np.linalg.inv(unit) / np.outer(scale, scale)
        counts = inverse @ moments
        solver = inverse @ (design / rows.variances)  # counts = solver @ estimates

        # The variance of counts due to random cohorts, sum over w of N_w (sum_j s_j L_j^2 - (sum_j s_j L_j)^2): N_w
        # clients fall into cohorts j with probabilities s_j, and each contributes L_j to the estimate.
        size = len(rows.shares) // rows.cohorts
        shares, of_cohort = rows.shares[::size], np.eye(rows.cohorts)
        by_cohorts = np.zeros(len(counts))
        for sets, count in zip(words.sets, counts, strict=False):
            places = np.flatnonzero(sets)
            each = solver[:, places] @ of_cohort[places // size]
            by_cohorts += max(0.0, float(count)) * (each**2 @ shares - (each @ shares) ** 2)

        # Residuals vary by the responses, and by the number of true ones at each place, which random cohorts change.
        used = np.isfinite(rows.variances)
        residual = (rows.estimates - counts @ design)[used]
        freedom = max(1, int(used.sum()) - len(counts))
        ones: Floats = np.maximum(counts[:-1], 0) @ words.sets * rows.shares * (1 - rows.shares)
        expected = rows.variances[used] + ones[used]
        spread = float((residual**2 / expected).sum() / freedom)
        variances = np.diag(inverse) * max(1.0, spread) + by_cohorts
        return cls(counts, np.sqrt(np.maximum(variances, 0)), spread)

    @property
    def p_values(self) -> Floats:
        """One-sided p-values of the words."""
        z = self.counts[:-1] / np.maximum(self.errors[:-1], 1e-300)  # no division by 0
        return np.array([0.5 * erfc(each / sqrt(2)) for each in z])

    def decoding(self, words: list[str]) -> Decoding:
        rows = zip(words, self.counts.tolist(), self.errors.tolist(), self.p_values.tolist(), strict=False)
        decoded = sorted((FoundWord(*row) for row in rows), key=lambda each: (-each.count, each.word))
        return Decoding(tuple(decoded), max(0.0, float(self.counts[-1])), self.spread)
