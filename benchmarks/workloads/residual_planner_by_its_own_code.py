"""ResidualPlanner+ by its own program beside the closed form that we print: all tables of two and of three of Adult.

Run: PYTHONPATH=src python benchmarks/workloads/residual_planner_by_its_own_code.py FOLDER PYTHON

FOLDER is a clone of github.com/cmla-psu/ResidualPlannerPlus, and PYTHON an interpreter with its needs (numpy, pandas,
scipy, cvxpy, gurobipy). Its planner is run as it is; `resplan/parameter.py`, which it imports and does not keep, is
made empty if it is not there. Its noise is Gaussian, of privacy cost 1, which no epsilon of pure privacy equals.

Printed: root mean square errors of an answer, its own and by the sum over spaces of the root of mu times the dimension;
then ours at epsilon 1, of which every answer has a certified bar and can be relaxed.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from marginals_of_many_attributes import ADULT, dimension

from utmost.privacy import Unit
from utmost.publish.workloads.bounds.marginal_bounds import wanted_spaces
from utmost.workloads import Domain, Workload, choose_plan, marginals

THEIRS = """
import itertools, sys
import numpy as np
from resplan.ResPlan import ResPlanSum
sizes, columns = [int(size) for size in sys.argv[1].split(",")], int(sys.argv[2])
system, answers = ResPlanSum(sizes, ["I"] * len(sizes)), 0
for chosen in itertools.combinations(range(len(sizes)), columns):
    system.input_mech(chosen)
    answers += int(np.prod([sizes[at] for at in chosen]))
print((system.get_noise_level() / answers) ** 0.5)
"""


def main(folder, python):
    parameters = Path(folder) / "resplan" / "parameter.py"
    if not parameters.exists():
        parameters.write_text("options = {}\n", encoding="utf-8")
    domain = Domain({name: range(size) for name, size in ADULT.items()})
    for columns in (2, 3):
        sizes = ",".join(map(str, ADULT.values()))
        command = [python, "-c", THEIRS, sizes, str(columns)]
        theirs = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.split()[-1]
        wanted = Workload(domain, marginals(domain, columns), per_answer=True)
        answers = float(wanted.weight)
        roots = sum(float(np.sqrt(float(mu) * dimension(domain, space))) for space, mu in wanted_spaces(wanted).items())
        ours = choose_plan(wanted, Unit(1, 1), epsilon=1).value / answers
        print(
            f"tables of {columns}, {wanted.answers} answers: ResidualPlanner+ {float(theirs):.4f}, by the closed form "
            f"{roots / answers**0.5:.4f}; ours at epsilon 1 {ours**0.5:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
