"""A capacity of a privacy type, and the evidence: a mechanism that leaks so much, and a dual that none leaks more."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.design.capacity.checker import Dual, Kind, Multipliers, certified_bounds
from utmost.design.capacity.mechanisms import Mechanism
from utmost.design.checker import Bounds
from utmost.design.evidence import Evidence
from utmost.leakage import Capacity
from utmost.privacy import PrivacyType


@dataclass(frozen=True, slots=True, eq=False)
class CapacityCertificate(Evidence):
    """Evidence that the largest leakage of a privacy type lies between two numbers.

    Attributes:
        ptype: the privacy type.
        kind: "multiplicative" or "additive".
        mechanism: a mechanism of the type that leaks at least ``lower``.
        dual: what proves that none leaks more than ``upper`` (see `checker`).
        multipliers: of single inequalities of privacy, where the dual has negative entries.
        theorem: the theorem that gives the closed form, or None where only the numbers do.
        bounds: what the two prove; equal when all is exact.
    """

    ptype: PrivacyType
    kind: Kind
    mechanism: Mechanism
    dual: Dual
    multipliers: Multipliers | None = None
    theorem: str | None = None
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        if self.bounds is None:
            object.__setattr__(self, "bounds", self.check())

    def __reduce__(self) -> tuple[Any, ...]:
        return CapacityCertificate, tuple(getattr(self, name) for name in self.__slots__)

    def check(self) -> Bounds:
        """Compute the bounds again from mechanism and dual alone.

        Raises:
            PromiseBroken: when the mechanism is not of the type, or the dual is not feasible.
        """
        return certified_bounds(self.ptype, self.kind, self.mechanism, self.dual, self.multipliers)


@dataclass(frozen=True, slots=True, eq=False)
class TypeCapacity(Capacity):
    """The largest leakage of any mechanism of a privacy type.

    Attributes:
        value: a Fraction where the capacity is known exactly; else a float that is certainly not below it, so that no
            mechanism leaks more.
        mechanism: leaks at least ``lower``. A `Channel` of Fractions, or an object with ``shape`` and ``matrix`` that
            is written out only when asked for.
        certificate: a `CapacityCertificate`; ``certificate.verify()`` checks it again.
        method: the route that found it: "closed form", "product", "magnitude", "packing", "orbits", "program",
            or "bound" where the type is too large for more than two bounds.
    """

    mechanism: Any
    method: str = ""

    @classmethod
    def of(cls, certificate: CapacityCertificate, method: str) -> "TypeCapacity":
        """The capacity that a certificate proves."""
        return cls(certificate.upper, certificate.mechanism, certificate, method)

    @property
    def lower(self) -> Any:
        """The mechanism leaks at least this."""
        return self.certificate.lower

    @property
    def upper(self) -> Any:
        """No mechanism of the type leaks more than this; the same as ``value``."""
        return self.certificate.upper

    @property
    def gap(self) -> Any:
        """``upper - lower``."""
        return self.certificate.gap

    @property
    def is_exact(self) -> bool:
        """Whether ``value`` is exactly the capacity."""
        return isinstance(self.value, Fraction) and bool(self.gap == 0)

    @property
    def theorem(self) -> str | None:
        """The theorem that gives the closed form, or None."""
        found: str | None = self.certificate.theorem
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return TypeCapacity, (self.value, self.mechanism, self.certificate, self.method)
