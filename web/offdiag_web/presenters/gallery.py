"""Constructed examples for the gallery."""

from __future__ import annotations


def gallery_view() -> dict[str, str]:
    return {}
