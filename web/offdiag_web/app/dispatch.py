"""URL converters, and views that are imported only when first requested.

Nearly everything a dashboard would import at startup belongs to pages that no one has opened yet.
The table of routes contains every address, so links can be written and requests find their view;
the module of the view is imported before the first request to it proceeds.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, urlsplit

from flask import Blueprint, Flask, current_app, request
from flask.typing import ResponseReturnValue, URLValuePreprocessorCallable
from jinja2 import BaseLoader, FileSystemLoader
from werkzeug.routing import BaseConverter
from werkzeug.utils import cached_property

from offdiag.domain.texts import DEFAULT_PROJECT, name_from_path, name_in_path
from offdiag.store.retries import after_failures


class RunIdConverter(BaseConverter):
    """Accepts anything that could be a run id; a dot before `json` or `csv` ends it."""

    regex = r"r_[0-9A-Za-z]{1,64}"
    part_isolating = True


PREFIX = "/api/v1"


class NumberConverter(BaseConverter):
    """The number of a flag, a job or a version: positive, and small enough for databases."""

    regex = r"[1-9][0-9]{0,17}"
    part_isolating = True

    def to_python(self, value: str) -> int:
        return int(value)


PATH_SCHEMAS: dict[str, dict[str, Any]] = {
    "run": {
        "schema": {"type": "string", "pattern": f"^{RunIdConverter.regex}$"},
        "description": "Id of a run.",
    },
    "name": {
        "schema": {"type": "string", "minLength": 1, "maxLength": 1_500},
        "description": (
            "A name. `~`, `/` and `\\` are written as `~7E`, `~2F` and `~5C`; so are the dots "
            "of `.`, `..` and of a name that ends in `.json` or `.csv`, as `~2E`."
        ),
    },
    "number": {
        "schema": {"type": "integer", "minimum": 1, "maximum": 10**18 - 1},
        "description": "",
    },
}
"""Keys that the OpenAPI description of a path parameter gets, by converter."""


class NameConverter(BaseConverter):
    """Any name, as one segment of a path; the end of an export's address is never part of it."""

    regex = r"(?:(?!\.(?:json|csv)(?:/|$))[^/])+"
    part_isolating = True

    def to_python(self, value: str) -> str:
        return name_from_path(value)

    def to_url(self, value: object) -> str:
        return quote(name_in_path(str(value)), safe="")


DATA_FORMAT = ".<any(json, csv):form>"
"""The end of the address of an export."""
SENT_BY_FORM = "form"
"""Marks queries of forms, which send even empty fields; they redirect to the canonical URL."""


SHARED = "/s/"
"""The beginning of the address of a shared page; the rest is a secret."""


def is_for_programs() -> bool:
    """Whether the request is one to the API, in any version."""
    return f"{request.path}/".startswith("/api/")


def loggable_path(path: str) -> str:
    """The path of a request without the secret of a shared page."""
    return f"{SHARED}…" if path.startswith(SHARED) else path


def requested_project() -> str:
    """The project that a request names, else the default one."""
    return request.args.get("project") or DEFAULT_PROJECT


def own_path(target: str) -> str:
    """A path on this server, even if the form names another site."""
    if any(ord(character) < 32 for character in target):
        return "/"
    try:
        parts = urlsplit(target)
    except ValueError:
        return "/"
    is_own = not parts.scheme and not parts.netloc and target.startswith("/")
    return target if is_own and not target.startswith(("//", "/\\")) else "/"


_TEMPLATES = [Path(__file__).parents[1] / part for part in ("pages", "components")]
"""Where templates are: the template of a page is in the page's folder, as `compare/pair.html`."""
_READING = frozenset({"GET", "HEAD"})


class Dashboard(Flask):
    """The Flask application. It repeats reads if the database server ended their transaction."""

    @cached_property
    def jinja_loader(self) -> BaseLoader:
        """Finds templates next to the code that uses them."""
        return FileSystemLoader(_TEMPLATES)

    def dispatch_request(self) -> ResponseReturnValue:
        """The response of the view, which is called up to four times for reads."""
        if request.method in _READING:
            return after_failures(super().dispatch_request)
        return super().dispatch_request()


Routes = Mapping[str, Mapping[str, Collection[str]]]
"""By module and endpoint: rules with their methods, such as `GET /runs`."""


class LazyViews:
    """The views that an application has according to a table of routes.

    Raises whatever importing a module raises, when a view of that module is requested.
    """

    KEY = "offdiag late views"

    def __init__(self, app: Flask, routes: Routes) -> None:
        self._app = app
        self._modules: dict[str, str] = {}
        self._blueprints: dict[str, Blueprint] = {}
        self._preparing: dict[str, list[URLValuePreprocessorCallable]] = {}
        self._lock = threading.Lock()
        for module, endpoints in routes.items():
            blueprint = Blueprint(next(iter(endpoints)).rpartition(".")[0], __name__)
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
            # The library called those of the blueprint before its module was imported.
            for prepare in self._preparing.get(request.blueprint or "", ()):
                prepare(request.endpoint, request.view_args)

    def blueprints(self, package: str) -> list[Blueprint]:
        """The blueprints that stand in for the modules of a package."""
        return [found for module, found in self._blueprints.items() if _is_in(package, module)]

    def load(self, blueprint: str | None) -> None:
        """Import the module of a blueprint, unless it is loaded already or not in the table."""
        if blueprint not in self._modules:
            return
        with self._lock:
            if (module := self._modules.get(blueprint)) is not None:
                self._take_over(import_module(module).blueprint)
                # From here on other threads do not take the lock, so everything has to be in
                # place.
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
        """Register a blueprint's views, handlers and preprocessors where requests find them."""
        alone = Flask(__name__, static_folder=None)
        alone.url_map.converters = self._app.url_map.converters
        alone.register_blueprint(blueprint)
        self._app.view_functions.update(alone.view_functions)
        self._preparing[blueprint.name] = alone.url_value_preprocessors[blueprint.name]
        self._app.error_handler_spec[blueprint.name] = alone.error_handler_spec[blueprint.name]


def lazy_views(app: Flask | None = None) -> LazyViews:
    """The lazy views of an application, by default of the one handling the request."""
    return cast(LazyViews, (app or current_app).extensions[LazyViews.KEY])


def _is_in(package: str, module: str) -> bool:
    return module.startswith(f"{package}.")


def _not_loaded(**_parts: object) -> str:
    raise RuntimeError("A view was called before its module was loaded.")
