"""How the documentation becomes a site: `make site`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import complete_page
from sphinx.application import Sphinx

from offdiag.version import offdiag_version

project = "offdiag"
author = "The offdiag authors"
copyright = author  # noqa: A001 - the name is Sphinx's
release = offdiag_version()
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["Thumbs.db"]
myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_title = "offdiag"
html_copy_source = False
html_show_sourcelink = False
html_theme_options: dict[str, object] = {"footer_icons": []}


def setup(app: Sphinx) -> None:
    """Complete pages whose end follows from code, while they are read."""
    app.connect("source-read", complete_page)
