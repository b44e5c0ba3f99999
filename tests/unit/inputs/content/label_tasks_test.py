"""Tasks of Label Studio and records of Argilla: what is written, and what is read back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from offdiag.domain.sample_content import FieldValue
from offdiag.errors import InvalidInput
from offdiag.inputs.content.label_tasks import (
    LabelTask,
    TaskAnswer,
    Tool,
    read_task_answers,
    task_records,
)

ANSWERS = (TaskAnswer("s1", "ana", "nv"), TaskAnswer("s1", "ben", None))
TASK = LabelTask("s1", "mel", "nv", 0.8, "data:image/png;base64,AA", "a mole", {"age": 4}, ANSWERS)


@pytest.mark.parametrize("tool", ["label-studio", "argilla"])
def test_answers_that_were_written_are_read_back(tool: Tool) -> None:
    assert read_task_answers(task_records([TASK], tool)) == list(ANSWERS)


def test_a_task_of_label_studio_has_data_predictions_and_annotations() -> None:
    [task] = task_records([TASK], "label-studio")

    assert task["data"] == {
        "sample": "s1",
        "present_label": "mel",
        "image": TASK.image,
        "text": "a mole",
        "age": 4,
    }
    [prediction] = task["predictions"]
    assert prediction["score"] == 0.8
    assert prediction["result"] == [
        {
            "from_name": "label",
            "to_name": "sample",
            "type": "choices",
            "value": {"choices": ["nv"]},
        }
    ]


def test_a_record_of_argilla_has_texts_as_fields_and_a_suggestion() -> None:
    [record] = task_records([TASK], "argilla")

    assert record["id"] == "s1"
    assert record["fields"]["age"] == "4"
    assert record["suggestions"] == {"label": {"value": "nv", "score": 0.8, "agent": "offdiag"}}


def test_fields_that_are_called_like_content_do_not_take_its_place() -> None:
    fields: dict[str, FieldValue] = {
        "image": "old.png",
        "text": "old",
        "sample": 3,
        "present_label": "nv",
    }
    [task] = task_records([replace(TASK, fields=fields)], "label-studio")
    [record] = task_records([replace(TASK, text=None, fields=fields)], "argilla")

    assert task["data"] == {
        "sample": "s1",
        "present_label": "mel",
        "image": TASK.image,
        "text": "a mole",
        **{f"field {name}": value for name, value in fields.items()},
    }
    assert (record["fields"]["image"], record["fields"]["field image"]) == (TASK.image, "old.png")
    assert record["fields"]["text"] == "old"  # Nothing else is called so.


def annotated(**changes: Any) -> list[dict[str, Any]]:
    """As Label Studio exports a task: numbers of people, more fields, skipped ones."""
    result = {"id": "x", "type": "choices", "from_name": "label", "to_name": "sample"}
    annotation = {
        "id": 1001,
        "completed_by": 10,
        "was_cancelled": False,
        "lead_time": 4.2,
        "result": [{**result, "value": {"choices": ["nv"]}}],
    }
    return [{"id": 1, "data": {"sample": 7}, "annotations": [annotation | changes]}]


def test_people_of_label_studio_are_numbers_or_addresses() -> None:
    [by_number] = read_task_answers(annotated())
    [by_address] = read_task_answers(annotated(completed_by={"id": 3, "email": "a@b.org"}))

    assert by_number == TaskAnswer("7", "label-studio 10", "nv")
    assert by_address.author == "a@b.org"
    assert read_task_answers(annotated(was_cancelled=True)) == []
    assert read_task_answers(annotated(result=[])) == []


def test_drafts_of_argilla_are_no_answers_whatever_else_is_asked() -> None:
    responses = [
        {"value": "nv", "user_id": "u", "status": "draft"},
        {"value": "mel", "user_id": "v", "status": "submitted"},
    ]
    record = {"id": "s1", "fields": {}, "responses": {"label": responses}}

    assert read_task_answers([record]) == [TaskAnswer("s1", "v", "mel")]

    asked = {"label": responses[:1], "comment": [{"value": "blurred", "user_id": "v"}]}
    assert read_task_answers([record | {"responses": asked}]) == []


@pytest.mark.parametrize(
    "records",
    [
        {"tasks": []},
        ["text"],
        [{"id": 1}],
        [{"data": {}, "annotations": [{"result": [{"value": {}}]}]}],
        annotated(result=[{"from_name": "label", "value": {"choices": ["a", "b"]}}]),
        annotated(result=[{"from_name": "kind", "value": {"choices": ["a"]}}]),
        [{"id": "s1", "responses": {"kind": [{"value": "a", "user_id": "u"}]}}],
    ],
    ids=[
        *("no list", "no task", "neither tool", "another form", "two classes"),
        *("another question", "another question of Argilla"),
    ],
)
def test_other_content_is_refused(records: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_task_answers(records)

    assert refused.value.field == "tasks"


def of_person(who: object, label: str) -> dict[str, Any]:
    chosen = {"from_name": "label", "value": {"choices": [label]}}
    return {"completed_by": who, "result": [chosen]}


def test_two_answers_of_one_person_about_a_sample_are_refused_and_equal_ones_are_read() -> None:
    answers = [of_person(3, "nv"), of_person(4, "mel"), of_person(3, "nv")]
    twice = {"data": {"sample": "s1"}, "annotations": answers}
    other = {"data": {"sample": "s1"}, "annotations": [of_person(3, "mel")]}

    assert {each.label for each in read_task_answers([twice])} == {"nv", "mel"}
    with pytest.raises(InvalidInput, match="'label-studio 3' has two answers about sample 's1'"):
        read_task_answers([twice, other])


@pytest.mark.parametrize(
    "record",
    [
        {"id": 5, "data": {"sample": "s1"}, "annotations": [of_person(None, "nv")]},
        {"id": 5, "responses": {"label": [{"value": "nv", "user_id": None}]}},
    ],
)
def test_an_answer_without_a_person_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="an answer in task 5 has no person"):
        read_task_answers([record])
