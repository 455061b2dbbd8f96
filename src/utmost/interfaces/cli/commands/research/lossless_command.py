"""`utmost research lossless`: decide, with proof, whether noise can be relaxed to another level without loss."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.numbers import exact_integer
from utmost.core.gradual import lossless as verdicts
from utmost.core.gradual.lossless_reals import losslessness
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.laplace import Laplace
from utmost.core.noise.optimal import optimal_noise
from utmost.core.noise.staircase import Staircase
from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.cli.options import research_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.cost_files import cost_of, is_file
from utmost.publish.promises.declared_columns import read_numbers
from utmost.publish.promises.distribution_noise import named_distribution
from utmost.tables.files.small_tables import number_rows

_NEAR = 4
_ROUNDING = 1e-12  # a smaller rest may be the rounding of the listed probabilities
_SAYS: Mapping[type, Callable[[Any], str]] = {
    verdicts.NegativeMass: lambda verdict: (
        f"the only candidate for W would have a negative probability, {number(verdict.mass)} or less, at {verdict.at}"
    ),
    verdicts.LargerCharacteristic: lambda verdict: (
        f"at z = {number(verdict.x, 8)} + {number(verdict.y, 8)} i the characteristic function of the noise at the "
        f"lower epsilon is at least {number(verdict.ratio)} times as large as that at the higher epsilon"
    ),
    verdicts.BoundedSupport: lambda verdict: (
        "the noise at the lower epsilon is bounded, and the noise at the higher epsilon is not"
    ),
    verdicts.UnmatchedZero: lambda verdict: (
        f"the characteristic function at the higher epsilon has a zero between {number(verdict.after, 12)} and "
        f"{number(verdict.before, 12)}, and at the lower it has none there"
    ),
    verdicts.IrrationalSteps: lambda verdict: "the first step of one staircase is an irrational fraction of its period",
    verdicts.DiscontinuousDensity: lambda verdict: (
        "the density at the lower epsilon has jumps; the density at the higher epsilon, after any independent noise "
        "is added, has none"
    ),
    verdicts.SmallerVariance: lambda verdict: "the noise at the lower epsilon has the smaller variance",
}


def show_lossless(report: dict[str, Any]) -> None:
    shown = {
        "verdict": "lossless: the noise at the lower epsilon is the noise at the higher epsilon plus an independent W"
        if report["lossless"]
        else "not lossless: no independent noise, added at the higher epsilon, gives the noise at the lower",
        "lower epsilon": report["lower"],
        "higher epsilon": report["higher"],
        **({"because": report["because"]} if report["because"] else {}),
    }
    console = screen()
    console.print(facts(shown))
    if report["difference"]:
        console.print(ScreenText("\nThe distribution of W", style="bold"))
        console.print(
            grid(["W", "probability"], [[point["at"], point["probability"]] for point in report["difference"]])
        )


def lossless(
    lower: Annotated[
        str, argument("LOWER", "Lower epsilon (1/2 or alpha=1/2), or file of a distribution (noise.csv).")
    ],
    higher: Annotated[str, argument("HIGHER", "Higher epsilon, or file of another distribution.")],
    *,
    distribution: Annotated[
        str, option("NAME", "Noise: optimal (for --cost), half-step, laplace, geometric or DiscreteStaircase(step=1).")
    ] = "optimal",
    sensitivity: options.Sensitivity = "1",
    cost: options.CostName = "absolute",
    numbers: options.Numbers = "integers",
    answer: options.Output,
) -> None:
    """Decide, with proof, whether noise at one level can be relaxed to a larger one without extra loss.

    More: docs/theory/relaxing.md
    """
    if is_file(lower) and is_file(higher):
        given = {
            "--distribution": distribution != "optimal",
            "--sensitivity": sensitivity != "1",
            "--numbers": numbers != "integers",
        }
        research_options.check_unused(given | {"--cost": cost != "absolute"}, "with two files of distributions")
    elif distribution != "optimal":
        research_options.check_unused({"--cost": cost != "absolute"}, f"with --distribution {distribution}")
    distributions, goal = list[Any](), cost_of(cost)
    for text in (lower, higher):
        if is_file(text):
            path, rows = str(Path(text)), number_rows(Path(text))
            if len(rows[0]) != 2 or any(row[0].denominator != 1 for row in rows):
                raise BadTable("a distribution in a file needs two columns, integers and probabilities", where=path)
            if len({row[0] for row in rows}) != len(rows):
                raise BadTable(
                    "a distribution in a file must name each integer only once", came="one twice", where=path
                )
            distributions.append({int(at): mass for at, mass in rows})
            continue
        at = options.written_level(text)
        if distribution == "optimal":
            distributions.append(optimal_noise(at, sensitivity, goal, read_numbers(numbers)))
        elif distribution == "laplace":
            distributions.append(Laplace(at, sensitivity))
        elif distribution == "geometric" and numbers == "integers":
            distributions.append(Geometric(at, sensitivity))
        elif distribution == "half-step":
            kind: Any = Staircase if numbers == "reals" else DiscreteStaircase
            distributions.append(kind.half_step(at, sensitivity))
        elif numbers == "integers":
            distributions.append(named_distribution(distribution, at, exact_integer(sensitivity, "sensitivity")))
        else:
            required = "--distribution must be optimal, half-step or laplace with --numbers reals"
            raise OutOfRange(required, came=distribution, remedy="Leave out --distribution: the default is optimal.")

    levels = [distribution.level for distribution in distributions if not isinstance(distribution, dict)]
    if len(levels) == 2 and levels[1] < levels[0]:
        remedy = "Give the lower epsilon first."
        raise OutOfRange("LOWER must not be above HIGHER", came=f"{lower} and {higher}", remedy=remedy)

    verdict = losslessness(*distributions)
    probabilities: list[dict[str, str]] | None = None  # of W at points near 0; for Laplace noise only at 0
    if isinstance(difference := verdict.difference, verdicts.Difference):
        step, offset = difference.unit * difference.stride, difference.unit * difference.offset
        masses = {point: difference.pmf(point) for point in (offset + step * k for k in range(-_NEAR, _NEAR + 1))}
        probabilities = [{"at": str(point), "probability": _mass(mass)} for point, mass in masses.items() if mass]
        if (rest := 1 - sum(masses.values())) > _ROUNDING:
            probabilities.append({"at": "else", "probability": _mass(rest)})
    elif difference is not None:
        probabilities = [
            {"at": "0", "probability": _mass(difference.stay)},
            {"at": "else", "probability": f"{_mass(1 - difference.stay)}: Laplace noise at the lower epsilon"},
        ]

    report = {
        "lower": _named(distributions[0], lower),
        "higher": _named(distributions[1], higher),
        "lossless": bool(verdict),
        "obstacle": None if verdict.obstacle is None else type(verdict.obstacle).__name__,
        "because": None if verdict.obstacle is None else _SAYS[type(verdict.obstacle)](verdict.obstacle),
        "difference": probabilities,
    }
    if answer.give(report):
        show_lossless(report)


def _named(distribution: Any, text: str) -> str:
    return text if isinstance(distribution, dict) else repr(distribution)


def _mass(mass: Fraction | float) -> str:
    return str(mass) if isinstance(mass, Fraction) and len(str(mass)) < 24 else number(mass, 12)
