"""Write examples/persons.csv and examples/persons_domain.json: 3 000 invented persons, a row each.

    python examples/make_persons.py

Nobody is real: birth dates, regions and incomes are drawn from a stream that begins at the same place each time.
"""

import csv
import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

HERE = Path(__file__).parent
TARGET, DOMAIN = HERE / "persons.csv", HERE / "persons_domain.json"
REGIONS = {"01": 5, "02": 3, "03": 1, "04": 2}
"""The regions, as codes, and how many of eleven persons live in each."""
AGES = {"ages": [18, 30, 45, 65, None], "on": "2025-01-01", "column": "birth_date", "missing": "not stated"}
"""Age groups on a day, with an open last one, from a column of birth dates."""


def persons(count: int = 3000) -> Iterator[tuple[str, str, str]]:
    """One row a person: birth date, region and income, some of them missing."""
    chance = random.Random(1)  # noqa: S311  # nobody is protected by it
    for _ in range(count):
        born = date(1930, 1, 1) + timedelta(days=chance.randrange(28_000))
        region = chance.choices(list(REGIONS), list(REGIONS.values()))[0]
        income = f"{chance.lognormvariate(10.2, 0.5):.2f}"
        yield "" if chance.random() < 0.01 else str(born), region, "" if chance.random() < 0.05 else income


def main() -> None:
    """Write the persons, and the domain in which they are counted."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["birth_date", "region", "income"])
        writer.writerows(persons())
    DOMAIN.write_text(json.dumps({"region": list(REGIONS), "age": AGES}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
