"""The table of routes in `tests/web/access/routes.txt`: what each of them needs.

It is written by hand and says what is wanted; the tests hold the application to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from flask import Flask
from werkzeug.routing import Rule

TABLE = Path(__file__).parents[1] / "web" / "access" / "routes.txt"
_SIZES = {"K": 1024, "M": 1024 * 1024}


@dataclass(frozen=True)
class Route:
    """One method of one rule.

    `role` is "public" where anybody is let in. `about` is "project" for a thing that belongs to
    one, "any" for what shows whatever its reader may see, "registry" for what is about all.
    `how` is "person" where a token will not do. `size` is how many bytes may be sent.
    """

    method: str
    rule: str
    role: str
    about: str
    how: str
    rate: str
    size: str

    @property
    def most_bytes(self) -> int:
        return int(self.size[:-1]) * _SIZES[self.size[-1]]


def route_table() -> dict[tuple[str, str], Route]:
    """Every line by method and rule."""
    text = TABLE.read_text().partition("\n\n")[2]
    lines = [line.split() for line in text.splitlines()]
    routes = [Route(*parts) for parts in lines]
    found = {(route.method, route.rule): route for route in routes}
    assert len(found) == len(routes), "a route stands in the table twice"
    return found


def routes_of(app: Flask) -> list[tuple[str, Rule]]:
    """Every method of every rule that an application answers to, but for HEAD and OPTIONS."""
    return [
        (method, rule)
        for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule)
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def spelled(rule: Rule) -> str:
    """A rule as the table spells it, in one word."""
    return rule.rule.replace(" ", "")


def path_of(rule: str, things: dict[str, str]) -> str:
    """A path that fits a rule. `things` are values by `section/part` and by part."""
    section = rule.removeprefix("/api/v1").split("/")[1]

    def value(found: re.Match[str]) -> str:
        part = found.group(2)
        if choices := re.match(r"any\(([^,)]+)", found.group(1) or ""):
            return choices.group(1)
        return things.get(f"{section}/{part}") or things.get(part, "1")

    return re.sub(r"<(?:([^<>:]*(?:\([^)]*\))?):)?(\w+)>", value, rule)
