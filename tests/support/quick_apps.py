"""One application for test after test, and what applications have compiled, remembered.

Making an application, compiling its templates and the rules of its addresses took longer than
the requests of most tests; what comes out is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from types import MethodType
from typing import Any, cast

from flask import Flask
from flask.templating import Environment
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from offdiag.store.database import Database
from offdiag_web.app.auth import RATES_KEY
from offdiag_web.app.last_visit import OpenProblems


class _Memory(BytecodeCache):
    def __init__(self) -> None:
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        # The bucket checks by a digest whether this is of the same source.
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._compiled[bucket.key] = bucket.bytecode_to_string()


_TEMPLATES = _Memory()


@cache
def remember_templates() -> None:
    """Let applications take compiled templates from earlier ones."""
    create_alone = Flask.create_jinja_environment

    def create(app: Flask) -> Environment:
        environment = create_alone(app)
        environment.bytecode_cache = _TEMPLATES
        return environment

    Flask.create_jinja_environment = create  # type: ignore[method-assign,assignment]


@cache
def remember_addresses() -> None:
    """Let each rule that means the same be compiled once."""
    compiled: dict[tuple[Hashable, ...], Rule] = {}
    compile_anew = Rule.compile

    def remembered(rule: Rule) -> None:
        assert rule.map is not None
        key = (
            *(rule.rule, rule.subdomain, rule.host, rule.merge_slashes, repr(rule.defaults)),
            rule.map.host_matching,
            frozenset(rule.map.converters.items()),
        )
        if key not in compiled:
            compile_anew(rule)
            compiled[key] = rule
            return
        # None of this is changed later, but for the arguments, which every rule has itself.
        known = compiled[key]
        rule._parts, rule._trace, rule._converters = known._parts, known._trace, known._converters
        rule.arguments = set(known.arguments)
        for name in ("_build", "_build_unknown"):
            setattr(rule, name, MethodType(getattr(known, name).__func__, rule))

    Rule.compile = remembered  # type: ignore[method-assign,assignment]  # nothing else is slow


class _OneAfterAnother:
    """Stands for the database of the test that is running."""

    now: Database

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)


class LentApp:
    """One application that serves the database of one test, then that of the next.

    What a request keeps in it or a test sets is gone before the next test. Once it has answered,
    nothing can be registered with it any more; tests that do so make an application of their own.
    """

    def __init__(self, make: Callable[[Database], Flask]) -> None:
        self._make = make
        self._app: Flask | None = None
        self._database = _OneAfterAnother()
        self._is_lent = False

    @contextmanager
    def over(self, database: Database) -> Iterator[Flask]:
        """The application over a database; another one while it is lent already."""
        if self._is_lent:
            yield self._make(database)
            return
        self._database.now = database
        if self._app is None:
            self._app = self._make(cast(Database, self._database))
        app = self._app
        extensions, config = dict(app.extensions), dict(app.config)
        self._is_lent = True
        try:
            yield app
        finally:
            self._is_lent = False
            app.extensions.clear()
            app.extensions.update(extensions)
            app.config.clear()
            app.config.update(config)
            app.extensions[OpenProblems.KEY] = OpenProblems()
            if (rates := app.extensions[RATES_KEY]) is not None:
                rates.window.storage.reset()
