"""What one application has compiled, remembered for the next one of the same process.

Most tests of pages have an application of their own. Compiling its templates and the builders of
its addresses anew took longer than the requests; what comes out is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket
from werkzeug.routing import Rule


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


def remember_templates(app: Flask) -> None:
    """Take compiled templates from earlier applications, and leave new ones for later ones."""
    app.jinja_env.bytecode_cache = _TEMPLATES


def remember_addresses() -> None:
    """Let each rule with the same parts be compiled once."""
    compiled: dict[tuple[Any, ...], Callable[..., tuple[str, str]]] = {}
    compile_anew = Rule._compile_builder

    def remembered(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = (rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown)
        if key not in compiled:
            compiled[key] = compile_anew(rule, append_unknown)
        return compiled[key]

    Rule._compile_builder = remembered  # type: ignore[method-assign,assignment]  # nothing else is slow
