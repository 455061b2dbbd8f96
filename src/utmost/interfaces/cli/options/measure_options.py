"""The measure of leakage as a family of options."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from utmost.interfaces.cli.options.option_kinds import option

if TYPE_CHECKING:
    from utmost.design.leakage.measures import Measure


@dataclass(frozen=True, slots=True)
class AskedMeasure:
    """One of three options; Bayes vulnerability where none is given."""

    measure: Annotated[
        str | None, option("NAME", "bayes, bayes-risk, shannon, guessing, or property:A,B,... (a value a secret).")
    ] = None
    gain: Annotated[
        str | None, option("FILE", "A .csv file of gains: a row for each secret, a column for each action.")
    ] = None
    loss: Annotated[str | None, option("LOSS", "A loss instead of a gain: by name as for read, or a .csv file.")] = None

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
