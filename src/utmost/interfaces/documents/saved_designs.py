"""Write and read files of designs and channels: `save_design` and `read_design`."""

from contextlib import suppress
from pathlib import Path

import numpy as np

from utmost.core.exact.arguments import instance, truth
from utmost.core.exact.arguments import path as path_argument
from utmost.design.channels.channel import Channel
from utmost.design.optima.optimum import Optimum
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.losses import loss_named
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange, PromiseBroken
from utmost.interfaces.documents import channel_files, designs
from utmost.tables.files import files
from utmost.tables.files.atomic import Writer, write_together
from utmost.tables.files.json_files import read_json, write_json


def save_design(mechanism: Optimum | Channel, path: Path | str, *, overwrite: bool = False) -> None:
    """Write a design or a channel, completely or not at all; `read_design` reads it, and checks a design again.

    Args:
        mechanism: Design with its certificate, or channel with its names; exact numbers are written as text.
        path: Path that ends in .json to save everything, or in .csv (for a channel also .tsv) to save only the
            probabilities.
        overwrite: Whether to replace an existing file.

    Raises:
        OutOfRange: if the path has another ending.
        Unsupported: if the file exists; or if the design has constraints (then save its ``channel``).

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "coin.csv"
    >>> save_design(Channel([["2/3", "1/3"], ["1/3", "2/3"]]), path)
    >>> path.read_text().split()
    ['secret,0,1', '0,2/3,1/3', '1,1/3,2/3']
    """
    instance(mechanism, (Optimum, Channel), "mechanism")
    file = Path(path_argument(path, "path"))
    write_together({file: design_writer(mechanism, file)}, overwrite=truth(overwrite, "overwrite"))


def design_writer(mechanism: Optimum | Channel, path: Path, loss: str | None = None) -> Writer:
    """Return a writer of a mechanism into an open file; refuse invalid arguments now, before any writing."""
    ending = path.suffix.lower()
    if isinstance(mechanism, Channel):
        if ending not in channel_files.ENDINGS:
            raise OutOfRange(f"a channel file must end in {', '.join(channel_files.ENDINGS)}", came=path.name)
        return lambda file: channel_files.write(mechanism, file, path)
    if ending == ".json":
        consumer, space = mechanism.certificate.consumer, mechanism.certificate.ptype.space
        written = designs.document(mechanism, loss_name(consumer, space) if loss is None else loss)
        return lambda file: write_json(written, file)
    if ending not in files.TEXT_ENDINGS:
        raise OutOfRange(
            "--out must end in .json for the design, or in .csv for its channel",
            came=path.name,
            remedy=f"Write --out {path.with_suffix('.json').name}.",
        )
    channel = mechanism.channel
    return lambda file: channel_files.write(channel, file, path)


def loss_name(consumer: Consumer, space: Space) -> str | None:
    """Return the name of a loss in a document; None for a loss that is written as a matrix."""
    rule = consumer.rule
    if rule is None:
        return None
    kind, _, numbers = rule.name.rstrip(")").partition("(")
    if kind == "distance":
        own = Consumer(consumer.prior, losses.distance(space), consumer.actions)
        return kind if np.array_equal(own.loss, consumer.loss) else None
    name = f"{kind}:{numbers.replace(' ', '')}" if numbers else kind
    with suppress(OutOfRange):
        return name if loss_named(name).name == rule.name else None
    return None


def read_design(path: Path | str) -> Optimum | Channel:
    """Read a design or a channel; everything that a design states is computed again.

    Args:
        path: File of `save_design` or ``utmost design --out``, or any channel as .csv or .json: rows are secrets,
            columns outcomes, each cell a rational or a decimal.

    Returns:
        An `Optimum` for a design with its certificate, else a `Channel`.

    Raises:
        BadTable, NotAChannel: if the file has neither a design nor a channel, or if its fields do not agree; the
            message names the line and column, or the field.
        PromiseBroken: if the certificate of a design does not prove its loss.
        OSError: if the file cannot be read.
        Unsupported: if the format is of a later version.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "coin.json"
    >>> save_design(Channel([["2/3", "1/3"], ["1/3", "2/3"]], outcomes=["yes", "no"]), path)
    >>> str(read_design(path).matrix[0, 0]), read_design(path).outcomes
    ('2/3', ('yes', 'no'))
    """
    # A file in memory is a Path, too, and a copy would lose its content.
    path = path if isinstance(path, Path) else Path(path_argument(path, "path"))
    if path.suffix.lower() == ".json" and is_design(path):
        certificate = designs.read(path)
        if not certificate.verify():
            raise PromiseBroken("the certificate of a design must prove its loss", where=str(path))
        return Optimum(certificate, designs.method_of(certificate))
    return channel_files.read(path)


def is_design(path: Path) -> bool:
    facts = read_json(path, "a mechanism must")
    return isinstance(facts, dict) and facts.get("kind") == designs.KIND
