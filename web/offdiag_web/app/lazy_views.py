"""Views whose modules are loaded when somebody asks for them, or once the server has time.

Nearly all that a dashboard would load when it starts belongs to pages that nobody has opened yet.
The table of routes knows every address, so that links can be written and requests find their
view; the module of the view is imported before the first request to it goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import cast

from flask import Blueprint, Flask, current_app, request

Routes = Mapping[str, Mapping[str, Collection[str]]]
"""By module and endpoint: the rules that lead there, each after its methods: `GET /runs`."""


class LazyViews:
    """The views that an application has by a table of routes.

    Raises what importing a module raises, when a view of that module is asked for.
    """

    KEY = "offdiag late views"

    def __init__(self, app: Flask, routes: Routes) -> None:
        self._app = app
        self._modules: dict[str, str] = {}
        self._blueprints: dict[str, Blueprint] = {}
        self._lock = threading.Lock()
        for module, endpoints in routes.items():
            blueprint = Blueprint(_blueprint_of(next(iter(endpoints))), __name__)
            for endpoint, rules in endpoints.items():
                name = endpoint.removeprefix(f"{blueprint.name}.")
                for each in rules:
                    methods, _, rule = each.partition(" ")
                    blueprint.add_url_rule(rule, name, _not_loaded, methods=methods.split(","))
            app.register_blueprint(blueprint)
            self._modules[blueprint.name] = module
            self._blueprints[module] = blueprint
        app.extensions[self.KEY] = self

        @app.before_request
        def load_for_request() -> None:
            self.load(request.blueprint)

    def blueprints(self, package: str) -> list[Blueprint]:
        """What stands for the modules of a package."""
        return [found for module, found in self._blueprints.items() if _is_in(package, module)]

    def load(self, blueprint: str | None) -> None:
        """Import the module of a blueprint; what is not in the table or was loaded is left."""
        if blueprint not in self._modules:
            return
        with self._lock:
            if (module := self._modules.get(blueprint)) is not None:
                self._take_over(import_module(module).blueprint)
                # Others pass the lock by from here on, so everything has to be there.
                del self._modules[blueprint]

    def load_each(self, package: str = "offdiag_web") -> Iterator[str]:
        """Import the modules of a package one by one, and yield the name of each blueprint."""
        for blueprint, module in tuple(self._modules.items()):
            if _is_in(package, module):
                self.load(blueprint)
                yield blueprint

    def load_all(self, package: str = "offdiag_web") -> None:
        """Import all modules of a package that have views."""
        for _ in self.load_each(package):
            pass

    def _take_over(self, blueprint: Blueprint) -> None:
        """Put the views and error handlers of a blueprint where the application looks for them."""
        alone = Flask(__name__, static_folder=None)
        alone.url_map.converters = self._app.url_map.converters
        alone.register_blueprint(blueprint)
        self._app.view_functions.update(alone.view_functions)
        self._app.error_handler_spec[blueprint.name] = alone.error_handler_spec[blueprint.name]


def lazy_views(app: Flask | None = None) -> LazyViews:
    """The late views of an application, by default of the one that answers."""
    return cast(LazyViews, (app or current_app).extensions[LazyViews.KEY])


def _is_in(package: str, module: str) -> bool:
    return module.startswith(f"{package}.")


def _blueprint_of(endpoint: str) -> str:
    return endpoint.rpartition(".")[0]


def _not_loaded(**_parts: object) -> str:
    raise RuntimeError("A view was called before its module was loaded.")
