"""The dashboard: server-rendered pages over the registry, and their JSON and CSV twins."""

from offdiag_web.application import create_app

__all__ = ["create_app"]
