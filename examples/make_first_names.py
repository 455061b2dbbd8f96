"""Write examples/first_names.csv from the source distribution of the package names (no network once it is here).

    pip download --no-deps --no-binary :all: names==0.3.0 && tar xzf names-0.3.0.tar.gz
    python examples/make_first_names.py names-0.3.0/names/dist.female.first

The rows are the first names of women in the census of 1990; they are in the public domain (see examples/README.md).
"""

import csv
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("first_names.csv")


def names(source: Path) -> list[tuple[str, int]]:
    """One row a name, most frequent first: the name, and how many of 100 000 women have it."""
    rows = (line.split() for line in source.read_text(encoding="ascii").splitlines())
    return [(name.capitalize(), int(percent.replace(".", ""))) for name, percent, *_ in rows]


def main() -> None:
    """Write the table."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "per_100000"])
        writer.writerows(names(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
