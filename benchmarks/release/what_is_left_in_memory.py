"""What a process still holds of a table after a release, when everything that the caller had is gone.

    python benchmarks/release/what_is_left_in_memory.py

A thousand random numbers of 62 bits are released once, and as a release that is kept. The caller drops the table and
what came of it; then all memory of the process that can be written is searched for the numbers, as 8 bytes each.
The search holds none of them itself: it knows a digest of each, and looks at every place where 8 bytes can lie.
"""

import gc
import os
import re
import sys
from hashlib import blake2b

import numpy as np

import utmost as ut

COUNT, MARK = 1000, 0x2B


def table() -> dict[str, np.ndarray]:
    """Random numbers, each with one mark in its highest byte, by which it is looked for."""
    numbers = np.frombuffer(os.urandom(8 * COUNT), dtype=np.uint64) & np.uint64((1 << 56) - 1)
    return {"n": (numbers | np.uint64(MARK << 56)).astype(np.int64)}


def digest(word: bytes) -> bytes:
    """What the search knows of a number."""
    return blake2b(word, digest_size=16).digest()


def left(known: set[bytes]) -> int:
    """How many of the numbers are somewhere in this process."""
    found = set()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps.readlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if match is None or "[v" in line:
                continue
            low, high = (int(text, 16) for text in match.groups())
            for start in range(low, high, 1 << 20):
                memory.seek(start)
                try:
                    page = memory.read(min(1 << 20, high - start))
                except OSError:
                    continue
                words = np.frombuffer(page[: len(page) // 8 * 8], dtype=np.uint64)
                for word in words[words >> np.uint64(56) == MARK].tolist():
                    found.add(digest(word.to_bytes(8, sys.byteorder)))
                del page, words
    return len(found & known)


def main() -> None:
    """Print how many are left: of a table alone, after one release, and of a release that was kept."""
    for name in ("the table alone", "released once", "kept by a release, then dropped"):
        values = table()
        known = {digest(number.tobytes()) for number in values["n"]}
        there = left(known)
        if name != "the table alone":
            if name == "released once":
                ut.release(values, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, once=True)
            else:
                release = ut.release(values, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon="1/2")
                release.at(1)
                del release
        del values
        gc.collect()
        sys.stdout.write(f"{name}: {there} of {COUNT} before, {left(known)} after\n")


if __name__ == "__main__":
    main()
