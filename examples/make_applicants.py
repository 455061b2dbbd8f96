"""Write examples/berkeley_applicants.csv, one row for each applicant, from examples/berkeley_admissions.csv.

    python examples/make_applicants.py

The rows follow the table's: of each department and sex first those admitted, then those rejected. The applicants are
numbered in that order; nobody's name is known.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from utmost.workloads import Domain

HERE = Path(__file__).parent
TABLE = HERE / "berkeley_admissions.csv"
TARGET = HERE / "berkeley_applicants.csv"
DOMAIN = HERE / "applicants_domain.json"


def applicants() -> Iterator[tuple[int, str, str, str]]:
    """One row an applicant: number, department, sex, outcome."""
    number = 0
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            admitted = int(row["admitted"])
            for place in range(int(row["applicants"])):
                number += 1
                yield number, row["department"], row["sex"], "admitted" if place < admitted else "rejected"


def main() -> None:
    """Write the applicants, and the domain in which they are counted."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["applicant", "department", "sex", "outcome"])
        writer.writerows(applicants())
    domain = Domain(department=list("ABCDEF"), sex=["men", "women"], outcome=["admitted", "rejected"])
    DOMAIN.write_text(json.dumps(domain.facts(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
