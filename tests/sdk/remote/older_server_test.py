"""Jobs are upgraded before their server: requests have only fields that 0.2.0 accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import offdiag
from offdiag.sdk.remote.connection import Connection
from offdiag.store.database import Database
from support.servers import serving

_FACTS = {
    *("author", "client_key", "dataset", "git_sha", "hierarchy", "labels", "model", "name"),
    *("ordinal", "params", "project", "tags"),
}
_COUNTS = {"actual", "counted_on", "positive_label", "predicted", "sizes", "slices"}
KNOWN_TO_0_2 = {
    "/runs": _FACTS | {"labels_inferred", "positive_label"},
    "/matrices": _FACTS | {"matrix", "orientation"},
    "/counts": _FACTS | _COUNTS,
    "/runs/{id}": {"note", "tags"},
}


@pytest.fixture
def server(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    monkeypatch.setenv("OFFDIAG_SPOOL", str(tmp_path / "spool"))
    with serving(sqlite_database) as url:
        yield url


def test_requests_without_new_arguments_have_no_new_fields(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []
    send = Connection.send

    def watched(self: Connection, method: str, path: str, body: str) -> Any:
        sent.append((path, json.loads(body)))
        return send(self, method, path, body)

    monkeypatch.setattr(Connection, "send", watched)
    facts: dict[str, Any] = {"name": "nightly", "url": server}
    classes = ["a", "b", "b"]
    run = offdiag.log_run(y_true=classes, y_pred=classes, dataset="runs", **facts)
    run.note = "as before"
    offdiag.log_matrix(
        [[3, 1], [0, 2]],
        orientation="actual_rows",
        labels=["a", "b"],
        dataset="matrices",
        **facts,
    )
    frame = pd.DataFrame({"y": classes, "yhat": classes, "site": ["x", "y", "y"]})
    offdiag.log_frame(frame, slices=["site"], keep_predictions=False, dataset="counts", **facts)

    bodies = {path.replace(run.id, "{id}"): body for path, body in sent}
    for path, known in KNOWN_TO_0_2.items():
        assert bodies[path].keys() <= known, path
    assert bodies["/runs"]["project"] == "default"
