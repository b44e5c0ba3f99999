"""Writes the table of routes by which an application finds its views before it loads them.

cd tests && python -m support.written_routes
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from flask import Blueprint, Flask

import offdiag_web.api
import offdiag_web.pages
from offdiag_web import application, routes
from offdiag_web.app.dispatch import NameConverter, NumberConverter, Routes, RunIdConverter

NOT_LISTED = frozenset({"HEAD", "OPTIONS"})


def main() -> None:
    """Write the table."""
    lines = []
    for module, endpoints in routes_of_modules().items():
        lines.append(module)
        lines += [f"  {name} {rule}" for name, rules in endpoints.items() for rule in rules]
    routes.TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")


def routes_of_modules() -> Routes:
    """The table as the modules of pages and of the interface have it now."""
    return {
        module.__name__: _rules_of(module.blueprint)
        for package in (offdiag_web.api, offdiag_web.pages)
        for module in _with_views(package)
    }


def _with_views(package: ModuleType) -> Iterator[ModuleType]:
    """Modules with a blueprint, but for those that an application has from the beginning."""
    at_once = [
        getattr(module, "blueprint", None)
        for module in vars(application).values()
        if isinstance(module, ModuleType)
    ]
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        module = import_module(found.name)
        blueprint = getattr(module, "blueprint", None)
        if isinstance(blueprint, Blueprint) and blueprint not in at_once:
            yield module


def _rules_of(blueprint: Blueprint) -> dict[str, tuple[str, ...]]:
    app = Flask(__name__, static_folder=None)
    app.url_map.converters.update(run=RunIdConverter, name=NameConverter, number=NumberConverter)
    app.register_blueprint(blueprint)
    found: dict[str, tuple[str, ...]] = {}
    for rule in app.url_map.iter_rules():
        methods = ",".join(sorted((rule.methods or set()) - NOT_LISTED))
        found[rule.endpoint] = (*found.get(rule.endpoint, ()), f"{methods} {rule.rule}")
    return found


if __name__ == "__main__":
    main()
