"""The dashboard: server-rendered pages over the registry, and their exports as JSON and CSV."""

from offdiag_web.application import create_app

__all__ = ["create_app"]
