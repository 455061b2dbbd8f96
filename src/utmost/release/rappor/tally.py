"""What a collector keeps of the reports: how many ones there are at each place, cohort by cohort."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import checked
from utmost.release.rappor.bloom import Bloom
from utmost.release.rappor.draws import as_bits
from utmost.release.rappor.response import BitResponse


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Ones at each place and clients in each cohort.

    Attributes:
        ones: shape (cohorts, bits).
        clients: shape (cohorts,).

    >>> tally = Tally.of([[1, 0], [1, 1], [0, 0]], cohorts=[0, 0, 1], bloom=Bloom(bits=2, hashes=1, cohorts=2))
    >>> tally.ones.tolist(), tally.clients.tolist()
    ([[2, 1], [0, 0]], [2, 1])
    """

    ones: NDArray[np.int64]
    clients: NDArray[np.int64]

    def __post_init__(self) -> None:
        ones, clients = (np.array(each, dtype=np.int64) for each in (self.ones, self.clients))
        if ones.ndim != 2 or clients.shape != ones.shape[:1]:
            raise OutOfRange(
                "a tally has ones (cohorts, bits) and clients (cohorts,)", came=(ones.shape, clients.shape)
            )
        if (ones < 0).any() or (ones > clients[:, None]).any():
            raise OutOfRange("no place can have more ones than its cohort has clients, or fewer than 0", where="Tally")
        for name, array in (("ones", ones), ("clients", clients)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    @checked
    def of(cls, reports: Any, cohorts: Any, bloom: Bloom) -> "Tally":
        """The tally of reports, shape (n, bits), of clients in these cohorts.

        Raises:
            OutOfRange: for reports of another width, and as `Bloom.read_cohorts` does.
        """
        said = as_bits(reports, "reports")
        if said.ndim != 2 or said.shape[1] != bloom.bits:
            raise OutOfRange(f"reports must have the shape (clients, {bloom.bits})", came=said.shape, where="Tally.of")
        groups = bloom.read_cohorts(cohorts, len(said))
        clients = np.bincount(groups, minlength=bloom.cohorts)
        ones = np.zeros((bloom.cohorts, bloom.bits), np.int64)
        order = np.argsort(groups, kind="stable")
        for cohort, rows in enumerate(np.split(order, np.cumsum(clients)[:-1])):
            ones[cohort] = np.count_nonzero(said[rows], axis=0)
        return cls(ones, clients)

    def __add__(self, other: "Tally") -> "Tally":
        """The tally of both: reports can be counted batch by batch."""
        if self.ones.shape != other.ones.shape:
            raise OutOfRange("tallies must have one shape to be added", came=(self.ones.shape, other.ones.shape))
        return Tally(self.ones + other.ones, self.clients + other.clients)

    @checked
    def true_ones(self, response: BitResponse) -> NDArray[np.float64]:
        """Unbiased estimates of how many true bits are 1, (ones - zero n)/(one - zero); shape (cohorts, bits).

        Args:
            response: from true bit to report: for a report of a memoised response ``memo.then(report)``.
        """
        zero, one = float(response.zero), float(response.one)
        estimates: NDArray[np.float64] = (self.ones - zero * self.clients[:, None]) / (one - zero)
        return estimates

    @checked
    def variances(self, response: BitResponse) -> NDArray[np.float64]:
        """The variances of these estimates by the response alone, at the estimated numbers of ones."""
        zero, one = float(response.zero), float(response.one)
        clients = self.clients[:, None].astype(np.float64)
        true = np.clip(self.true_ones(response), 0, clients)
        drawn: NDArray[np.float64] = true * one * (1 - one) + (clients - true) * zero * (1 - zero)
        return drawn / (one - zero) ** 2
