"""The pages of the gallery, each small enough to be looked at whole."""

from __future__ import annotations

from offdiag_web.components.controls import Tab

PAGES = {"components": "/_gallery", "matrices": "/_gallery/matrices", "charts": "/_gallery/charts"}
"""Addresses by what is on them."""


def pages(current: str) -> tuple[Tab, ...]:
    """Links to all pages, with the open one marked."""
    return tuple(
        Tab(name.capitalize(), address, is_current=name == current)
        for name, address in PAGES.items()
    )
