"""The names of the releases of a table of several amounts: the table's and the amount's, "wages: income"."""

from collections.abc import Iterable

from utmost.publish.ledger.state import Published
from utmost.publish.promises.sum_noise import SumNoise


def release_name(name: str, amount: str) -> str:
    """The name of the release of one amount of a table; so is that of a request.

    >>> release_name("wages", "income")
    'wages: income'
    """
    return f"{name}: {amount}"


def releases_of_means(releases: Iterable[Published], name: str, version: int | None) -> dict[str, Published]:
    """The releases of a table of several amounts, by amount; none where the ledger has no such table.

    Args:
        releases: Releases of the ledger, in the order published.
        version: Version of the data; the newest where None.
    """
    found, begins = dict[str, Published](), release_name(name, "")
    for release in releases:
        if not release.name.startswith(begins) or version not in (None, release.version):
            continue
        noise = release.noise
        amount = noise.unit.amount if isinstance(noise, SumNoise) and noise.unit.is_shared else None
        if amount is not None and release.name == release_name(name, amount.name):
            found[amount.name] = release  # a later version comes later
    return found
