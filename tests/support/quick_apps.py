"""What one application has compiled, remembered for the next one of the same process.

Most tests of pages have an application of their own. Compiling its templates and the rules of its
addresses anew took longer than the requests; what comes out is the same every time.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from types import MethodType

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
