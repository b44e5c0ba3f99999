"""Frames of Spark: streamed row by row from its partitions, or counted on its executors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import offdiag

sql: Any = pytest.importorskip(
    "pyspark.sql", reason="pyspark is not installed (pip install 'offdiag[integrations]')"
)

pytestmark = [
    pytest.mark.integrations,
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ,
        reason="Spark needs Java, and there is none on this machine",
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning:pyspark.*"),
]

TRUTH = ["df", "mel", "nv", "nv", "mel", "nv", "df"] * 3
FOUND = ["df", "nv", "nv", "mel", "mel", "nv", "nv"] * 3


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A Spark of one thread; starting it takes most of the time of these tests."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = sql.SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_a_spark_frame_is_stored_and_counted(
    spark: Any, tmp_path: Path, migrated_file: Path
) -> None:
    url = f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}"
    rows = [
        (f"case {number:02}", actual, found, number % 2)
        for number, (actual, found) in enumerate(zip(TRUTH, FOUND, strict=True))
    ]
    frame = spark.createDataFrame(rows, "id string, y string, yhat string, half int")

    labels = ["df", "mel", "nv"]
    stored = offdiag.log_frame(
        frame, sample_id="id", labels=labels, name="rows", dataset="spark", url=url
    )
    counted = offdiag.log_frame(
        frame, keep_predictions=False, slices=["half"], name="counts", dataset="spark", url=url
    )

    expected = offdiag.evaluate_labels(y_true=TRUTH, y_pred=FOUND, labels=labels).matrix
    assert stored.evaluation().matrix.digest == expected.digest
    assert counted.evaluation().matrix.digest == expected.digest
    odd = offdiag.evaluate_labels(y_true=TRUTH[1::2], y_pred=FOUND[1::2], labels=labels)
    assert counted.evaluation(slice="half=1").matrix.digest == odd.matrix.digest
    assert stored.examples(kind="all")["sample"].iloc[0].startswith("case ")


def test_times_are_those_of_utc_whether_stored_or_counted(
    spark: Any, tmp_path: Path, migrated_file: Path
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = spark.sql(
        "SELECT 'a' AS y, 'a' AS yhat, timestamp '2024-01-01 03:00:00' AS taken "
        "UNION ALL SELECT 'b', 'a', timestamp '2024-01-02 23:00:00'"
    )
    about: dict[str, Any] = {
        "slices": ["taken"],
        "url": f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'registry.db')}",
    }

    stored = offdiag.log_frame(frame, name="rows", dataset="stored", **about)
    counted = offdiag.log_frame(
        frame, keep_predictions=False, name="counts", dataset="counted", **about
    )

    for run in (stored, counted):
        for month in ("2023-12", "2024-01"):
            assert run.evaluation(slice=f"taken={month}").matrix.total == 1
