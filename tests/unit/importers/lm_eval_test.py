"""lm-evaluation-harness: what `--log_samples` writes of choices and of generated text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from offdiag.errors import InvalidInput
from offdiag.importers import ImportedLabels, read


def sample(doc_id: int, target: str, choices: list[str], *likelihoods: float) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "target": target,
        "arguments": {
            f"gen_args_{place}": {"arg_0": "Is it good?", "arg_1": f" {text}"}
            for place, text in enumerate(choices)
        },
        "filtered_resps": [[str(value), "False"] for value in likelihoods],
        "filter": "none",
    }


def content(path: Path, samples: list[dict[str, Any]], **stated: Any) -> ImportedLabels:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in samples), encoding="utf-8")
    found = read("lm-eval", path, **stated).content
    assert isinstance(found, ImportedLabels)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "samples_sst2.jsonl"


def test_equal_choices_are_the_classes(file: Path) -> None:
    found = content(
        file,
        [
            sample(7, "1", ["bad", "good"], -3.0, -1.5),
            sample(9, "0", ["bad", "good"], -3.0, -1.5),
            sample(8, "bad", ["bad", "good"], -1.0, -10.5),
        ],
    )

    assert found == ImportedLabels(
        ["good", "bad", "bad"],
        ["good", "good", "bad"],
        ("bad", "good"),
        sample_ids=["7", "9", "8"],
    )


def test_choices_that_differ_are_counted(file: Path) -> None:
    found = content(
        file,
        [
            sample(0, "1", ["Paris", "Rome"], -3.0, -1.5),
            sample(1, "0", ["red", "blue"], -3.0, -1.5),
        ],
    )

    assert (found.y_true, found.y_pred, found.labels) == (["1", "0"], ["1", "1"], None)


def test_targets_that_are_numbers_stay_numbers_where_a_choice_is_called_so(file: Path) -> None:
    found = content(
        file,
        [
            sample(0, "1", ["3", "4", "2", "1"], -3, -1, -2, -4),
            sample(1, "3", ["1", "3", "0", "2"], -3, -5, -4, -1),
            sample(2, "0", ["red", "blue", "grey", "pink"], -1, -2, -3, -4),
        ],
    )

    assert found.y_true == found.y_pred == ["1", "3", "0"]


@pytest.mark.parametrize(("acc", "actual"), [(1.0, "1"), (0.0, "0")])
def test_the_accuracy_tells_the_number_of_a_choice_from_its_text(
    file: Path, acc: float, actual: str
) -> None:
    one = sample(0, "1", ["1", "2"], -3, -1) | {"acc": acc}
    two = sample(1, "1", ["1", "3"], -3, -1)

    assert content(file, [two, one]).y_true == [actual, actual]
    assert content(file, [two]).y_true == ["1"]  # The text: nothing else says what it is.


def test_choices_without_their_question_are_left_out(file: Path) -> None:
    one = sample(0, "1", ["bad", "good"], -3.0, -1.5, -0.1, -0.2)
    for place, text in enumerate(["bad", "good"], start=2):
        one["arguments"][f"gen_args_{place}"] = {"arg_0": "", "arg_1": f" {text}"}

    assert content(file, [one]).y_pred == ["good"]


def test_calls_in_a_list_have_choices_too(file: Path) -> None:
    one = sample(0, "1", ["bad", "good"], -3.0, -1.5)
    one["arguments"] = [["Is it good?", " bad"], ["Is it good?", " good"]]
    two = sample(1, "0", ["bad", "good"], -3.0, -1.5)

    found = content(file, [one, two])

    assert (found.y_true, found.y_pred) == (["good", "bad"], ["good", "good"])
    assert found.labels == ("bad", "good")


def old(doc_id: int, target: object, *likelihoods: float) -> dict[str, Any]:
    """A sample as the harness wrote it up to 0.4.2, without the name of its filter."""
    return {
        "doc_id": doc_id,
        "target": target,
        "arguments": [["Is it good?", " bad"], ["Is it good?", " good"]],
        "filtered_resps": [[value, False] for value in likelihoods],
        "acc": float(likelihoods.index(max(likelihoods)) == target),
    }


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (
            sample(0, "1", ["bad", "good"], -3.0, -1.5) | {"acc": 0.0},
            "acc 0.0, but the target 'good' and the prediction 'good'",
        ),
        (
            sample(0, "1", ["bad", "good"], -1.5, -3.0) | {"acc": 1.0},
            "acc 1.0, but the target 'good' and the prediction 'bad'",
        ),
        (
            {"doc_id": 0, "target": "Yes", "filtered_resps": ["yes."], "exact_match": 1.0},
            "exact_match 1.0, but the target 'Yes' and the prediction 'yes.'",
        ),
    ],
)
def test_samples_that_the_harness_counted_otherwise_are_refused(
    file: Path, one: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"sample 0 of {file.name} has {message}")):
        content(file, [one])


def test_the_one_array_of_old_versions_is_read(file: Path) -> None:
    samples = [old(0, 1, -3.0, -1.5), old(1, 0, -3.0, -1.5)]
    file.write_text(json.dumps(samples, indent=2, ensure_ascii=False), encoding="utf-8")

    found = read("lm-eval", file).content

    assert found == ImportedLabels(
        ["good", "bad"], ["good", "good"], ("bad", "good"), sample_ids=["0", "1"]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "holds no samples"),
        ('[{"doc_id": 0}]', "sample 0 of samples_sst2.jsonl has no target"),
        ("[1]", "sample 0 of samples_sst2.jsonl has no target"),
        ("[{}", "samples_sst2.jsonl is not valid JSON"),
    ],
)
def test_an_array_of_anything_else_is_refused(file: Path, text: str, message: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInput, match=message):
        read("lm-eval", file)


def test_samples_of_several_filters_without_their_names_are_refused(file: Path) -> None:
    samples = [old(0, 1, -3.0, -1.5), old(1, 0, -3.0, -1.5), old(0, 1, -3.0, -4.5)]
    file.write_text(json.dumps(samples), encoding="utf-8")

    with pytest.raises(InvalidInput, match="has sample '0' twice, as of several filters"):
        read("lm-eval", file)


def test_generated_text_is_compared_after_its_filter(file: Path) -> None:
    samples = [
        {"doc_id": 0, "target": " yes", "filtered_resps": ["yes"], "filter": "strict"},
        {"doc_id": 0, "target": " yes", "filtered_resps": ["no"], "filter": "flexible"},
    ]

    with pytest.raises(InvalidInput, match="several filters: strict, flexible"):
        content(file, samples)
    found = content(file, samples, artifact="flexible")

    assert (found.y_true, found.y_pred) == (["yes"], ["no"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"doc_id": 3}, "line 1 of samples_sst2.jsonl has no target"),
        (sample(3, "7", ["bad", "good"], -1, -2), "the target '7', which is not a choice"),
        (sample(3, "²", ["bad", "good"], -1, -2), "the target '²', which is not a choice"),
        (sample(3, "1", ["bad", "good"], -1, float("nan")), "no single response"),
        ({"target": "a", "filtered_resps": [["a", "b"]]}, "no single response"),
        ({"doc_id": 3, "target": None, "filtered_resps": ["a"]}, "sample 3 of .* has no target"),
    ],
)
def test_what_is_no_classification_is_refused(
    file: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        content(file, [given])
