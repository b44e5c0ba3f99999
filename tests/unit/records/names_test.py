"""Names of bodies, which are those of their descriptions."""

from __future__ import annotations

import pkgutil
from enum import Enum
from importlib import import_module

from pydantic import BaseModel

import offdiag.records


def test_no_two_parts_of_bodies_have_one_name() -> None:
    """Two of a name would be described as one."""
    found: dict[str, set[type]] = {}
    for module in pkgutil.walk_packages(offdiag.records.__path__, "offdiag.records."):
        for thing in vars(import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, (BaseModel, Enum)):
                found.setdefault(thing.__name__, set()).add(thing)
    assert {name: kinds for name, kinds in found.items() if len(kinds) > 1} == {}
