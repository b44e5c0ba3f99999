"""The public names of offdiag: the table, the block for type checkers and `__all__` agree."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import offdiag

PUBLIC_NAMES = [name for name in offdiag.__all__ if name != "__version__"]


def names_for_type_checkers() -> dict[str, str]:
    """Public name to home module, as the `if TYPE_CHECKING` block imports them."""
    tree = ast.parse(Path(offdiag.__file__).read_text(encoding="utf-8"))
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.asname or alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_type_checkers_see_the_names_that_exist() -> None:
    integrations = offdiag._NAMES["offdiag.sdk.integrations"]

    assert names_for_type_checkers() == offdiag._HOMES
    assert {*PUBLIC_NAMES, *integrations} == set(offdiag._HOMES)


def test_a_public_name_is_the_object_at_its_home() -> None:
    for name in PUBLIC_NAMES:
        home = import_module(offdiag._HOMES[name])

        assert getattr(offdiag, name) is getattr(home, name), name
    assert set(PUBLIC_NAMES) <= set(dir(offdiag))


def test_an_unknown_name_is_an_attribute_error_as_everywhere() -> None:
    with pytest.raises(AttributeError, match="'offdiag' has no attribute 'log_rnu'"):
        _ = offdiag.log_rnu


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert offdiag.__version__.split(".")[0].isdigit()
