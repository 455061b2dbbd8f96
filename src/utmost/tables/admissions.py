"""A public table for examples: applicants and admissions to the graduate school at Berkeley in 1973.

The twenty-four published counts are those of the six largest departments, by sex, as in R's UCBAdmissions. Source:
Bickel, Hammel and O'Connell (1975), Science 187.
"""

from collections.abc import Iterator
from typing import Any

ADMISSIONS: dict[str, list[Any]] = {
    "department": [letter for letter in "ABCDEF" for _ in range(2)],
    "sex": ["men", "women"] * 6,
    "applicants": [825, 108, 560, 25, 325, 593, 417, 375, 191, 393, 373, 341],
    "admitted": [512, 89, 353, 17, 120, 202, 138, 131, 53, 94, 22, 24],
}
"""The counts of applicants by department and sex, as columns with twelve rows."""

ADMISSIONS_DOMAIN: dict[str, list[str]] = {
    "department": list("ABCDEF"),
    "sex": ["men", "women"],
    "outcome": ["admitted", "rejected"],
}
"""The declared values of the columns of `admission_rows`."""


def admission_rows() -> Iterator[tuple[int, str, str, str]]:
    """Yield one row for each of the 4526 applicants: an invented applicant number, the department, the sex and the
    outcome.
    """
    number = 0
    for department, sex, applicants, admitted in zip(*ADMISSIONS.values(), strict=True):
        for place in range(applicants):
            number += 1
            yield number, department, sex, "admitted" if place < admitted else "rejected"
