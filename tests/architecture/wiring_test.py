"""Things that have to be named in two places are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import click
import pytest

from offdiag import errors
from offdiag.cli.commands import COMMANDS, offdiag
from offdiag.store import models
from offdiag_web.app.errors import STATUS_OF

ROOT = Path(__file__).parents[2]


def all_errors() -> list[type[errors.OffdiagError]]:
    found = [errors.OffdiagError]
    for kind in found:
        found.extend(kind.__subclasses__())
    return [kind for kind in found[1:] if kind.__module__ == errors.__name__]


def test_every_row_class_is_offered_by_the_models_package() -> None:
    rows = {mapper.class_.__name__ for mapper in models.Base.registry.mappers}
    defined = {
        name
        for module in iter_modules(models.__path__, f"{models.__name__}.")
        for name in vars(import_module(module.name))
        if name.endswith("Row")
    }

    assert defined == rows
    assert rows <= set(vars(models))


def test_every_error_has_a_code_of_its_own_or_a_kind_within_that_of_its_parent() -> None:
    names = [(error.code, error.kind) for error in all_errors()]

    assert len(set(names)) == len(names)
    assert errors.OffdiagError.code not in {code for code, _ in names}


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_of_its_own_or_of_its_parent(
    kind: type[errors.OffdiagError],
) -> None:
    assert any(parent in STATUS_OF for parent in kind.mro())


def test_every_verb_is_found_under_its_name_and_says_what_it_does() -> None:
    with click.Context(offdiag) as context:
        for verb in COMMANDS:
            command = offdiag.get_command(context, verb)

            assert command is not None
            assert command.name == verb
            assert command.help


def test_every_package_says_that_it_is_typed() -> None:
    packages = [path.parent for path in ROOT.glob("*/offdiag*/__init__.py")]

    assert len(packages) == 4
    assert all((package / "py.typed").is_file() for package in packages)
