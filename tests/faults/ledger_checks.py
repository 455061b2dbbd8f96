"""Checks of a ledger that the faults of `test_planted_ledger_faults` must not pass; each says whether all is well."""

import shutil
import sqlite3

import numpy as np
from scipy import stats

import utmost as ut
from goodness import chi_square
from utmost.errors import UtmostError
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.ledger import Ledger, read_sealed
from utmost.noise import Geometric

# Faults are planted in the code itself.
from utmost.publish.ledger.block_encryption import packed

LEVELS = [level(epsilon="1/2"), level(epsilon=1), level(epsilon=2)]
UNIT = {"columns": ["n"], "unit": ut.Unit(1, 1)}
N = 30_000
DOUBT = 1e-9


def many(start=0):
    return {"n": np.arange(start, start + N)}


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except UtmostError:
        return True
    return False


def noise_in_a_ledger(folder, order=(0, 2, 1), **options):
    """Noise of many cells at each of `LEVELS`, from a ledger asked in this order."""
    with Ledger.open(folder / "noise.db", create=True, **options) as ledger:
        made = [ledger.publish("r", many(), ut.Promise(**UNIT), epsilon=LEVELS[order[0]]).table["n"]]
        made += [ledger.relax("r", many(), epsilon=LEVELS[i]).table["n"] for i in order[1:]]
    noise = np.empty((3, N), np.int64)
    noise[list(order)] = np.array(made) - many()["n"]
    return noise


def joint_law(folder):
    """Triples of noise that come out of a ledger have the joint law."""
    axis, noise = np.arange(-2, 3), noise_in_a_ledger(folder)
    expected = joint_pmf(np.meshgrid(axis, axis, axis, indexing="ij"), LEVELS).ravel() * N
    near = (np.abs(noise) <= 2).all(axis=0)
    seen = np.bincount(np.ravel_multi_index(tuple(noise[:, near] + 2), (5, 5, 5)), minlength=125)
    often = expected >= 8
    e, o = np.append(expected[often], N - expected[often].sum()), np.append(seen[often], N - seen[often].sum())
    margins = [chi_square(one, Geometric(at).cdf) for one, at in zip(noise, LEVELS, strict=True)]
    return min(stats.chisquare(o, e).pvalue, *margins) > DOUBT


def changed_data_refused(folder):
    """One value changed, two rows swapped, a row more, a row less: none of them is relaxed."""
    with Ledger.open(folder / "l.db", create=True) as ledger:
        ledger.publish("r", {"n": [5, 6, 7]}, ut.Promise(**UNIT), epsilon=1)
        tables = ([5, 6, 8], [6, 5, 7], [5, 6, 7, 7], [5, 6])
        return all(refused(ledger.relax, "r", {"n": n}, epsilon=2) for n in tables)


def changed_data_get_noise_of_their_own(folder):
    """Two versions of a release do not share their noise, derived or not."""
    for derived in (False, True):
        with Ledger.open(folder / f"{derived}.db", create=True, derived=derived) as ledger:
            first = ledger.publish("r", many(), ut.Promise(**UNIT), epsilon="1/2").table["n"] - many()["n"]
            changed = many(1)
            second = (
                ledger.publish("r", changed, ut.Promise(**UNIT), epsilon="1/2", version=2).table["n"] - changed["n"]
            )
            other = ledger.publish("s", many(), ut.Promise(**UNIT), epsilon="1/2", dataset="r").table["n"] - many()["n"]
        if max(abs(np.corrcoef(first, second)[0, 1]), abs(np.corrcoef(first, other)[0, 1])) > 0.05:
            return False
    return True


def edits_are_told(folder):
    """A limit raised by hand in the file is found out, with the chain or with its seal."""
    place = folder / "l.db"
    with Ledger.open(place, create=True) as ledger:
        ledger.budget("d", 1)
    connection = sqlite3.connect(place)
    connection.execute("UPDATE utmost_events SET body = CAST(REPLACE(body, '\"1\"', '\"9\"') AS BLOB) WHERE number = 2")
    connection.commit()
    connection.close()
    return refused(lambda: Ledger.open(place).verify())


def edited_responses_are_told(folder):
    place = folder / "l.db"
    with Ledger.open(place, create=True, sealed=False) as ledger:
        ledger.publish("r", {"n": [5]}, ut.Promise(**UNIT), epsilon=1)
        ledger.relax("r", {"n": [5]}, epsilon=2)
    connection = sqlite3.connect(place)
    connection.execute("UPDATE utmost_parts SET content = ? WHERE event = 3", (packed(np.array([999])),))
    connection.commit()
    connection.close()
    with Ledger.open(place) as ledger:
        return refused(ledger.view, "r", epsilon=2) and refused(ledger.verify)


def a_level_key_opens_its_level_alone(folder):
    place = folder / "l.db"
    with Ledger.open(place, create=True) as ledger:
        lower = ledger.publish("r", many(), ut.Promise(**UNIT), epsilon="1/2").table["n"]
        ledger.relax("r", many(), epsilon=4)
        ledger.publish("s", many(), ut.Promise(**UNIT), epsilon="1/2", dataset="r")
        key, higher = (ledger.level_key("r", epsilon=epsilon) for epsilon in ("1/2", 4))
    read = read_sealed(place, "r", key).table["n"]
    return key != higher and list(read) == list(lower) and refused(read_sealed, place, "s", key)


def believed_facts_are_the_published_ones(folder):
    """Swapped columns, a scaled grid, a relabelled level: a recipient with a key is not reported of what was not
    said."""
    place, table = folder / "l.db", {"n": [5, 6, 7], "m": [1, 2, 3]}
    with Ledger.open(place, create=True) as ledger:
        given = {"columns": ["n", "m"], "noise": ut.CellNoise(ut.Unit(1, 2), numbers="reals", grid="1/4")}
        ledger.publish("r", table, ut.Promise(**given), epsilon="1/2")
        key = ledger.level_key("r", epsilon="1/2")
    reported = []
    for old, new in (
        (b'"n","m"', b'"m","n"'),
        (b'"grid":"1/4"', b'"grid":"1/8"'),
        (b'"level":"1/2"', b'"level":"1/3"'),
    ):
        copy = shutil.copy(place, folder / "copy.db")
        connection = sqlite3.connect(copy)
        (body,) = connection.execute("SELECT body FROM utmost_events WHERE number = 2").fetchone()
        assert old in body
        connection.execute("UPDATE utmost_events SET body = ? WHERE number = 2", (body.replace(old, new),))
        connection.commit()
        connection.close()
        reported.append(refused(read_sealed, copy, "r", key))
    return not refused(read_sealed, place, "r", key) and all(reported)


def lengths_tell_nothing(folder):
    """The lengths of all that is stored are the same for values that need a byte, and eight."""
    lengths = []
    for number, value in enumerate((1, 10**18)):
        with Ledger.open(folder / f"{number}.db", create=True) as ledger:
            ledger.publish("r", {"n": [0, value]}, ut.Promise(**UNIT), epsilon=1)
        connection = sqlite3.connect(folder / f"{number}.db")
        lengths.append(connection.execute("SELECT event, part, length(content) FROM utmost_parts").fetchall())
        connection.close()
    return lengths[0] == lengths[1]


def the_same_data_are_told(folder):
    with Ledger.open(folder / "l.db", create=True) as ledger:
        ledger.publish("r", {"n": [5, 6, 7]}, ut.Promise(**UNIT), epsilon=1)
        return refused(ledger.publish, "s", {"n": [7, 6, 5]}, ut.Promise(**UNIT), epsilon=1)


def no_value_is_stored(folder):
    """Neither the values nor the noise stand in the files, in the ways in which they might."""
    value, place = 777_333_555_111_333_777, folder / "l.db"
    with Ledger.open(place, create=True, sealed=False) as ledger:
        released = int(ledger.publish("r", {"n": [value] * 64}, ut.Promise(**UNIT), epsilon="1e-17").table["n"][0])
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    needles = [str(value).encode(), value.to_bytes(8, "little"), value.to_bytes(8, "big")]
    noise = (released - value) & (2**64 - 1)
    # No eight bytes are this noise more often than 5 times in 10^18, and a file holds some 10^5 of them.
    needles += [noise.to_bytes(8, "little"), noise.to_bytes(8, "big")]
    return not any(needle in content for needle in needles)


RULE = ut.within("10 %", steps=5)


def released_values_decide(folder):
    """A rule stops at the first level whose released value is accurate, whatever the true value is."""
    promise = ut.Promise(**UNIT, until=RULE)
    with Ledger.open(folder / "rule.db", create=True) as ledger:
        for name in map(str, range(40)):
            answer = ledger.publish(name, {"n": [280]}, promise, epsilon=2, dataset="people")
            for at in ledger.levels(name):
                (released,) = ledger.view(name, epsilon=at).table["n"]
                margin = promise.at_stop(at, answer.stop).margin
                if (10 * margin <= abs(released)) != (at == answer.level):
                    return False
    return True


def the_last_level_is_reserved(folder):
    """A rule may begin only where the last level of its ladder is left, and spends the level that it reached."""
    promise = ut.Promise(**UNIT, until=RULE)
    with Ledger.open(folder / "reserved.db", create=True) as ledger:
        ledger.budget("people", 2)
        answer = ledger.publish("a", {"n": [4000]}, promise, epsilon=2, dataset="people")
        left = ledger.budget("people").remaining
        is_refused = refused(ledger.publish, "b", {"n": [5000]}, promise, epsilon=2, dataset="people")
        return left == 2 - answer.epsilon and is_refused


CHECKS = {
    check.__name__: check
    for check in (
        joint_law,
        changed_data_refused,
        changed_data_get_noise_of_their_own,
        edits_are_told,
        edited_responses_are_told,
        a_level_key_opens_its_level_alone,
        believed_facts_are_the_published_ones,
        lengths_tell_nothing,
        the_same_data_are_told,
        no_value_is_stored,
        released_values_decide,
        the_last_level_is_reserved,
    )
}
