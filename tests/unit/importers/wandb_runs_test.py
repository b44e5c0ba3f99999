"""W&B: folders of runs and tables of predictions, as `WANDB_MODE=offline` writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from offdiag.errors import InvalidInput, LabelNote
from offdiag.importers import ImportedLabels, ImportedMatrix, read

TABLE = {
    "columns": ["id", "label", "prediction"],
    "data": [["a", "mel", "mel"], ["b", "nv", "mel"]],
}
MATRIX = {
    "columns": ["Actual", "Predicted", "nPredictions"],
    "data": [["mel", "mel", 5], ["mel", "nv", 1], ["nv", "mel", 0], ["nv", "nv", 8]],
}


def varint(number: int) -> bytes:
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + varint(high) if high else bytes([low])


def field(number: int, value: bytes | str) -> bytes:
    """A field of a protocol buffer that contains bytes."""
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def item(key: int, name: str, value: object) -> bytes:
    return field(1, field(key, name) + field(16, json.dumps(value)))


def log(*records: bytes) -> bytes:
    """A log of LevelDB: records of 7 bytes and their content, split at every 32 KiB."""
    content = b":W&B\xe1\xbe\x00"
    for record in records:
        kinds, rest = iter([2]), record
        while True:
            room = 32_768 - len(content) % 32_768 - 7
            if room < 0:
                content += bytes(room + 7)
                continue
            part, rest = rest[:room], rest[room:]
            first = next(kinds, 3)
            kind = {2: 2 if rest else 1, 3: 3 if rest else 4}[first]
            content += b"crc!" + len(part).to_bytes(2, "little") + bytes([kind]) + part
            if not rest:
                break
    return content


RUN = field(
    17,
    field(1, "v81h")
    + field(3, "lesions")
    + field(4, item(1, "lr", 0.1) + item(1, "net", {"depth": 18}) + item(1, "_wandb", {}))
    + field(8, "resnet")
    + field(10, "a")
    + field(10, "b"),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "offline-run-1"
    write(folder / "files/media/table/predictions_0_76.table.json", TABLE)
    steps = [
        varint(1 << 3) + varint(7) + field(2, item(2, "loss", 1 / step) + item(2, "_step", step))
        for step in (1, 2)
    ]
    long = field(6, "x" * 100_000)
    (folder / "run-v81h.wandb").write_bytes(log(RUN, steps[0], long, steps[1]))
    return folder


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_the_folder_of_an_offline_run_has_its_predictions_and_what_describes_it(run: Path) -> None:
    found = read("wandb", run)

    assert found.content == ImportedLabels(["mel", "nv"], ["mel", "mel"])
    assert isinstance(found.content, ImportedLabels)
    assert found.content.columns == ("label", "prediction")
    assert found.params == {"lr": 0.1, "net": '{"depth": 18}', "metrics.loss": 0.5}
    assert found.tags == {
        "wandb.id": "v81h",
        "wandb.name": "resnet",
        "wandb.project": "lesions",
        "wandb.tags": "a, b",
    }


def test_a_log_that_ends_in_the_middle_of_a_record_is_read_up_to_there(run: Path) -> None:
    file = run / "run-v81h.wandb"
    file.write_bytes(file.read_bytes()[:-10])

    assert read("wandb", run).params["metrics.loss"] == 1.0


@pytest.mark.parametrize(
    ("last", "value"),
    [
        (float("nan"), "nan"),
        ("NaN", "nan"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (None, None),
        ("a caption", 0.5),
    ],
)
def test_the_last_value_counts_also_where_it_is_no_finite_number(
    run: Path, last: object, value: object
) -> None:
    history = field(2, item(2, "loss", last) + item(2, "never a number", None))
    log_of_run = run / "run-v81h.wandb"
    log_of_run.write_bytes(log(RUN, field(2, item(2, "loss", 0.5)), history))

    found = read("wandb", run).params

    assert found == {"lr": 0.1, "net": '{"depth": 18}', "metrics.loss": value}


def test_a_run_of_metrics_alone_says_what_can_be_imported(run: Path) -> None:
    (run / "files/media/table/predictions_0_76.table.json").unlink()

    with pytest.raises(InvalidInput, match=r"no tables, and metrics alone.*wandb\.Table"):
        read("wandb", run)


def test_one_of_two_tables_has_to_be_named(run: Path) -> None:
    write(run / "files/media/table/confusion.table.json", MATRIX)

    with pytest.raises(InvalidInput, match="2 tables of the run"):
        read("wandb", run)
    named = read("wandb", run, artifact="files/media/table/confusion.table.json")

    assert isinstance(named.content, ImportedMatrix)
    assert named.content.matrix == [[5, 1], [0, 8]]


def test_decimals_that_may_be_shares_are_noted_once(run: Path) -> None:
    cells = [["a", "a", 1.0], ["b", "a", 1.0], ["c", "b", 1.0], ["a", "b", 0.0], ["a", "c", 0.0]]
    write(run / "files/media/table/predictions_0_76.table.json", MATRIX | {"data": cells})

    with pytest.warns(LabelNote, match="every row of the matrix adds up to 1") as notes:
        content = read("wandb", run).content

    assert isinstance(content, ImportedMatrix)
    assert content.matrix == [[1, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert len(notes) == 1


def test_a_table_of_predictions_is_read_by_itself(run: Path) -> None:
    found = read("wandb", run / "files/media/table/predictions_0_76.table.json")

    assert found.convention.endswith("of one sample.")


def test_unknown_columns_are_asked_about(run: Path) -> None:
    write(
        run / "files/media/table/predictions_0_76.table.json",
        TABLE | {"columns": ["id", "diagnosis", "guess"]},
    )

    with pytest.raises(InvalidInput, match="Name the right one of 'id', 'diagnosis', 'guess'"):
        read("wandb", run)
    assert isinstance(
        read("wandb", run, true_column="diagnosis", pred_column="guess").content, ImportedLabels
    )


def test_another_file_is_no_log(run: Path) -> None:
    (run / "run-v81h.wandb").write_text("hello", encoding="utf-8")

    with pytest.raises(InvalidInput, match="not a W&B log"):
        read("wandb", run)
