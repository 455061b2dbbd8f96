"""Types of the public calls: `typing_examples` holds for mypy, by which `src` is checked, and for pyright."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).with_name("typing_examples.py")


def checked(*command):
    """What a checker says of the examples, from the root of the project."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=EXAMPLES.parents[1], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_examples_are_typed_as_they_say(checker, tmp_path):
    """Both checkers accept the file, and refuse it once one of its types is another."""
    pytest.importorskip(checker)
    extra = ("--python-version", "3.11") if checker == "mypy" else ("--pythonpath", sys.executable)
    code, text = checked(checker, *extra, str(EXAMPLES))
    assert code == 0, text
    wrong = tmp_path / "wrong_examples.py"
    wrong.write_text(
        EXAMPLES.read_text().replace("assert_type(release.spent, Level)", "assert_type(release.spent, str)")
    )
    code, text = checked(checker, *extra, str(wrong))
    assert code == 1, text
    assert "Level" in text
