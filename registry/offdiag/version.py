"""The version of the installed distribution, recorded with everything that is computed."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version


@cache
def offdiag_version() -> str:
    """The version in the metadata of the distribution, for example "0.2.0"."""
    return version("offdiag")
