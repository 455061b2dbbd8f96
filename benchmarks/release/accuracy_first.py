"""A rule that stops as soon as every cell is within 10 % spends far less than a level that is fixed beforehand.

    python benchmarks/release/accuracy_first.py [RELEASES]

Two public tables, released by the product's own call up to epsilon 4. Beside the mean epsilon: how often a margin held
where the rule stopped (95 % is promised), what fresh noise at every step would have cost, the level that one would fix
if the least cell were known, and the one for a least cell of 20.

Applicants by department: examples/berkeley_admissions.csv [bickel1975]. Persons on board of the Titanic by class, facts
of public record: British Board of Trade, "Report on the Loss of the Titanic (S.S.)", 1912, as compiled by R. J. Dawson,
"The 'Unusual Episode' Data Revisited", Journal of Statistics Education 3 (3), 1995.
"""

import csv
import sys
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

import utmost as ut
from utmost.noise import Geometric

EXAMPLES = Path(__file__).parents[2] / "examples"
UNIT, RULE, SURE = ut.Unit(1, 1), ut.within("10 %"), Fraction(19, 20)
LADDER = RULE.levels(ut.level(4))


def departments():
    """The applicants of each department."""
    counts = Counter()
    with (EXAMPLES / "berkeley_admissions.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts[row["department"]] += int(row["applicants"])
    return counts


TABLES = {
    "UCB 1973, departments": departments(),
    "Titanic, classes": {"first": 325, "second": 285, "third": 706, "crew": 885},
}


def fixed(least):
    """The first level of the ladder at which a cell of this size is within 10 %."""
    return next(at for at in LADDER if Geometric(at).margin(SURE) <= least * RULE.share)


def main():
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    promise = ut.Promise("n", public="group", unit=UNIT, until=RULE)
    print(f"every cell within 10 %, levels {', '.join(str(at.epsilon) for at in LADDER)}; {releases} releases each")
    for name, cells in TABLES.items():
        table = {"group": list(cells), "n": list(cells.values())}
        spent, fresh, met, held = Fraction(0), Fraction(0), 0, Counter()
        for _ in range(releases):
            answer = ut.release(table, promise, epsilon=4)
            spent += answer.level.epsilon
            fresh += sum(at.epsilon for at in LADDER if at <= answer.level)
            met += answer.is_met
            margin = answer.margin()
            for group, value, true in zip(table["group"], answer.table["n"], table["n"], strict=True):
                held[group] += abs(value - true) <= margin
        print(
            f"  {name}: mean epsilon {float(spent / releases):.3f}, met in {met / releases:.1%}; each margin held in "
            f"{min(held.values()) / releases:.1%} or more; fresh noise at every step {float(fresh / releases):.3f}; "
            f"fixed at {float(fixed(min(cells.values())).epsilon):.4g} if the least cell were known, and at "
            f"{float(fixed(20).epsilon):g} for a least cell of 20"
        )
    by_plan(max(1, releases // 10))


def by_plan(releases):
    """Departments, men and women, and the total, put together from the sums of one plan."""
    domain = ut.Domain(department=sorted(departments()), sex=["men", "women"])
    cells = np.zeros(domain.shape, int)
    with (EXAMPLES / "berkeley_admissions.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = sorted(departments()).index(row["department"]), ["men", "women"].index(row["sex"])
            cells[place] += int(row["applicants"])
    table = ut.counting.CountedTable(domain, cells, UNIT)
    plan = ut.choose_plan(ut.Workload(domain, {"department": 1, "sex": 1, "": 1}), UNIT, epsilon=4)
    promise, true = ut.Promise(noise=plan, until=RULE), {"department": cells.sum(1), "sex": cells.sum(0)}
    spent, held, times = Fraction(0), Counter(), Counter()
    for _ in range(releases):
        answer = ut.release(table, promise, epsilon=4)
        spent += answer.level.epsilon
        times[str(answer.level.epsilon)] += 1
        for name, sums in true.items():
            shown = answer[name]
            for place, holds in enumerate(abs(shown["count"] - sums) <= shown["count_margin"]):
                held[name, place] += holds
    print(
        f"  UCB 1973, departments, sexes and total by one plan: mean epsilon {float(spent / releases):.3f}; each "
        f"margin held in {min(held.values()) / releases:.1%} or more of {releases}; levels {dict(times)}"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
