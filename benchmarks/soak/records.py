"""results/soak.json: one record for each kind of database, each of its last soak."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import RESULTS, Report, result_text

RECORDS = RESULTS / "soak.json"


def keep(report: Report, base: str, path: Path = RECORDS) -> None:
    """Put a record in place of the one before, and leave that of the other database."""
    kept = {**read_records(path), base: report.to_dict()}
    # The file ends as it began if the process is ended meanwhile.
    part = path.with_suffix(".part")
    part.write_text(result_text({"name": "soak", "records": kept}))
    part.replace(path)


def read_records(path: Path = RECORDS) -> Mapping[str, dict[str, Any]]:
    """The records by kind of database."""
    if not path.exists():
        return {}
    records: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["records"]
    return records
