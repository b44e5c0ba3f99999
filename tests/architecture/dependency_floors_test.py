"""No release that a known advisory is about satisfies our bounds, or is installed here.

`make audit` asks PyPI for all advisories there are. This list needs no network, and is of those
that concern what a server of ours does.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FIRST_GOOD = {
    "authlib": ("1.6.5", "CVE-2025-59420, CVE-2025-61920: forged and huge signed texts"),
    "flask": ("3.1.1", "CVE-2025-47278: the wrong one of several signing keys"),
    "gunicorn": ("23.0.0", "CVE-2024-6827: two requests taken for one"),
    "jinja2": ("3.1.6", "CVE-2025-27516: a way around the sandbox"),
    "pillow": ("11.3.0", "CVE-2025-48379: a buffer written beyond its end"),
    "pyarrow": ("14.0.1", "CVE-2023-47248: reading a file ran code"),
    "requests": ("2.32.4", "CVE-2024-47081: passwords sent to another host"),
    "waitress": ("3.0.1", "CVE-2024-49768: a request taken for two"),
}
OF_OTHERS = {
    "certifi": ("2024.7.4", "CVE-2024-39689: a root that is not trusted any more"),
    "cryptography": ("44.0.1", "CVE-2024-12797: in the OpenSSL it brings"),
    "h11": ("0.16.0", "CVE-2025-43859: a request taken for two"),
    "idna": ("3.7", "CVE-2024-3651: time that grows with the square"),
    "urllib3": ("2.6.0", "CVE-2025-66471: unpacking without a limit"),
    "werkzeug": ("3.1.4", "CVE-2025-66221: names of devices as files"),
}
"""Brought by our dependencies, which leave the version open."""


def _bounds(*, without: Collection[str] = ()) -> dict[str, Version]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    listed = [project["dependencies"], *(group for name, group in extras if name not in without)]
    lowest: dict[str, Version] = {}
    for requirement in map(Requirement, chain.from_iterable(listed)):
        for specifier in requirement.specifier:
            if specifier.operator == ">=":
                version = Version(specifier.version)
                lowest[requirement.name] = min(version, lowest.get(requirement.name, version))
    return lowest


def test_the_oldest_versions_are_those_of_the_bounds() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "oldest.py"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    pins = dict(line.split("==") for line in done.stdout.splitlines())
    bounds = _bounds(without={"audit", "dev", "fuzz", "integrations"})

    assert {name: Version(pin) for name, pin in pins.items()} == bounds


@pytest.mark.parametrize("name", FIRST_GOOD)
def test_no_release_with_a_known_hole_satisfies_a_bound(name: str) -> None:
    good, reason = FIRST_GOOD[name]

    assert _bounds()[name] >= Version(good), reason


@pytest.mark.parametrize("name", [*FIRST_GOOD, *OF_OTHERS])
def test_no_release_with_a_known_hole_is_installed(name: str) -> None:
    good, reason = (FIRST_GOOD | OF_OTHERS)[name]
    try:
        installed = version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed, and cannot be used")

    assert Version(installed) >= Version(good), reason
