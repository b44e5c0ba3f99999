"""Stylesheets, scripts and icon: read once, named by their content, cached indefinitely.

The layers of the stylesheet are separate files, but one response, because every request costs a
round trip.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flask import Blueprint, Response, abort, request, url_for

from offdiag_web.app.context import public

_STATIC = Path(__file__).parents[1] / "static"
STYLE_LAYERS = (
    "tokens",
    "ramps",
    "base",
    "components",
    "forms",
    "access",
    "comparison",
    "costs",
    "curves",
    "run",
    "print",
)
STYLES_OF_PAGES = ("audit", "decision", "home", "problems", "runs", "samples", "sets", "what_if")
"""Stylesheets that few pages need, which load them in addition to the shared one."""
_SHARED = ("theme", "keys", "palette", "charts", "forms", "tables", "tabs", "polls")
"""Scripts of every page, combined into one response like the layers of the stylesheet."""
_SCRIPTS = ("matrix", "map", "flags", "whatif", "copy", "runs", "scatter")
_BRUSHES = (
    *("color", "dispatch", "ease", "timer", "selection", "drag"),
    *("interpolate", "transition", "brush"),
)
"""The modules of D3 that brushes on parallel axes need, each after those it depends on."""

blueprint = Blueprint("assets", __name__)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file to serve; `digest` is the start of the SHA-256 of its content."""

    content: bytes
    mimetype: str
    digest: str
    compressed: bytes


@cache
def assets() -> dict[str, Asset]:
    """All assets by name."""
    style = b"\n".join((_STATIC / "css" / f"{layer}.css").read_bytes() for layer in STYLE_LAYERS)
    # Each in a block of its own, to keep its names local.
    shared = b"\n".join(b"{\n%s}" % _script(name) for name in _SHARED)
    scripts = {f"{name}.js": _asset(_script(name), "text/javascript") for name in _SCRIPTS}
    htmx = (_STATIC / "vendor" / "htmx" / "htmx.min.js").read_bytes()
    parallel = b"\n;".join(
        [
            *((_STATIC / "vendor" / "d3" / f"d3-{part}.min.js").read_bytes() for part in _BRUSHES),
            *((_STATIC / "js" / f"{name}.js").read_bytes() for name in ("runs", "parallel")),
        ]
    )
    return {
        "offdiag.css": _asset(_short(style), "text/css"),
        **{
            f"{name}.css": _asset((_STATIC / "css" / f"{name}.css").read_bytes(), "text/css")
            for name in STYLES_OF_PAGES
        },
        "icon.svg": _asset((_STATIC / "icon.svg").read_bytes(), "image/svg+xml"),
        "htmx.js": _asset(htmx, "text/javascript"),
        "parallel.js": _asset(parallel, "text/javascript"),
        "offdiag.js": _asset(shared, "text/javascript"),
        **scripts,
    }


def _short(style: bytes) -> bytes:
    """The stylesheet without comments and blanks, which only help those who read the files."""
    bare = re.sub(rb"/\*.*?\*/", b"", style, flags=re.DOTALL)
    return re.sub(rb";?\s*(?=})|([:;{,]) | (?={)|(\n)\s*", rb"\1\2", bare)


def _script(name: str) -> bytes:
    return (_STATIC / "js" / f"{name}.js").read_bytes()


def _asset(content: bytes, mimetype: str) -> Asset:
    digest = hashlib.sha256(content).hexdigest()[:16]
    return Asset(content, mimetype, digest, gzip.compress(content, mtime=0))


@blueprint.app_template_global("asset")
def asset_url(name: str) -> str:
    """URL of an asset that changes when its content does."""
    return url_for("assets.serve", digest=assets()[name].digest, name=name)


@blueprint.get("/assets/<digest>/<name>")
@public()
def serve(digest: str, name: str) -> Response:
    """Serve one asset. An outdated digest still gets it, but uncached."""
    asset = assets().get(name) or abort(404)
    response = Response(asset.content, mimetype=asset.mimetype)
    if request.accept_encodings.quality("gzip") > 0:
        response.data = asset.compressed
        response.content_encoding = "gzip"
    response.vary.add("Accept-Encoding")
    if digest == asset.digest:
        response.cache_control.public = True
        response.cache_control.max_age = 31_536_000
        response.cache_control.immutable = True
    else:
        response.cache_control.no_cache = True
    return response
