"""Calls of every public name, plausible but for an argument or two: what a fuzzer of the whole surface is made of."""

import datetime
import decimal
import inspect
import math
import random
import signal
import typing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import utmost
from utmost import local, losses, priors, releases
from utmost.errors import UtmostError
from utmost.noise import Distribution, costs
from utmost.promises import Noise


class TooLong(BaseException):
    """A call took more processor time than it was given."""


class HostileRepr:
    """A value that cannot be printed, compared or hashed."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __eq__(self, other):
        raise RuntimeError("no equality")

    def __hash__(self):
        raise RuntimeError("no hash")


class Unconvertible:
    """A value whose conversions fail, each in its own way."""

    def __float__(self):
        raise ZeroDivisionError

    def __int__(self):
        raise OverflowError

    def __index__(self):
        raise ValueError

    def __len__(self):
        return -1

    def __array__(self, *_, **__):
        raise KeyError("no array")


def deep(depth):
    """A list in a list in a list."""
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    return nested


def hostile() -> list[Any]:
    """Values that are wrong, or nearly so, wherever they stand."""
    huge = [10**40, -(10**40), 1 << 5000, 2**63, 2**64, -(2**63) - 1, Fraction(1, 10**400), 10**5000]
    small = [0, 1, -1, 2, 3, 5, -7, 10, 100, 1000, 0.5, -0.5, 1e-300, 5e-324, 1e308, 1e400, 1e-6, 1e5, Fraction(1, 3)]
    odd = [None, True, False, math.nan, math.inf, -math.inf, 1j, b"", b"1", b"\xff" * 40, "", " ", "x", "nan", "1e5"]
    odd += [
        "1/0", "1/2", "1e9999", "9" * 5000, "\x00", "\ud800", "é", "a" * 100_000, "../..", "/", "postgresql://", "-",
    ]  # fmt: skip
    odd += [decimal.Decimal("NaN"), decimal.Decimal("1e-999999"), decimal.Decimal("1e30"), datetime.date(2026, 1, 1)]
    odd += [
        np.float64("nan"), np.int8(-5), np.bool_(True), np.float16(0.5), np.datetime64("NaT", "s"), np.uint64(2**63),
    ]  # fmt: skip
    flat = [[], (), {}, set(), {1}, {"a": 1}, {1: [1]}, [None], [math.nan], ["a"], [1, 2, 3], [1, "a"], [[]], [[], [1]]]
    flat += [
        [[1]], [[1, 2], [3]], [[0.5, 0.5], [1, 0]], [["1/2", "1/2"]], {None: None}, range(3), range(10**12), iter([1]),
    ]  # fmt: skip
    arrays = [np.array([]), np.array(1), np.zeros((2, 2)), np.zeros((0, 3)), np.ones((2, 3, 4)), np.array([1, 2, 3])]
    arrays += [np.array(["a"]), np.array([None]), np.array([1 + 1j]), np.array([True, False]), np.array([b"a"])]
    arrays += [np.array([np.nan, 1.0]), np.array([np.inf]), np.array([2**63], dtype=np.uint64), np.zeros(3, "M8[s]")]
    arrays += [np.zeros(2, dtype=[("a", int)]), np.array([Fraction(1, 2), "a"], dtype=object), np.eye(3)]
    arrays += [np.array([[Fraction(1, 2)] * 2] * 2, dtype=object), np.float32([0.25, 0.75]), np.zeros(0, dtype=object)]
    code = [object(), object, len, print, int, lambda: 1, lambda x: "a", lambda x, y: math.nan, lambda *_: -1]
    code += [HostileRepr(), Unconvertible(), type, utmost, NotImplemented, ..., deep(50), deep(5000)]
    return [*huge, *small, *odd, *flat, *arrays, *code]


@cache
def nouns() -> dict[str, Any]:
    """One small good value of every kind that an argument may want."""
    half = utmost.level(alpha="1/2")
    ptype = utmost.PrivacyType.central(2, half)
    channel = utmost.channels.geometric_channel(3, half)
    prior = priors.uniform(3)
    loss = losses.loss_matrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    consumer = utmost.Consumer(prior, loss)
    bits = local.BitResponse("3/4", "1/4")
    higher = local.BitResponse("9/10", "1/10")
    vertices = utmost.geometry.vertices(ptype)
    workload = utmost.release(np.arange(8).reshape(2, 4), MEASURES, epsilon=1, once=True).table
    return {
        "workload": workload,
        "clean": workload.clean(),
        "planar": utmost.PlanarRelease([[1, 2]]),
        "level": half,
        "higher": utmost.level("3"),
        "ptype": ptype,
        "channel": channel,
        "prior": prior,
        "loss": loss,
        "consumer": consumer,
        "space": utmost.spaces.counts(2),
        "distribution": utmost.noise.Geometric(1),
        "real": utmost.noise.Laplace(1),
        "staircase": utmost.noise.Staircase(1),
        "discrete staircase": utmost.noise.DiscreteStaircase(1, 3),
        "bits": bits,
        "remap": utmost.channels.Remap([0, 1, 2], 3),
        "vertices": vertices,
        "higher bits": higher,
        "loss rule": losses.absolute,
        "bloom": local.Bloom(8, 2, 1, bytes(32)),
        "pair": local.ThresholdedPair(local.ThresholdedLaplace(bits), local.ThresholdedLaplace(higher)),
        "hyper": utmost.leakage.hyper(channel, prior),
        "optimum": utmost.optimal_mechanism(ptype, consumer),
        "kernels": utmost.geometry.kernels(ptype),
        "permanent": local.PermanentResponses([True, False]),
        "surd": utmost.exact.Surd.sqrt(2),
        "gradual": utmost.GradualRelease([1, 2], sensitivity=1),
        "query": utmost.optima.CountQuery(2, 2, [1]),
        "earth": utmost.geometry.earth_move(prior, better=channel, worse=channel),
        "matrix": utmost.channels.GeometricMatrix(3, half),
        "utility": utmost.geometry.UtilitySet(ptype, channel),
        "utmost_loss": losses.absolute,
        "unit": utmost.Unit(1, 1),
        "table": {"n": [1, 2, 3]},
        "path": releases.path(1, noise=3),
        "cost": costs.absolute,
        "counts": local.BloomCounts.of([[True] * 8, [False] * 8], [0, 0], local.Bloom(8, 2, 1, bytes(32))),
    }


DOMAIN = utmost.Domain(a=[1, 2], age=utmost.workloads.bins(4))
MEASURES = utmost.workloads.Plan(DOMAIN, utmost.Unit(1, 1), {"a age": "1/2", "a": "1/2"})

# What is plausible for a parameter of this name: names of nouns after "=", else values.
PLAUSIBLE: dict[str, list[Any]] = {
    "epsilon": [1, "1/2", 0.25, "=level", 3, 1e-6, 50],
    "alpha": ["1/2", 0.25, "=level"],
    "n": [2, 5],
    "k": [2, 3],
    "sensitivity": [1, 3, "2", 10**9],
    "cells": [1, 2],
    "ptype": ["=ptype"],
    "channel": ["=channel"],
    "C": ["=channel"],
    "A": ["=channel"],
    "B": ["=channel"],
    "P": ["=channel"],
    "X": ["=channel"],
    "prior": ["=prior"],
    "loss": ["=loss"],
    "gain": ["=loss"],
    "consumer": ["=consumer"],
    "consumers": [["=consumer"]],
    "space": ["=space"],
    "distribution": ["=distribution"],
    "where": ["=ptype", "=space", {"a": 1}, {"age": slice(0, 2)}, {}],
    "numerator": [17, {"a": 1}],
    "denominator": [25, {}],
    "marginals": ["a", "age"],
    "along": [{"age": "midpoints"}, {"a": [1, "1/2"]}],
    "plan": [MEASURES],
    "together": [True, False],
    "facts": [{}, {"kind": "utmost statement", "format": 1}],
    "cost": ["=cost"],
    "x": [0, 1.5, [1, 2]],
    "p": [0.5],
    "q": [0.5],
    "m": [1, 2.5],
    "bits": [64, 3],
    "confidence": ["0.9"],
    "values": [[1, 2, 3], 5, [1, 2]],
    "columns": ["n"],
    "table": ["=table", np.arange(8).reshape(2, 4)],
    "before": [lambda x: x],
    "after": [lambda x, _: x],
    "data": [[1, 2]],
    "noise": [3, [1, -2]],
    "start": [1, "=level"],
    "to": ["1/2", 3, "=level"],
    "at": ["1/2", 2],
    "low": [3],
    "high": [4],
    "response": [1, "=bits", [3, 4]],
    "responses": [[True, False]],
    "lower": ["=level", "=bits", "=distribution"],
    "middle": ["=level", "=bits", "3/2"],
    "higher": ["=higher", "=higher bits"],
    "from_epsilon": ["1/2", 3, "=level"],
    "to_epsilon": ["1/2", 3, "=higher"],
    "from_response": ["=bits", "=higher bits"],
    "to_response": ["=higher bits", "=bits"],
    "response_at_lower": [3, [1, -2]],
    "response_at_higher": [4, [0, 0]],
    "one": ["=level", "1/4", "=loss"],
    "other": ["=level", "=channel"],
    "two": ["=loss"],
    "zero": ["3/4"],
    "levels": [{"a": 1, "b": 2}, ["=level", "=higher"]],
    "reports": [[[True] * 8]],
    "cohorts": [[0], 1],
    "key": [bytes(32)],
    "hashes": [2],
    "bloom": ["=bloom"],
    "candidates": [["a", "b"]],
    "counts": ["=counts"],
    "pair": ["=pair"],
    "reach": [1],
    "significance": ["1/20"],
    "margin": [5],
    "domain": ["integers", "reals"],
    "metric": ["euclidean", "max"],
    "rows": [2, [0, 1]],
    "cols": [2],
    "places": [[(0, 0), (1, 1)]],
    "edges": [[(0, 1), (1, 2)]],
    "outcome": [1],
    "spaces": ["=space"],
    "actions": [[0, 1, 2], 3],
    "size": [3],
    "distances": [[[0, 1], [1, 0]]],
    "matrix": [[["1/2", "1/2"]] * 2],
    "shape": [3, (2, 2)],
    "samples": [10, [0, 1]],
    "generator": [np.random.default_rng(1)],
    "of": ["=ptype", "=prior", "=hyper"],
    "measure": [None],
    "false_alarm": [0.25],
    "epsilons": [[1, 2]],
    "shift": [1],
    "pattern": [np.array([["="]])],
    "posteriors": [np.eye(2)],
    "weights": [[0.5, 0.5], [1, 2]],
    "base": [None],
    "costs": [[[0, 1], [1, 0]]],
    "branching": [2],
    "depth": [2],
    "target": ["=channel"],
    "secrets": [[0, 1]],
    "vertices": ["=vertices"],
    "points": [[[1, 2], [3.5, 4]], [0.5, 1]],
    "per": [1, 200, "1/3"],
    "grid": [None, "1/4", 1],
    "dimensions": [2, 1, 3],
    "frequencies": [[[[0.5, 1]], [[0, -1.0]]]],
    "owner": ["a"],
    "over": [1, "laplace"],
    "graph": [{"a": ["b"], "b": ["a"]}],
    "trials": [3],
    "probabilities": [["1/2", "1/2"]],
    "rate": [2],
    "limit": [3],
    "under": [2],
    "t": [1],
    "function": [lambda i, r: abs(i - r)],
    "rule": ["=loss rule"],
    "order": [2],
    "a": ["1/2"],
    "satisfying": [[1]],
    "within": ["1/2"],
    "name": ["r", "a", "age"],
    "rng": [None],
    "square": [2],
    "value": [2],
    "factor": [2],
    "loss_rule": ["=loss rule"],
    "place": [":memory:"],
    "coalition": [["a"]],
    "recipient": ["a"],
    "power": [Fraction(1)],
    "samples_": [10],
    "digits": [3],
    "tolerance": [1e-9],
    "floats": [True],
    "limit_": [1],
    "randomness": [None],
    "possible": [[0, 1]],
    "constraints": [()],
    "count": [2],
    "gap": [1e-6],
    "key_": [b"k"],
    "word": ["w"],
    "error": [1.0],
}


# Classes that only the library makes, from parts it has checked: their makers are tried, and their methods.
MADE = {
    "Capacity", "Certificate", "ConstrainedCertificate", "EarthMove", "Optimum", "CellNoiseAtLevel", "Position",
    "Reading", "Repair",
}  # fmt: skip
MADE |= {
    "SmallestEpsilon", "Answer", "Ledger", "Distribution", "Hyper", "Level", "Surd", "Coalitions", "NoisePath",
    "Decoding",
}  # fmt: skip
MADE |= {"CapacityCertificate", "VertexCertificate", "ImplicitMechanism", "SimilarityMechanism", "LatticeMechanism"}
MADE |= {"EnvelopeMechanism", "ProductMechanism", "UniformMechanism", "ProductDual", "PairMultipliers", "TypeCapacity"}
MADE |= {"Multipliers", "Status", "Spending", "Event", "Published", "Budget", "Verification", "Categorical"}
MADE |= {"SelectedKeys", "SelectionDistribution", "RatioBar"}
MADE |= {"Estimate", "CleanTable", "NoisySums"}
MADE |= {
    "AttributeReports", "Automorphisms", "BoundCosts", "BoundedSupport", "DiscontinuousDensity", "IrrationalSteps",
    "Jump",
}  # fmt: skip
MADE |= {
    "LargerCharacteristic", "LossCurve", "PowerChannel", "PublishedTable", "SmallerVariance", "Trend",
}  # fmt: skip
MADE |= {"UnmatchedZero", "Bounds", "UniformDual", "DetailedSums", "WithheldTable", "CellBars"}
MADE |= {"FoundWord", "BloomCounts", "Bridge", "Relaxing", "Tightening", "Constraint", "UtilitySet"}


# The public modules but the engines below them (`exact`, `programs`), whose functions take what these have read, and
# those that a test cannot call.
ROOMS = {
    name: getattr(utmost, name)
    for name in utmost._MODULES
    if name not in ("errors", "exact", "interop", "programs", "service", "testing")
}


@dataclass(frozen=True)
class Target:
    """Something to call, under the name by which a user calls it."""

    name: str
    call: Any
    parameters: tuple[inspect.Parameter, ...]


@cache
def targets() -> tuple[Target, ...]:
    """Every public function, constructor and method that takes an argument, and measures, which are called too."""
    found = []
    rooms = [("", utmost, utmost.__all__)]
    for module in (costs, losses, priors):
        names = [name for name, kind in vars(module).items() if getattr(kind, "__module__", "") == module.__name__]
        rooms.append((f"{module.__name__.rpartition('.')[2]}.", module, [n for n in names if n[0] != "_"]))
    rooms += [(f"{name}.", room, room.__all__) for name, room in ROOMS.items()]
    seen = set()
    for prefix, room, names in rooms:
        for name in names:
            value = getattr(room, name)
            if not callable(value) or typing.get_origin(value) is not None:  # a constant, or an alias for annotations
                continue
            is_maker = name not in MADE and not getattr(value, "_is_protocol", False) and not inspect.isabstract(value)
            if id(value) not in seen and is_maker:
                seen.add(id(value))
                found.append(_target(prefix + name, value))
            if inspect.isclass(value):
                found += [_target(f"{prefix}{name}.{m}", getattr(value, m)) for m in _class_methods(value)]
    for noun, value in nouns().items():
        if type(value).__module__.startswith("utmost"):
            found += [_target(f"<{noun}>.{m}", getattr(value, m)) for m in dir(value) if _is_method(value, m)]
    return tuple(target for target in found if target.parameters)


def _class_methods(kind: type) -> list[str]:
    if issubclass(kind, Noise) or kind.__name__ == "Noise":  # reads what a promise has read
        return []
    names = [n for n in dir(kind) if n[0] != "_" and kind.__module__.startswith("utmost") and not issubclass(kind, str)]
    return [n for n in names if isinstance(inspect.getattr_static(kind, n), classmethod | staticmethod)]


# What a distribution tells the library of itself, of numbers that the library has read: a new distribution writes these
# methods.
_OF_A_DISTRIBUTION = {
    *("mass", "tail", "tail_interval", "tail_intervals", "first_at_most", "last_at_least", "interval_between"),
    *(
        "ratio_level", "window", "mean_beyond", "log_mean_exponential", "kept", "curve", "worst_place", "worst_level",
        "on_steps",
    ),
}  # fmt: skip


def _is_method(value: Any, name: str) -> bool:
    if name in _OF_A_DISTRIBUTION and isinstance(value, Distribution):
        return False
    return name[0] != "_" and inspect.isfunction(inspect.getattr_static(value, name, None))


def _target(name: str, call: Any) -> Target:
    return Target(name, call, tuple(inspect.signature(call).parameters.values()))


def resolved(value: Any) -> Any:
    """A plausible value, with the nouns that it names."""
    if isinstance(value, str) and value[:1] == "=" and value[1:] in nouns():
        return nouns()[value[1:]]
    if isinstance(value, list):
        return [resolved(part) for part in value]
    return value


@dataclass(frozen=True)
class Call:
    """One call: the target, and its arguments by name."""

    target: Target
    positional: tuple[Any, ...]
    named: dict[str, Any]

    def __str__(self) -> str:
        shown = [*map(_shown, self.positional), *(f"{name}={_shown(value)}" for name, value in self.named.items())]
        return f"{self.target.name}({', '.join(shown)})"

    def make(self) -> Any:
        """Do it."""
        answer = self.target.call(*self.positional, **self.named)
        if inspect.isgenerator(answer):
            next(answer, None)
        return answer


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except (RuntimeError, RecursionError, ValueError) as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"
    return text if len(text) < 80 else f"{text[:60]}...({len(text)})"


def call(rng: random.Random) -> Call:
    """A plausible call with one argument or two that are hostile, or plausible for something else."""
    target = rng.choice(targets())
    chosen = {p.name: plausible(rng, p.name) for p in target.parameters if _is_given(rng, p)}
    if "epsilon" in chosen and "alpha" in chosen:
        del chosen[rng.choice(["epsilon", "alpha"])]
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2])):
        spoiled = rng.choice(target.parameters)
        chosen[spoiled.name] = (
            rng.choice(hostile()) if rng.random() < 0.75 else plausible(rng, rng.choice([*PLAUSIBLE]))
        )
    return _call(target, chosen)


def alien_calls(rng: random.Random) -> Iterator[Call]:
    """Each argument of each target in turn as an object that is nothing, among plausible ones."""
    for target in targets():
        for spoiled in target.parameters:
            given = {p.name: plausible(rng, p.name) for p in target.parameters if p.default is p.empty}
            yield _call(target, given | {spoiled.name: object()})


def _call(target: Target, chosen: Mapping[str, Any]) -> Call:
    positional, named = [], {}
    for parameter in target.parameters:
        if parameter.name not in chosen or parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            positional.append(chosen[parameter.name])
        else:
            named[parameter.name] = chosen[parameter.name]
    return Call(target, tuple(positional), named)


def plausible(rng: random.Random, name: str) -> Any:
    """What a user may pass for a parameter of this name."""
    return resolved(rng.choice(PLAUSIBLE.get(name, [None])))


def _is_given(rng: random.Random, parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty or rng.random() < 0.4


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Raise `TooLong` where what is inside takes more time of the processor; a busy machine is no failure."""

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def wrong_outcome(made: Call, seconds: float) -> str | None:
    """What is wrong with how a call ends: nothing for a value, for an error of ours and for one of its signature."""
    try:
        with processor_time(seconds):
            made.make()
    except UtmostError as error:
        return "too long a message" if len(str(error)) > 2000 else None
    except TypeError as error:
        if _is_of_signature(error):
            return None
        return _told(error)
    except TooLong:
        return "TooLong"
    except FileNotFoundError:  # a path that names no file, as Python says it
        return None
    except Exception as error:
        return _told(error)
    return None


def _is_of_signature(error: TypeError) -> bool:
    return any(
        part in str(error) for part in ("unexpected keyword", "missing", "positional argument", "multiple values")
    )


def _told(error: Exception) -> str:
    frame = error.__traceback__
    last = None
    while frame is not None:
        if "/utmost/" in frame.tb_frame.f_code.co_filename:
            last = frame
        frame = frame.tb_next
    where = "" if last is None else f" at {last.tb_frame.f_code.co_filename.rpartition('/utmost/')[2]}:{last.tb_lineno}"
    return f"{type(error).__name__}: {str(error)[:100]}{where}"
