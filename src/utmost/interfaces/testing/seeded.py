"""Make random bits, releases, ledgers and responses that a seed repeats, for tests."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import level
from utmost.core.exact.numbers import Number
from utmost.core.noise.distribution import Distribution
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.draw import DrawMethod
from utmost.core.sampling.random_bits import KeyedRandomness
from utmost.design.channels.channel import Channel
from utmost.design.channels.channel_draws import named_mechanism
from utmost.design.local.permanent import PermanentResponses
from utmost.design.optima.optimum import Optimum
from utmost.errors import NotANumber
from utmost.publish.ledger.key import given_key
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.opening import StorePlace, opened_log
from utmost.publish.promises.lattice import lattice_of
from utmost.publish.promises.values import noised
from utmost.publish.releases.checked_sums import CheckedSums, counted_for
from utmost.publish.releases.gradual_release import GradualRelease
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.planar import PlanarRelease
from utmost.publish.workloads.planning.plan import Plan


class SeededRandomness(KeyedRandomness):
    """Repeatable randomness, insecure on purpose: equal seeds give equal draws on every machine and NumPy version.

    Releases and ledgers refuse it; `utmost.sample` and `utmost.testing.seeded_release` accept it.

    Args:
        seed: An int, text or bytes.

    Raises:
        NotANumber: if the seed has another type.

    >>> SeededRandomness(1).words(3, 8).tolist() == SeededRandomness(1).words(3, 8).tolist()
    True
    """

    __slots__ = ()

    def __init__(self, seed: int | str | bytes) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | str | bytes | np.integer):
            raise NotANumber("a seed must be an int, text or bytes", came=seed, where="SeededRandomness")
        written = repr(seed if isinstance(seed, str | bytes) else int(seed))  # so that 1, "1" and b"1" differ
        super().__init__(sha256(f"utmost seed {written}".encode()).digest())


def seeded_release(
    values: Any,
    distribution: Distribution,
    seed: int | str | bytes,
    *,
    method: DrawMethod | None = None,
    grid: Number | None = None,
) -> Any:
    """Draw as `utmost.releases.add_noise` does, with bits from a seed. Not private: the seed reveals the noise.

    >>> from utmost.noise import Geometric
    >>> seeded_release([10, 20], Geometric(epsilon=1), seed=7).tolist() == seeded_release(
    ...     [10, 20], Geometric(epsilon=1), seed=7
    ... ).tolist()
    True
    """
    return noised(values, distribution, randomness=SeededRandomness(seed), method=method, grid=grid)


def seeded_gradual_release(
    values: Any,
    sensitivity: Number,
    seed: int | str | bytes,
    *,
    unit: Unit | None = None,
    cells: Number | None = None,
    numbers: str = "integers",
    grid: Number | None = None,
    half_step: bool = False,
    method: DrawMethod | None = None,
) -> GradualRelease:
    """Return a `GradualRelease` with bits from a seed. Not private: the seed reveals the noise.

    >>> one, other = (seeded_gradual_release([10, 20], 1, seed=7) for _ in range(2))
    >>> one.at(epsilon=1).tolist() == other.at(epsilon=1).tolist()
    True
    """
    release = GradualRelease.__new__(GradualRelease)
    one = read_unit(unit, sensitivity, cells, needs=("sensitivity",))
    release._open(values, lattice_of(numbers, one, grid, half_step), SeededRandomness(seed), method)
    return release


def seeded_planar_release(
    points: Any, seed: int | str | bytes, *, per: Number = 1, grid: Number | None = None
) -> PlanarRelease:
    """Return a `PlanarRelease` with bits from a seed. Not private: the seed reveals the noise.

    >>> one, other = (seeded_planar_release([[1, 2]], seed=7) for _ in range(2))
    >>> one.at(epsilon=1).tolist() == other.at(epsilon=1).tolist()
    True
    """
    release = PlanarRelease.__new__(PlanarRelease)
    release._open(points, per, grid, SeededRandomness(seed))
    return release


def seeded_workload_release(
    table: Any, plan: Plan, seed: int | str | bytes, *, epsilon: Number = 1, confidence: Number = DEFAULT_CONFIDENCE
) -> NoisySums:
    """Return noisy sums by a plan, as `utmost.release` does, with bits from a seed. Not private: the seed reveals the
    noise.

    >>> from utmost.workloads import Domain

    >>> from utmost.privacy import Unit
    >>> plan = Plan(Domain(sex=["men", "women"]), Unit(1, 1), {"sex": 1})
    >>> one, other = (seeded_workload_release(np.array([3, 4]), plan, 7) for _ in range(2))
    >>> one["sex"]["count"].tolist() == other["sex"]["count"].tolist()
    True
    """
    return CheckedSums.of(*counted_for(table, plan), level(epsilon), confidence).draw(SeededRandomness(seed))


_KEY, _IDENTITY = bytes(32), bytes(16).hex()


def seeded_ledger(
    place: str | Path,
    seed: int | str | bytes,
    *,
    create: bool = True,
    key: bytes | str | Path | None = _KEY,
    witness: StorePlace | bool | None = False,
    sealed: bool = True,
    derived: bool = False,
    timeout: float = 60.0,
) -> Ledger:
    """Return a `Ledger` with bits from a seed, and a public key for encryption. Not private.

    Args:
        place, create, key, witness, sealed, derived, timeout: Arguments of `Ledger.open`.
        seed: An int, text or bytes.

    >>> from tempfile import TemporaryDirectory
    >>> from utmost.promises import Promise
    >>> def published(seed):
    ...     with TemporaryDirectory() as here, seeded_ledger(f"{here}/ledger.db", seed) as ledger:
    ...         return ledger.publish("n", {"n": [10, 20]}, Promise("n", unit=Unit(1, 1)), epsilon=1).table
    >>> published(7) == published(7)
    True
    """
    log = opened_log(
        place,
        create=create,
        key=given_key(key),
        witness=witness,
        sealed=sealed,
        derived=derived,
        timeout=timeout,
        identity=_IDENTITY,
    )
    return Ledger(log, SeededRandomness(seed))


def seeded_responses(bits: Any, seed: int | str | bytes) -> PermanentResponses:
    """Return `PermanentResponses` with bits from a seed. Not private: the seed reveals the noise.

    >>> one, other = (seeded_responses([0, 1, 1, 0], seed=7) for _ in range(2))
    >>> one.at("1/2").tolist() == other.at("1/2").tolist()
    True
    """
    responses = PermanentResponses.__new__(PermanentResponses)
    responses._open(bits, SeededRandomness(seed))
    return responses


def seeded_draw(
    mechanism: Channel | Optimum,
    secrets: Any,
    seed: int | str | bytes,
    shape: int | tuple[int, ...] = (),
    method: DrawMethod | None = None,
) -> Any:
    """Draw as `Channel.draw` and `Optimum.draw` do, with bits from a seed. Not private: the seed reveals the secret.

    >>> from utmost.channels import geometric_channel
    >>> one, other = (seeded_draw(geometric_channel(9, alpha="1/2"), 4, seed=7, shape=20) for _ in range(2))
    >>> one.tolist() == other.tolist()
    True
    """
    return named_mechanism(mechanism).outcomes(secrets, shape, SeededRandomness(seed), method)
