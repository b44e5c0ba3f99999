"""What a forked process notes of itself."""

from __future__ import annotations

import os
from pathlib import Path


def note_variable(name: str, file: str) -> None:
    """Write the value of an environment variable to a file; empty where there is none."""
    Path(file).write_text(os.environ.get(name, ""))
