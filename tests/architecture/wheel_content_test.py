"""What an installed offdiag consists of: the wheel is built and opened."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE_ROOTS = {
    "offdiag": ROOT / "registry",
    "offdiag_migrations": ROOT / "migrations",
    "offdiag_web": ROOT / "web",
    "offdiag_workers": ROOT / "workers",
}


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of all files in a wheel built from this tree."""
    target = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", target],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_installs_exactly_our_four_packages(wheel_names: set[str]) -> None:
    top_level = {name.split("/")[0] for name in wheel_names}

    assert {name for name in top_level if not name.endswith(".dist-info")} == set(SOURCE_ROOTS)


@pytest.mark.parametrize("package", SOURCE_ROOTS)
def test_every_file_of_a_package_is_in_the_wheel(package: str, wheel_names: set[str]) -> None:
    root = SOURCE_ROOTS[package]
    on_disk = {
        path.relative_to(root).as_posix()
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert on_disk
    assert on_disk <= wheel_names


@pytest.mark.parametrize(
    "pattern",
    [
        "offdiag/py.typed",
        "offdiag/team/gunicorn.conf.py.example",
        "offdiag/team/systemd/offdiag-*.service",
        "offdiag_migrations/script.py.mako",
        "offdiag_migrations/env.py",
        "offdiag_migrations/versions/0001_*.py",
        "offdiag_web/components/*.html",
        "offdiag_web/pages/compare/*.html",
        "offdiag_web/routes.txt",
        "offdiag_web/static/css/*.css",
        "offdiag_web/static/vendor/htmx/*.js",
        "offdiag-*.dist-info/licenses/LICENSE",
    ],
)
def test_what_is_needed_beside_code_is_in_the_wheel(pattern: str, wheel_names: set[str]) -> None:
    assert any(Path(name).match(pattern) for name in wheel_names), pattern


def test_no_tests_and_no_settings_of_this_tree_are_in_the_wheel(wheel_names: set[str]) -> None:
    folders = {part for name in wheel_names for part in Path(name).parts}

    assert not folders & {"tests", "config", "docs", "benchmarks", ".ci"}
