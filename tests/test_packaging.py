"""What is exported, listed and shipped is what is there."""

from __future__ import annotations

import tomllib
from types import ModuleType

import diffspot_hf
from diffspot_hf.register import DATASETS, METRICS

MAPPED = {"metrics": "metrics", "dataset_scripts": "dataset_scripts", "cards": "cards"}


def test_exported_names_are_exactly_what_is_public():
    named = {name for name in vars(diffspot_hf) if not name.startswith("_")}
    modules = {name for name in named if isinstance(getattr(diffspot_hf, name), ModuleType)}
    assert set(diffspot_hf.__all__) == named - modules - {"annotations", "Any"}


def test_every_package_is_listed_for_the_wheel(repo):
    listed = set(tomllib.loads((repo / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {".".join(p.parent.relative_to(repo).parts) for p in (repo / "diffspot_hf").rglob("__init__.py")}
    for folder in MAPPED:
        found |= {
            ".".join(["diffspot_hf", *p.parent.relative_to(repo).parts]) for p in (repo / folder).rglob("__init__.py")
        }
    assert listed == found


def test_the_version_stands_in_one_tongue(repo):
    assert tomllib.loads((repo / "pyproject.toml").read_text())["project"]["version"] == diffspot_hf.__version__


def test_every_registered_name_has_its_module(repo):
    assert all((repo / "dataset_scripts" / f"{name}.py").is_file() for name in DATASETS)
    assert all((repo / "metrics" / name / f"{name}.py").is_file() for name in METRICS)


def test_torchvision_is_nowhere_asked_for(repo):
    project = tomllib.loads((repo / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    assert not any(d.startswith("torchvision") for d in asked)
