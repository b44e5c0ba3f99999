"""Every address of the dashboard, and the module that answers there.

`make routes` writes the table from the modules: below the name of each module its endpoints, with
the methods and the rule of an address on each line.
"""

from __future__ import annotations

from pathlib import Path

from offdiag_web.app.dispatch import Routes

TABLE = Path(__file__).with_name("routes.txt")


def read(text: str) -> Routes:
    """The table in a text."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    views: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        if line.startswith(" "):
            endpoint, rule = line.split(maxsplit=1)
            views[endpoint] = (*views.get(endpoint, ()), rule)
        else:
            views = found[line] = {}
    return found


ROUTES = read(TABLE.read_text(encoding="utf-8"))
