"""The tables of a ledger, and the steps by which an older store becomes one of today.

The law by which this format evolves
    A table or a field is never removed and its meaning is never changed. What is new gets a new name and one step more
    at the end of `STEPS`, which leaves every row that is there as it is. A store with more steps than this version
    knows was written by a later version, and is refused. The same law holds for events, see `event`.
"""

from utmost.errors import Unsupported

# BYTES stands for the store's own type of byte strings.
STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE utmost_schema (version INTEGER NOT NULL)",
        "INSERT INTO utmost_schema VALUES (0)",
        "CREATE TABLE utmost_events (number BIGINT PRIMARY KEY, body BYTES NOT NULL, mac BYTES NOT NULL)",
        "CREATE TABLE utmost_head (number BIGINT NOT NULL, seal BYTES NOT NULL)",
        "CREATE TABLE utmost_parts (event BIGINT NOT NULL, part BIGINT NOT NULL, content BYTES NOT NULL, "
        "PRIMARY KEY (event, part))",
    ),
)
"""What turns a store of version k into one of version k + 1."""


def missing_steps(version: int, steps: tuple[tuple[str, ...], ...] = STEPS) -> list[str]:
    """The statements that bring a store of this version up to date.

    Raises:
        Unsupported: for a store of a later version.

    >>> missing_steps(len(STEPS))
    []
    """
    if not 0 <= version <= len(steps):
        raise Unsupported(
            f"the ledger's tables must be of version {len(steps)} or older",
            came=version,
            where="ledger",
            mend="Open it with the version of utmost that wrote it, or a later one.",
        )
    statements = [statement for step in steps[version:] for statement in step]
    return statements + ([f"UPDATE utmost_schema SET version = {len(steps)}"] if statements else [])
