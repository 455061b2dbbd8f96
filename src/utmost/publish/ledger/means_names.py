"""The names of the releases of a table of several amounts: name of the table and of the amount, "wages: income"."""

from collections.abc import Iterable

from utmost.publish.ledger.state import Published
from utmost.publish.promises.sum_noise import SumNoise


def release_name(name: str, amount: str) -> str:
    """The name of the release of one amount of a table; the names of requests are formed in the same way."""
    return f"{name}: {amount}"


def releases_of_means(releases: Iterable[Published], name: str, version: int | None) -> dict[str, Published]:
    """The releases of a table of several amounts, by amount; ``releases`` are all, in the order of publication."""
    found, beginning = dict[str, Published](), release_name(name, "")
    # The promise of a release is parsed only if its name fits.
    for release in [release for release in releases if release.name.startswith(beginning)]:
        noise = release.noise
        amount = noise.unit.amount if isinstance(noise, SumNoise) and noise.unit.is_shared else None
        is_amount = amount is not None and release.name == release_name(name, amount.name)
        if amount is not None and is_amount and version in (None, release.version):
            found[amount.name] = release  # later versions replace earlier ones
    return found
