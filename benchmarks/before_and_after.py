"""Every benchmark of two versions side by side: seconds of processor, in alternate runs, the least of three.

Run: python benchmarks/before_and_after.py PATH_OF_AN_OLDER_CHECKOUT [word in the name of a benchmark ...]

Each version runs its own script, wherever it lies in the tree, on its own `src`. The clock that the scripts read is
replaced by that of the processor, so that other work on the machine does not enter. Lines are put beside each other by
what they say apart from their figures; lines that only one version prints are left out.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE, RUNS = Path(__file__).parents[1], 3
SCRIPTS = (  # arguments of both, and of the newer one alone
    ("relaxing_takes_under_60_nanoseconds", ["1e6"], []),
    ("a_hundred_million_cells_fit_in_bounded_memory", ["1e7"], []),
    ("integer_noise_is_a_thousand_times_faster", [], []),
    ("single_draws_take_a_microsecond", [], []),
    ("staircase_cost_does_not_depend_on_sensitivity", [], []),
    ("tables_are_built_in_milliseconds", [], []),
    ("a_million_clients_answer_in_seconds", [], []),
    ("a_ledger_keeps_a_million_cells_in_seconds", ["1e3", "1e6"], []),
    ("a_ledger_keeps_a_million_cells_in_seconds", ["1e3", "1e6"], ["--largest", "1000"]),
    ("capacities_over_priors_take_a_second", [], []),
    ("capacities_of_thousands_of_places_take_seconds", [], []),
    ("optima_of_a_hundred_places_take_seconds", ["7"], []),
    ("optima_of_ten_thousand_counts_take_seconds", [], []),
    ("the_best_mechanism_for_places_loses_least", [], []),
    ("refinement_is_decided_in_two_seconds", [], []),
    ("vertices_are_listed_at_a_million_a_second", [], []),
    ("kernels_of_the_papers_types_take_seconds", [], []),
)
FIGURE = re.compile(r"(?<![\w.])(\d+\.\d+)(?= m?s\b|  )")
CLOCK = (
    "import os, runpy, sys, time; time.perf_counter = time.process_time; sys.argv = sys.argv[1:];"
    "sys.path.insert(0, os.path.dirname(sys.argv[0])); runpy.run_path(sys.argv[0], run_name='__main__')"
)


def figures(checkout, name, arguments):
    """The first figure of each line, by what the line says apart from its figures."""
    (script,) = (checkout / "benchmarks").rglob(f"{name}.py")
    paths = os.pathsep.join(str(checkout / part) for part in ("src", "tests", "benchmarks/sampling"))
    done = subprocess.run(
        [sys.executable, "-c", CLOCK, str(script), *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    found, above = {}, ""
    for line in done.stdout.splitlines():
        match = FIGURE.search(line)
        words = " ".join(line[: match.start() if match else None].split()).rstrip(":,")
        if not line.startswith(" "):
            above = re.split(r"[;:,] ", words)[0]
        if match:
            found[words if words == above or not line.startswith(" ") else f"{above}; {words}"] = float(match[1])
    return found


def main():
    older, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    for name, both, newer in SCRIPTS:
        if wanted and not any(word in name for word in wanted):
            continue
        print(f"{name} {' '.join([*newer, *both])}", flush=True)
        runs = [(figures(older, name, both), figures(HERE, name, [*newer, *both])) for _ in range(RUNS)]
        for line in [line for line in runs[0][0] if line in runs[0][1]]:
            before, after = (min(run[side].get(line, float("inf")) for run in runs) for side in (0, 1))
            print(f"  {line:60}{before:12.3f}{after:12.3f}{after / max(before, 1e-3):9.2f}", flush=True)


if __name__ == "__main__":
    main()
