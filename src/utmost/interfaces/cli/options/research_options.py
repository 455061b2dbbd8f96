"""The options that the commands of `utmost research` share: space, level, prior, loss, measure, each declared once."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.secret_options import privacy_type
from utmost.interfaces.cli.options.shared_options import AskedLevel

if TYPE_CHECKING:
    from utmost.design.leakage.measures import Measure
    from utmost.design.spaces.space import Space
    from utmost.design.types.privacy_type import PrivacyType

_LOSS = option(
    "LOSS",
    "Cost of an answer to a secret: absolute, squared, binary, nib, power:1.5, asymmetric:OVER,UNDER, thresholded:T, "
    "capped:LIMIT, or losses.csv with a row for each secret and a column for each answer.",
)

SpaceText = Annotated[
    str | None,
    option(
        "KIND:SIZE",
        "Set of secrets and their distances: line:6, counts:5, discrete:3, cycle:7, hamming:4, grid:4x4, "
        "manhattan:4x4, places:towns.csv (in metres), graph:roads.csv or distances:table.csv.",
    ),
]
Prior = Annotated[
    str,
    option(
        "PRIOR", "Belief before the answer: uniform, binomial:0.3, poisson:4, or prior.csv with a probability a secret."
    ),
]
Loss = Annotated[str, _LOSS]
Count = Annotated[bool, flag("Only the number of them, such as 187; none is listed.")]
Orbits = Annotated[bool, flag("One of each orbit under the symmetries of the space, with the size of the orbit.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeAsked:
    """A privacy type: the secrets, and the level of one unit of their distance."""

    space: SpaceText = None
    level: AskedLevel

    def read(self, *, needed: bool = True) -> "tuple[str, PrivacyType]":
        """The space as text, and the privacy type on it; the level may be left out where the answer needs none."""
        return privacy_type(*space_asked(self.space), self.level, needed=needed)


@dataclass(frozen=True, slots=True)
class AskedMeasure:
    """One of three options; Bayes vulnerability where none is given."""

    measure: Annotated[
        str | None,
        option(
            "NAME", "Measure of leakage: bayes, bayes-risk, shannon, guessing, or property:A,B,A (a value a secret)."
        ),
    ] = None
    gain: Annotated[
        str | None,
        option("FILE", "Instead of a loss, gains.csv with a row for each secret and a column for each action."),
    ] = None
    loss: Annotated[str | None, _LOSS] = None

    @property
    def is_given(self) -> bool:
        """Whether any was given."""
        return self != AskedMeasure()

    def read(self) -> "Measure":
        """The measure.

        Raises:
            OutOfRange: for two of them, and for a name that is none.
            NotALoss, BadTable: for a file that is no gain or loss.
        """
        from utmost.interfaces.documents.measure_names import measure_of

        return measure_of(self.measure, self.gain, self.loss)


def space_asked(text: str | None) -> "tuple[str, Space]":
    """The space as text and as a space.

    Raises:
        OutOfRange: where none is named.
    """
    from utmost.errors import OutOfRange
    from utmost.interfaces.documents.space_names import space_named

    if text is None:
        remedy = "Add --space line:6, --space grid:4x4 or --space places:towns.csv."
        raise OutOfRange("the secrets must be named", came="no --space", remedy=remedy)
    return text, space_named(text)
