"""What C would spare where counting takes its time: nanoseconds of processor an event, beside what stands there.

Run: PYTHONPATH=src python benchmarks/tables/a_compiled_core_would_spare_a_tenth_of_counting.py [events]

The prototype below is compiled by `cc` into a temporary folder; results are compared.
"""

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import pyarrow as pa

from utmost.core.sampling.item_words import BlockCipher, derived_secret, item_tags
from utmost.publish.counting.bounding import EventSums, least_in_runs
from utmost.sampling import Identifiers

SECRET, KEPT, EACH, BLOCK = bytes(32), 10, 14, 16
SOURCE = r"""
#include <stdint.h>
#include <string.h>
/* texts of up to 11 bytes as blocks: type, length with the most significant byte first, bytes, zeros */
void blocks(const uint8_t *data, const int64_t *at, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; i++) {
    uint8_t *o = out + 16 * i; int64_t size = at[i + 1] - at[i];
    memset(o, 0, 16); o[0] = 3; o[4] = size; memcpy(o + 5, data + at[i], size);
  }
}
/* the order of rows by a byte, equal ones as they come */
void order(const uint8_t *key, int64_t n, int64_t *out) {
  int64_t c[257] = {0};
  for (int64_t i = 0; i < n; i++) c[key[i] + 1]++;
  for (int k = 0; k < 256; k++) c[k + 1] += c[k];
  for (int64_t i = 0; i < n; i++) out[c[key[i]]++] = i;
}
/* texts in an order */
void gather(const uint8_t *data, const int64_t *at, const int64_t *rows, int64_t n, uint8_t *out, int64_t *ends) {
  int64_t end = ends[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t size = at[rows[i] + 1] - at[rows[i]];
    memcpy(out + end, data + at[rows[i]], size); ends[i + 1] = end += size;
  }
}
/* how often each key comes, in a table that -1 fills */
void counts(const int64_t *keys, int64_t n, int64_t *table, int64_t *sums, int64_t mask) {
  for (int64_t i = 0; i < n; i++) {
    int64_t p = (((uint64_t)keys[i] * 0x9E3779B97F4A7C15ull) >> 20) & mask;
    while (table[p] != -1 && table[p] != keys[i]) p = (p + 1) & mask;
    table[p] = keys[i]; sums[p]++;
  }
}
/* of runs of one length the k least marks */
void least(const uint64_t *marks, int64_t size, int64_t runs, int64_t k, uint8_t *kept) {
  for (int64_t r = 0; r < runs; r++, marks += size, kept += size)
    for (int64_t i = 0; i < size; i++) {
      int64_t before = 0;
      for (int64_t j = 0; j < size; j++) before += marks[j] < marks[i] || (marks[j] == marks[i] && j < i);
      kept[i] = before < k;
    }
}
"""


def at(array):
    """Where an array lies."""
    return ctypes.c_void_p(array.ctypes.data)


def show(name, ours, theirs, n):
    """The least of four, in turn, once both say the same."""
    assert (ours() == theirs()).all()
    least = [np.inf, np.inf]
    for _ in range(4):
        for k, call in enumerate((ours, theirs)):
            start = process_time()
            call()
            least[k] = min(least[k], (process_time() - start) / n * 1e9)
    print(f"{name:26} {least[0]:6.1f} ns, in C {least[1]:6.1f} ns", flush=True)


def in_c(folder):
    """The prototype, compiled."""
    source, library = Path(folder) / "core.c", Path(folder) / "core.so"
    source.write_text(SOURCE, encoding="utf-8")
    subprocess.run(["cc", "-O3", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        core = in_c(folder)
    persons = rng.integers(0, n // EACH, n)
    texts = [f"user {person}" for person in persons]
    identifiers, cipher = Identifiers.of(texts), BlockCipher(derived_secret(SECRET, "tag"))
    data, ends = np.array(identifiers.data), np.array(identifiers.offsets)

    def tags():
        blocks = np.empty((n, BLOCK), np.uint8)
        core.blocks(at(data), at(ends), n, at(blocks))
        return cipher.encrypted(blocks.view("<u8"))

    show("the tag of a text", lambda: item_tags(SECRET, [identifiers]), tags, n)
    buckets, rows = (tags()[:, 0] % 256).astype(np.uint8), np.empty(n, np.int64)

    def ordered():
        core.order(at(buckets), n, at(rows))
        return rows

    show("the order by bucket", lambda: np.argsort(buckets, kind="stable"), ordered, n)
    column, places = pa.array(texts, pa.large_string()), pa.array(rows)

    def gathered():
        content, offsets = np.empty_like(data), np.empty(n + 1, np.int64)
        core.gather(at(data), at(ends), at(rows), n, at(content), at(offsets))
        return content

    show("texts in that order", lambda: np.frombuffer(column.take(places).buffers()[2], np.uint8), gathered, n)
    cells = rng.zipf(1.4, n) % 450 * 3 + rng.integers(0, 3, n)

    def summed():
        tally = EventSums()
        tally.add(persons, cells, None)
        return tally.pairs().sums

    def hashed():
        keys, mask = persons << 11 | cells, (1 << (2 * n).bit_length()) - 1
        table, sums = np.full(mask + 1, -1), np.zeros(mask + 1, np.int64)
        core.counts(at(keys), n, at(table), at(sums), mask)
        there = np.flatnonzero(sums)
        return sums[there][np.argsort(table[there])]

    show("sums by person and cell", summed, hashed, n)
    runs = n // EACH
    marks = rng.integers(0, 1 << 63, runs * EACH).astype(np.uint64)

    def chosen():
        kept = np.empty(marks.size, np.uint8)
        core.least(at(marks), EACH, runs, KEPT, at(kept))
        return kept.astype(bool)

    starts = np.arange(runs) * EACH
    show("the ten least of a person", lambda: least_in_runs(marks, starts, np.full(runs, EACH), KEPT), chosen, n)


if __name__ == "__main__":
    main()
