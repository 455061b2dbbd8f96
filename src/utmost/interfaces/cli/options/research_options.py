"""Options that commands about mechanisms share: space, level, prior, loss, measure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.shared_options import LOSS, LevelOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from utmost.design.leakage.measures import Measure
    from utmost.design.privacy_types.privacy_type import PrivacyType
    from utmost.design.spaces.space import Space

SpaceText = Annotated[
    str | None,
    option("KIND:SIZE", "Secrets: line:6 or places:towns.csv."),
]
CountOnly = Annotated[bool, flag("Print only the number.")]
ByOrbit = Annotated[bool, flag("Print one member of each orbit under symmetries, with the orbit's size.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyTypeOptions:
    """Options for a privacy type: the secrets, and the level for one unit of distance between them."""

    space: SpaceText = None
    level: LevelOptions

    def read(self, *, needed: bool = True) -> "tuple[str, PrivacyType]":
        """Return the space as text, and the privacy type; a missing level is alpha = 1/2 unless a level is `needed`."""
        from utmost.core.exact.levels import level as level_of
        from utmost.design.privacy_types.privacy_type import PrivacyType

        spelled, secrets = space_of_option(self.space)
        if not needed and not self.level.is_given:
            return spelled, PrivacyType(secrets, level_of(alpha="1/2"))
        return spelled, PrivacyType(secrets, self.level.per_unit(secrets.unit))


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """Options for a measure of leakage: at most one may be given; by default it is Bayes vulnerability."""

    measure: Annotated[
        str | None,
        option("NAME", "Measure: bayes, bayes-risk, shannon, guessing, or property:A,B,A (a value per secret)."),
    ] = None
    gain: Annotated[
        str | None,
        option("FILE", "File of gains, with one row for each secret (.csv)."),
    ] = None
    loss: Annotated[str | None, LOSS] = None

    @property
    def is_given(self) -> bool:
        return self != MeasureOptions()

    def read(self) -> "Measure":
        from utmost.interfaces.documents.measure_names import measure_of

        return measure_of(self.measure, self.gain, self.loss)


def check_unused(given: "Mapping[str, bool]", where: str) -> None:
    """Refuse an option that was given but has no effect; `where` completes the sentence "--option has no effect"."""
    from utmost.errors import OutOfRange

    for name, is_given in given.items():
        if is_given:
            raise OutOfRange(f"{name} has no effect {where}", came=f"{name} too", remedy=f"Leave out {name}.")


def space_of_option(text: str | None) -> "tuple[str, Space]":
    """Return the space as text, and the space itself; refuse a missing option."""
    from utmost.errors import OutOfRange
    from utmost.interfaces.documents.space_names import space_named

    if text is None:
        remedy = "Add --space line:6, --space grid:4x4 or --space places:towns.csv."
        raise OutOfRange("the secrets must be given by --space", came="no --space", remedy=remedy)
    return text, space_named(text)
