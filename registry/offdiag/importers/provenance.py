"""Where an imported run comes from, as tags that stay with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from offdiag.domain.runs import Scalar
from offdiag.importers.imported import Imported

_BLOCK = 1 << 20


def provenance(found: Imported) -> dict[str, Scalar]:
    """Dialect, assumed convention, and name and SHA-256 of the file, as tags."""
    return {
        "import.dialect": found.dialect,
        "import.convention": found.convention,
        "import.file": found.source.name,
        "import.sha256": _sha256(found.source),
    }


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
