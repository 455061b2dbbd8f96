"""Read policies (pairs of secrets to hide from each other) from files, and consumers of these secrets."""

from pathlib import Path

import numpy as np

from utmost.core.exact.levels import Level
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.losses import loss_named
from utmost.design.spaces.policies import Policy
from utmost.design.spaces.space import Space
from utmost.errors import BadTable, NotAMetric, OutOfRange
from utmost.interfaces.documents.consumer_files import consumer_of
from utmost.interfaces.documents.cost_files import is_file
from utmost.tables.files.small_tables import small_table

_ENDS, _HEADERS = (1, 2, 3), ("from", "source", "secret")


def policy_file(path: Path, *, directed: bool = False) -> Policy:
    """Read a policy: each row has two secrets to hide from each other, and optionally their distance."""
    # The distance is 1 by default; at distance 0 no outcome may distinguish the two secrets. A row with a single name
    # lists a secret without a partner. A first row that begins with from, source or secret is a header.
    # A directed edge x, y bounds how much likelier an outcome may be at x than at y, and not the reverse.
    edges, secrets = [], dict[str, None]()
    table = small_table(path)
    for at, (line, record) in enumerate(table.rows):
        row = list(record)
        while len(row) > 1 and not row[-1]:
            row.pop()
        if at == 0 and row[0].lower() in _HEADERS:
            continue
        if len(row) not in _ENDS or not all(row):
            came = f"{len(row)} cells, or an empty cell"
            where = f"{path}, line {line}"
            raise BadTable(
                "a row must be one secret, or two secrets and optionally a distance",
                came=came,
                where=where,
                remedy="Write A,B or A,B,2.",
            )
        secrets |= dict.fromkeys(row[:2])
        if len(row) > 1:
            edges.append((*row[:2], *map(table.spelled, row[2:])))
    if not secrets:
        raise BadTable("the file must contain secrets", came="none", where=str(path))
    try:
        policy = Policy.of_edges(edges, list(secrets), directed=directed)
    except NotAMetric as error:
        raise NotAMetric(error.required, came=error.came, where=str(path), remedy=error.remedy) from None
    if policy.is_public:
        remedy = (
            "Write two secrets in a row to protect this pair. If each row is read as a single cell, add --separator."
        )
        came = f"{policy.size} secrets and no pair"
        raise BadTable("a policy must protect at least one pair of secrets", came=came, where=str(path), remedy=remedy)
    return policy


def policy_consumer(prior: str, loss: str, policy: Policy, level: Level) -> Consumer:
    """Return a consumer of a policy's secrets; these have no order, so the loss is binary, nib or a file."""
    if not is_file(loss) and loss_named(loss) not in (losses.binary, losses.nib):
        raise OutOfRange(
            "with a policy, --loss must be binary, nib or a file", came=loss, remedy="Write --loss binary."
        )
    equal_distances = np.ones((policy.size, policy.size), dtype=np.int64) - np.eye(policy.size, dtype=np.int64)
    return consumer_of(prior, loss, Space(equal_distances, list(policy.labels)), level)
