"""The secrets of a privacy type as a family of options, and the level between them."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

from utmost.interfaces.cli.options.option_kinds import argument, option
from utmost.interfaces.cli.options.shared_options import AskedLevel, SpaceSpec

if TYPE_CHECKING:
    from utmost.design.spaces.space import Space
    from utmost.design.types.privacy_type import PrivacyType

PlacesTable = Annotated[
    str | None, argument("PLACES", "A file of places, with --places NAME,LAT,LON if columns are named so.")
]


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of a privacy type: one of these options."""

    space: SpaceSpec = None
    line: Annotated[str | None, option("N", "N secrets in a row, at distance 1.")] = None
    counts: Annotated[str | None, option("N", "The secrets are the counts 0..N.")] = None
    discrete: Annotated[str | None, option("K", "K secrets, all equally far apart.")] = None
    hamming: Annotated[str | None, option("BITS", "All strings of so many bits.")] = None
    grid: Annotated[str | None, option("RxC", "The points of a lattice, Euclidean.")] = None
    manhattan: Annotated[str | None, option("RxC", "The points of a lattice, Manhattan.")] = None
    places: Annotated[
        str | None,
        option(
            "FILE[:NAME,LAT,LON]",
            "Labelled places on the earth, at distances in metres: a file with columns name, latitude, longitude, "
            "or with these.",
        ),
    ] = None
    graph: Annotated[str | None, option("FILE", "The nodes of a graph: a CSV file of edges, with lengths or none.")] = (
        None
    )
    distances: Annotated[str | None, option("FILE", "Any metric: a CSV file of all distances.")] = None

    def read(self) -> tuple[str, "Space"]:
        """The space as text, and as a space."""
        from utmost.interfaces.documents.space_names import one_space

        return one_space(asdict(self))

    def from_table(self, table: str | None) -> "Secrets":
        """The same, where the places are in a table that was named apart and ``--places`` names its columns, if any."""
        if table is None:
            return self
        return replace(self, places=table if self.places is None else f"{table}:{self.places}")

    def at(self, level: AskedLevel) -> tuple[str, "PrivacyType"]:
        """The space as text, and the privacy type on it at the level for one unit of distance."""
        return privacy_type(*self.read(), level)


def privacy_type(
    spelled: str, secrets: "Space", level: AskedLevel, *, needed: bool = True
) -> tuple[str, "PrivacyType"]:
    """The space as text, and the privacy type on it; the level may be left out where it is not ``needed``."""
    from utmost.core.exact.levels import level as level_of
    from utmost.design.types.privacy_type import PrivacyType

    if not needed and not level.is_given:
        return spelled, PrivacyType(secrets, level_of(alpha="1/2"))
    return spelled, PrivacyType(secrets, level.per_unit(secrets.unit))
