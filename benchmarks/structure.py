"""Measures, read from the sources, of how easily readers find their way in the code.

Each measure is a number that should fall, or must not grow; tests check the cheap ones. Only files
that git tracks are counted.
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from math import ceil
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
FOLDERS = ("registry", "migrations", "web", "workers")
PACKAGES = ("offdiag", "offdiag_migrations", "offdiag_web", "offdiag_workers")
TABLES = frozenset(
    [
        "offdiag",
        "offdiag.flags.rules",
        "offdiag.importers",
        "offdiag.metrics.aggregates",
        "offdiag.metrics.per_class",
        "offdiag.services.jobs.kinds",
        "offdiag.store.models",
        "offdiag_web.application",
    ]
)
"""Modules that list others for the program to find, such as kinds of jobs and public names.

What they list has one importer by design, so a new metric, rule or importer may be a module.
"""
ONE_IN = 4
"""A class with one in four of the fields of a run repeats what a run is."""
MANY_MODULES = 15
STANDARD_TERMS = frozenset(
    ["logging", "streaming", "ranking", "resampling", "parsing", "paging", "rounding", "pooling"]
)
"""Gerunds that are established names of what these modules do."""
_PAGES = "offdiag_web.pages."
_NO_GERUNDS = frozenset({"string", "lightning"})
_RUN_ROW = "registry/offdiag/store/models/runs.py"
_SHOWN_AS = frozenset({"n_cases", "n_samples", "logged_at"})
"""The names under which columns of a run are shown."""


@cache
def product_files() -> tuple[str, ...]:
    """Paths of all modules of the product, from the root."""
    return tuple(_tracked(*(f"{folder}/*.py" for folder in FOLDERS)))


def test_lines() -> int:
    return n_lines(_tracked("tests/*.py"))


def n_lines(paths: Iterable[str]) -> int:
    return sum(len((ROOT / path).read_bytes().splitlines()) for path in paths)


def files_naming(word: str) -> list[str]:
    """Modules of the product in which a word occurs as a whole word."""
    whole = re.compile(rf"\b{re.escape(word)}\b")
    return [path for path in product_files() if whole.search(_text(path))]


def modules_named_by_a_gerund() -> list[str]:
    """Modules and packages whose last word ends in -ing and is not a standard term."""
    return [path for path in _modules_and_packages() if _is_gerund(PurePosixPath(path).stem)]


def _is_gerund(name: str) -> bool:
    word = name.rpartition("_")[2]
    return word.endswith("ing") and word not in STANDARD_TERMS | _NO_GERUNDS


def _modules_and_packages() -> list[str]:
    paths = product_files()
    packages = {str(PurePosixPath(path).parent) for path in paths if path.endswith("__init__.py")}
    return sorted({path for path in paths if not path.endswith("__init__.py")} | packages)


def large_folders() -> list[str]:
    """Folders with more than `MANY_MODULES` modules, not counting `__init__`.

    Schema revisions are not counted: every change adds one.
    """
    sizes = Counter(
        str(PurePosixPath(path).parent)
        for path in product_files()
        if not path.endswith("__init__.py") and "/versions/" not in path
    )
    return sorted(folder for folder, size in sizes.items() if size > MANY_MODULES)


def run_fields() -> frozenset[str]:
    """Names for the columns of a run: those in its table and those under which it is shown.

    A foreign key and what it refers to are one field: `project_id`, `project`.
    """
    columns = {
        name
        for node in ast.walk(ast.parse(_text(_RUN_ROW)))
        if isinstance(node, ast.ClassDef) and node.name == "RunRow"
        for name in _annotated(node)
        if not name.startswith("_")
    }
    # Costs have a note, too, but no other field of a run.
    return frozenset(_field(name) for name in (columns | _SHOWN_AS) - {"note"})


def classes_with_many_run_fields() -> list[str]:
    """`path:Class` of every class that declares a quarter of `run_fields` or more.

    A share, since a new column makes every class of what an author says one field larger.
    """
    known = run_fields()
    many = ceil(len(known) / ONE_IN)
    # Parsing takes most of the time, so only modules that name enough fields are parsed.
    words = re.compile(rf"^    ({'|'.join(sorted(known))})(?:_id)?: ", re.MULTILINE)
    return [
        f"{path}:{node.name}"
        for path in product_files()
        if len(words.findall(text := _text(path))) >= many
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        if len({_field(name) for name in _annotated(node)} & known) >= many
    ]


def modules_with_one_importer() -> dict[str, str]:
    """The modules that exactly one other module imports, type checking included, with that one."""
    # The import graph of import-linter, which `make check` runs anyway.
    import grimp

    graph = grimp.build_graph(*PACKAGES)
    importers = {
        module: graph.find_modules_that_directly_import(module) for module in graph.modules
    }
    return {module: next(iter(found)) for module, found in importers.items() if len(found) == 1}


def modules_for_one_other() -> list[str]:
    """The same without modules that a table lists for the program to find, and parts of pages."""
    return sorted(
        module
        for module, importer in modules_with_one_importer().items()
        if importer not in TABLES and not _is_part_of_page(module)
    )


def _is_part_of_page(module: str) -> bool:
    """Whether it is the view or the address of a page, which every page may have."""
    return module.startswith(_PAGES) and module.rpartition(".")[2] in ("view", "address")


def import_contracts() -> int:
    settings = tomllib.loads(_text("pyproject.toml"))
    return len(settings["tool"]["importlinter"]["contracts"])


def _annotated(node: ast.ClassDef) -> list[str]:
    return [
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]


def _field(name: str) -> str:
    return name.removesuffix("_id")


def _tracked(*patterns: str) -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for path in done.stdout.split("\0") if path and (ROOT / path).exists()]


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
