"""Run ids in URLs."""

from __future__ import annotations

from werkzeug.routing import BaseConverter


class RunIdConverter(BaseConverter):
    """Accepts what a run id may look like; the dot before `json` or `csv` ends it."""

    regex = r"r_[0-9A-Za-z]{1,64}"
    part_isolating = True
