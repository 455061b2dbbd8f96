"""The secrets of a privacy type as a family of options, and the level between them."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

from utmost.errors import NotALevel
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
    hamming: Annotated[str | None, option("BITS", "All strings of this many bits.")] = None
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
    graph: Annotated[str | None, option("FILE", "Nodes of a graph: a CSV file of edges, with or without lengths.")] = (
        None
    )
    distances: Annotated[str | None, option("FILE", "CSV file of all distances between secrets.")] = None
    epsilon_at: Annotated[
        str | None,
        option(
            "DISTANCE=NUMBER", "The level of a distance, instead of --epsilon: 200m=1, or 50km=ln2, where alpha is 1/2."
        ),
    ] = None

    def read(self) -> tuple[str, "Space"]:
        """The space as text, and as a space."""
        from utmost.interfaces.documents.space_names import one_space

        return one_space({kind: text for kind, text in asdict(self).items() if kind != "epsilon_at"})

    def from_table(self, table: str | None) -> "Secrets":
        """The same, where the places are in a table that was named apart and ``--places`` names its columns, if any."""
        if table is None:
            return self
        return replace(self, places=table if self.places is None else f"{table}:{self.places}")

    def at(self, level: AskedLevel) -> tuple[str, "PrivacyType"]:
        """The space as text, and the privacy type on it at the level for one unit of distance."""
        return privacy_type(*self.read(), level, self.epsilon_at)


def privacy_type(
    spelled: str, secrets: "Space", level: AskedLevel, epsilon_at: str | None, *, needed: bool = True
) -> tuple[str, "PrivacyType"]:
    """The space as text, and the privacy type on it.

    Args:
        spelled, secrets: the space.
        level: the level for one unit of distance.
        epsilon_at: the level of another distance instead.
        needed: whether the answer depends on it; where it does not, it may be left out.
    """
    from utmost.core.exact.levels import level as level_of
    from utmost.design.spaces.distance_units import level_at
    from utmost.design.types.privacy_type import PrivacyType

    if epsilon_at is not None:
        if level.is_given:
            raise NotALevel("one of --epsilon, --alpha and --epsilon-at must be given", came="two")
        return spelled, PrivacyType(secrets, level_at(epsilon_at, secrets.unit))
    if not needed and not level.is_given:
        return spelled, PrivacyType(secrets, level_of(alpha="1/2"))
    return spelled, PrivacyType(secrets, level.per_unit(secrets.unit))
