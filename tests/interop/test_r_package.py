"""The package for R: its pages, its vignette, and what data frames become; run where `rscript.py` finds R."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import utmost as ut
from rscript import ENVIRONMENT, missing_r

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "r"
EXPORTED = re.findall(r"^export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text(encoding="utf-8"), re.M)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """R on the installed package, in a folder with the examples."""
    if reason := missing_r():
        pytest.skip(reason)
    library = tmp_path_factory.mktemp("library")
    command = ["R", "CMD", "INSTALL", f"--library={library}", str(PACKAGE)]
    installed = subprocess.run(command, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    folder = tmp_path_factory.mktemp("r")
    shutil.copytree(ROOT / "examples", folder / "examples")

    def ran(code):
        (folder / "code.R").write_text(f"library(utmost)\n{code}", encoding="utf-8")
        done = subprocess.run(
            ["Rscript", "code.R"],
            cwd=folder,
            env=ENVIRONMENT | {"R_LIBS": str(library)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    ran.folder = folder
    return ran


def test_every_exported_function_is_there_and_has_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in (PACKAGE / "man").glob("*.Rd"))
    code = (PACKAGE / "R/release_table.R").read_text(encoding="utf-8")
    assert EXPORTED
    for name in EXPORTED:
        assert f"\\alias{{{name}}}" in pages, name
        defined = re.search(rf"^{name} <- function\((.*?)\) \{{", code, re.M | re.S)
        used = re.search(rf"^{name}\((.*?)\)$", pages, re.M | re.S)
        assert defined, name
        assert used, name
        assert re.sub(r"\s+", " ", defined[1]) == re.sub(r"\s+", " ", used[1]), name


def test_the_version_is_that_of_the_library():
    from utmost.version import __version__

    description = (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")
    assert f"\nVersion: {__version__}\n" in description


def test_the_vignette_runs_as_it_is_written(run):
    page = (PACKAGE / "vignettes/from-sdctable-and-cellkey.Rmd").read_text(encoding="utf-8")
    printed = run("\n".join(re.findall(r"```\{r\}\n(.*?)```", page, re.S)))
    assert "[1] TRUE" in printed
    assert "[1] 12  3" in printed
    assert len(ut.read_release(run.folder / "released.csv")["department sex"]["count_margin"]) == 12


def test_a_data_frame_with_factors_one_row_and_whole_doubles_is_released(run):
    printed = run("""
one <- data.frame(town = factor("Bonn"), n = 7)
x <- release_table(one, "n", "town", epsilon = 40)
stopifnot(x$n == 7, x$town == "Bonn", inherits(x, "utmost_release"), !inherits(x[1, ], "utmost_release"))
y <- relax(x, 50)
stopifnot(totals(y, list(town = "Bonn"))$value == 7, "guarantee" %in% statement(y)$label)
told <- noisy_table(data.frame(a = c("x", "y"), n = c(5, 6)), list(n = list("gaussian", sigma = 2)), source = "them")
write_release(told, "told.csv")
stopifnot(identical(read_release("told.csv")$n_margin, told$n_margin), totals(told)$value == 11)
cat(conditionMessage(tryCatch(totals(one), error = identity)), "\\n")
cat(conditionMessage(tryCatch(release_table(one, "m", "town", 1), error = identity)), "\\n")
cat(conditionMessage(tryCatch(release_counts(one, "n", "town", 1, 1), error = identity)), "\\n")
""")
    assert "plain data frame" in printed
    assert "BadTable" in printed
    assert "domain must list" in printed


def test_a_ledger_remembers_and_relaxes_counted_people(run):
    run("""
people <- data.frame(id = 1:40, sex = rep(c("f", "m"), 20))
ledger <- open_ledger("counted.db", create = TRUE)
x <- release_counts(people, "id", "sex", 1, "1/4", list(sex = c("f", "m")), ledger = ledger, name = "sexes")
y <- relax(x, 30)
stopifnot(y$count == c(20, 20), x$count_margin[[1]] > y$count_margin[[1]])
stopifnot(format(ledger$spent("sexes")) == "epsilon=30")
ledger$close()
""")
