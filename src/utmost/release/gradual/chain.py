"""One level more of a Markov chain in the level: which neighbours the new noise hangs on, and a draw of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise import Geometric
from utmost.noise.gradual import Bridge, Relaxing, Tightening
from utmost.release.gradual.unit import Unit, minus
from utmost.sampling.bits import Randomness
from utmost.sampling.draw import Method, draws
from utmost.sampling.gradual import bridge_noise, tightening_noise
from utmost.sampling.wide import Integers, add, joined

Law = Geometric | Relaxing | Tightening | Bridge


@dataclass(frozen=True, slots=True)
class Step:
    """From the levels known to one level more, which lies strictly between its two neighbours.

    Attributes:
        to: the new level.
        strict: the loosest known level below it, or None.
        loose: the strictest known level above it, or None.
    """

    to: Level
    strict: Level | None
    loose: Level | None

    @classmethod
    def from_known(cls, known: Iterable[Level], to: Level) -> "Step":
        """The step that the known levels leave to a new one.

        Raises:
            OutOfRange: for a level that is known already.

        >>> from utmost.exact import level
        >>> Step.from_known([level(1), level(3), level(4)], level(2)).how
        'bridge'
        """
        levels = list(known)
        if to in levels:
            raise OutOfRange("a new level must not be known already", came=to)
        strict = max((one for one in levels if one < to), default=None)
        loose = min((one for one in levels if to < one), default=None)
        return cls(to, strict, loose)

    @property
    def how(self) -> str:
        """Forward beyond the loosest level, backward below the strictest, a bridge in between, fresh where none is."""
        if self.loose is None:
            return "fresh" if self.strict is None else "relax"
        return "tighten" if self.strict is None else "bridge"

    def law(self, unit: Unit) -> Law:
        """The law of one step of noise at the new level, given the noise at the neighbours.

        A relax kernel is the law of V_to given V_strict; a tightening that of V_to - V_loose; a bridge that of
        V_to - V_loose given V_strict - V_loose.
        """
        to = unit.of(self.to)
        if self.loose is None:
            return Geometric(to) if self.strict is None else Relaxing(unit.of(self.strict), to)
        if self.strict is None:
            return Tightening(unit.of(self.loose), to)
        return Bridge(unit.of(self.strict), to, unit.of(self.loose))

    def drawn(
        self,
        unit: Unit,
        below: Integers | None,
        above: Integers | None,
        count: int,
        randomness: Randomness,
        method: Method | None,
    ) -> Integers:
        """The noise at the new level, in steps of the geometric part.

        Args:
            below: the noise at ``strict``, shape (count,).
            above: the noise at ``loose``, shape (count,). A common shift of both moves the result along with them, so
                below the loosest level responses do as well as noise.
        """
        to = unit.of(self.to)
        if self.loose is None:
            if self.strict is None:
                return joined(draws(Geometric(to), count, randomness=randomness, method=method), count)
            assert below is not None
            return bridge_noise(Bridge(unit.of(self.strict), to, None), below, randomness=randomness, method=method)
        assert above is not None
        if self.strict is None:
            kernel = Tightening(unit.of(self.loose), to)
            return add(above, tightening_noise(kernel, count, randomness=randomness, method=method))
        assert below is not None
        between = Bridge(unit.of(self.strict), to, unit.of(self.loose))
        return add(above, bridge_noise(between, minus(below, above), randomness=randomness, method=method))
