"""Workload releases as JSON files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utmost.documents import codec
from utmost.errors import BadTable
from utmost.release import WorkloadRelease
from utmost.release.workload_statements import WORKLOAD_KIND
from utmost.tables.atomic import check_absent, write_together

ON_TRUST_OF_SUMS = (
    "what one individual changes: sensitivity and cells, which a count proves to whoever ran it",
    "what depends on nobody: the labels of the domain",
    "that the noise was drawn as stated, by utmost, and the sums are those drawn",
    "that parts of one partition share nobody",
)
"""What no release by a plan can show."""


def write_workload(release: WorkloadRelease, path: Path | str) -> None:
    """Write a workload release, statement and noisy sums, as one new JSON file, whole or not at all.

    Raises:
        Unsupported: where the file exists.
        OSError: where the disk refuses.
    """
    out = Path(path)
    check_absent(out)
    write_together({out: lambda file: codec.write(release.facts(), file)})


def read_workload(path: Path | str) -> WorkloadRelease:
    """The workload release of a file; its digest and its statement are checked.

    Raises:
        BadTable: for a file that is none, or was changed.
    """
    found = codec.read_json(Path(path) if isinstance(path, str) else path, "a workload release must")
    if not isinstance(found, dict):
        raise BadTable("a workload release must be a JSON object", came=type(found).__name__, where=str(path))
    return WorkloadRelease.of_facts(found)


def is_workload(path: Path) -> bool:
    """Whether a file is named as JSON and says that it is a workload release."""
    if path.suffix.lower() != ".json":
        return False
    found = codec.read_json(path, "a release must")
    return isinstance(found, Mapping) and found.get("kind") == WORKLOAD_KIND


def check_workload(facts: Mapping[str, Any]) -> WorkloadRelease:
    """Check that a workload release follows from itself, field by field: sentences, levels, laws, radii, digest.

    What it says is computed again from its domain, unit, shares, level, confidence and noisy sums, and the weights of
    least squares from the noise. The sums themselves are held by the digest and, where it is signed, by the signature.

    Raises:
        BadTable: naming the first field that does not follow from the others, or that no release has.

    >>> import numpy as np
    >>> from utmost import Domain, Unit, release_workload
    >>> from utmost.workloads import Strategy
    >>> strategy = Strategy(Domain(sex=["men", "women"]), Unit(1, 1), {"sex": 1})
    >>> facts = json.loads(json.dumps(release_workload(np.array([5, 7]), strategy, epsilon=1).facts()))
    >>> check_workload(facts).bars()
    {'sex': 3}
    >>> check_workload(facts | {"epsilon": "1/2"})
    Traceback (most recent call last):
    utmost.errors.BadTable: alpha: ...
    """
    release = WorkloadRelease.of_facts(facts)
    computed = WorkloadRelease(
        release.strategy, release.level, release.confidence, release.measured, release.kind, release.part
    )
    expected = json.loads(json.dumps(computed.facts())) | {"utmost": facts.get("utmost")}
    for name in codec.differing(facts, expected):
        remedy = "Ask the curator for the release as it was published."
        required = "what a release says must follow from its level, unit, domain and sums"
        raise BadTable(required, came="something else", where=name, remedy=remedy)
    if not isinstance(facts.get("utmost"), str):
        raise BadTable("a release must hold the version that made it", came=type(facts.get("utmost")).__name__)
    return release
