"""The conda recipe says what pyproject.toml says, has no field that its format does not know, and renders."""

import re
import tomllib
from pathlib import Path

import pytest

from utmost.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PATH = ROOT / "recipe/recipe.yaml"
FIELDS = {
    "context": {"name", "version", "python_min"},
    "package": {"name", "version"},
    "source": {"url", "sha256", "path", "git", "patches", "target_directory"},
    "build": {"number", "string", "skip", "noarch", "script", "python", "files", "always_include_files"},
    "requirements": {"build", "host", "run", "run_constraints", "run_exports", "ignore_run_exports"},
    "about": {
        *("homepage", "license", "license_file", "license_url", "summary", "description"),
        *("documentation", "repository"),
    },
}
"""The first form of recipes: its sections, and the fields of each (recipe_version 1, CEP 14)."""


@pytest.fixture(scope="module")
def recipe():
    """The recipe as YAML, with what stands under `context` filled in."""
    yaml = pytest.importorskip("yaml")
    said = PATH.read_text(encoding="utf-8")
    context = yaml.safe_load(said)["context"]
    return yaml.safe_load(re.sub(r"\$\{\{ (\w+) \}\}", lambda found: context.get(found[1], found[0]), said))


def test_the_recipe_asks_for_what_the_project_asks_for(recipe):
    project = PROJECT["project"]
    run = [one.replace(" ", "") for one in recipe["requirements"]["run"]]
    assert sorted(run) == sorted([*project["dependencies"], f"python{project['requires-python']}"])
    host = [one.replace(" ", "") for one in recipe["requirements"]["host"]]
    assert sorted(host) == sorted(["pip", f"python{project['requires-python']}", *PROJECT["build-system"]["requires"]])
    assert (recipe["package"], recipe["source"]["path"]) == (
        {"name": project["name"], "version": __version__},
        f"../dist/{project['name']}-{__version__}.tar.gz",
    )
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {at}" for name, at in project["scripts"].items()]
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (project["description"], project["license"])
    assert about["license_file"] == project["license-files"]


def test_the_recipe_has_no_field_that_its_format_does_not_know(recipe):
    assert recipe["schema_version"] == 1
    assert set(recipe) == {"schema_version", "tests", *FIELDS}
    assert [field for name, fields in FIELDS.items() for field in recipe[name] if field not in fields] == []
    assert [set(test) for test in recipe["tests"]] == [{"python"}, {"script"}]


@pytest.mark.oracle
def test_rattler_build_reads_and_renders_the_recipe(recipe):
    """As the tool that builds it understands it; a field that is misspelt, or a kind that there is not, is refused."""
    rattler = pytest.importorskip("rattler_build")
    (variant,) = rattler.Stage0Recipe.from_file(str(PATH)).render()
    found = variant.recipe.to_dict()
    assert (found["package"], found["requirements"]) == (recipe["package"], recipe["requirements"])
    assert (found["build"]["noarch"], found["build"]["python"]) == ("python", recipe["build"]["python"])
    said = PATH.read_text(encoding="utf-8")
    for right, wrong in (("license_file:", "licence_file:"), ("noarch: python", "noarch: snake")):
        with pytest.raises(rattler.RattlerBuildError):
            rattler.Stage0Recipe.from_yaml(said.replace(right, wrong)).render()
