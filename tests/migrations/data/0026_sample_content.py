"""Datasets of before show no content, and hide none."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import DATASET, count, rows

LOADED = DATASET


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT image_template, link_template, content_hidden FROM dataset")
    assert found == [(None, None, False)]
    assert count(connection, "sample_content") == [0]
