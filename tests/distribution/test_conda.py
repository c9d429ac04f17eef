"""The conda recipe says what pyproject.toml says, and is one that rattler-build reads."""

import runpy
import tomllib
from typing import Any

import pytest
import yaml

from distribution.image_file import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WRITER = runpy.run_path(str(ROOT / "conda" / "write_requirements.py"))
RECIPE: dict[str, Any] = yaml.safe_load(WRITER["RECIPE"].read_text("utf-8"))


def test_it_requires_what_the_wheel_requires_and_has_its_version() -> None:
    """If this fails after a change: python conda/write_requirements.py"""
    assert WRITER["RECIPE"].read_text("utf-8") == WRITER["text"]()
    wanted = WRITER["requirements"](PROJECT["project"])
    assert {name: RECIPE["requirements"][name] for name in wanted} == wanted
    assert RECIPE["context"]["version"] == PROJECT["project"]["version"]


def test_it_is_built_as_the_wheel_is() -> None:
    wanted = map(WRITER["as_conda"], PROJECT["build-system"]["requires"])
    assert set(wanted) <= set(RECIPE["requirements"]["host"])


def test_licence_and_command_are_those_of_the_project() -> None:
    project = PROJECT["project"]
    assert RECIPE["about"]["license"] == project["license"]
    assert RECIPE["about"]["license_file"] == project["license-files"]
    (entry,) = RECIPE["build"]["python"]["entry_points"]
    assert dict([entry.split(" = ")]) == project["scripts"]


@pytest.mark.long
def test_rattler_build_renders_it_for_every_platform() -> None:
    from rattler_build import Stage0Recipe

    (variant,) = Stage0Recipe.from_file(str(WRITER["RECIPE"])).render()
    assert variant.recipe.to_dict()["package"] == {
        "name": "letalone",
        "version": PROJECT["project"]["version"],
    }
