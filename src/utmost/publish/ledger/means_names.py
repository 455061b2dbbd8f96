"""Names of releases of a table of several amounts: the table's name and an amount's, such as "wages: income"."""

from collections.abc import Iterable, Sequence

from utmost.errors import AlreadyPublished
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.state import Published
from utmost.publish.promises.promised_noise import PlannedNoise


def release_name(name: str, amount: str) -> str:
    """Return the name of the release of one amount of a table; the names of requests are formed in the same way."""
    return f"{name}: {amount}"


def releases_of_means(releases: Iterable[Published], name: str, version: int | None) -> dict[str, Published]:
    """Return {amount: release} for a table of several amounts; ``releases`` are all releases of the ledger, in order of
    publication.
    """
    found, beginning = dict[str, Published](), release_name(name, "")
    # The promise of a release is parsed only if its name fits.
    for release in [release for release in releases if release.name.startswith(beginning)]:
        amount = release.name.removeprefix(beginning)
        if amount == _amount(release.noise) and version in (None, release.version):
            found[amount] = release  # later versions replace earlier ones
    return found


def check_published_whole(releases: Iterable[Published], new: Sequence[PublishRequest]) -> None:
    """Refuse new releases whose names would add an amount to a table of several amounts, or replace only some of its
    amounts.
    """
    tables = dict[str, set[str]]()
    for request in new:
        amount = _amount(request.promise.noise)
        if amount is not None and request.name.endswith(ending := release_name("", amount)):
            tables.setdefault(request.name.removesuffix(ending), set()).add(amount)
    for name, amounts in tables.items():
        there = set(releases_of_means(releases, name, None))
        if there and amounts != there:
            raise AlreadyPublished(
                f"all amounts of the table {name!r} must be published in one call: {', '.join(sorted(there))}",
                came=", ".join(sorted(amounts)),
                where=repr(release_name(name, min(amounts))),
                remedy="Pass another name, or pass all these amounts in one call.",
            )


def _amount(noise: PlannedNoise) -> str | None:
    """Return the name of the amount whose counts and sums share this noise; None for other noise."""
    if not noise.is_by_plan:
        return None
    from utmost.publish.promises.sum_noise import SumNoise

    amount = noise.unit.amount if isinstance(noise, SumNoise) and noise.unit.is_shared else None
    return None if amount is None else amount.name
