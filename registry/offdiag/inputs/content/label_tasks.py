"""Tasks for annotation tools and their answers: JSON of Label Studio, records of Argilla.

Written after https://labelstud.io/guide/task_format and `Record.to_dict` of Argilla 2. In both,
the question is called "label", and the answer "cannot be told" removes a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from offdiag.domain.labels import LabelSet
from offdiag.domain.sample_content import FieldValue
from offdiag.errors import InvalidInput
from offdiag.inputs.content.given_samples import sample_name

Tool = Literal["label-studio", "argilla"]
QUESTION, SHOWN = "label", "sample"
CANNOT_BE_TOLD = "cannot be told"


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """A person's answer about a sample; `label` is None if they cannot tell."""

    sample: str
    author: str
    label: str | None


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A sample to look at. `image` is an address or a data URI, `score` that of `suggested`."""

    sample: str
    label: str | None
    suggested: str | None
    score: float | None
    image: str | None
    text: str | None
    fields: Mapping[str, FieldValue]
    answers: tuple[TaskAnswer, ...]


def require_other_classes(labels: LabelSet) -> None:
    """Raise `InvalidInput` if a class has the same name as the answer "cannot be told"."""
    if labels.find(CANNOT_BE_TOLD) is not None:
        raise InvalidInput(
            f"a class is called {CANNOT_BE_TOLD!r}, like the answer that removes a label.",
            field="tasks",
            hint="Propose labels with offdiag.label_draft(dataset=…).propose({sample: label}), "
            "where None removes a label.",
        )


def task_records(tasks: Iterable[LabelTask], tool: Tool) -> list[dict[str, Any]]:
    """Tasks in the format that the tool imports."""
    write = _label_studio if tool == "label-studio" else _argilla
    return [write(task) for task in tasks]


def _content(task: LabelTask, **more: str | None) -> dict[str, Any]:
    """The content that is shown, by name, without what the sample does not have.

    A field whose name is used for something else is renamed.
    """
    content = {"image": task.image, "text": task.text}
    shown: dict[str, Any] = {name: value for name, value in content.items() if value is not None}
    shown |= {SHOWN: task.sample, **more}
    fields = {f"field {name}" if name in shown else name: v for name, v in task.fields.items()}
    return {**shown, **fields}


def _label_studio(task: LabelTask) -> dict[str, Any]:
    annotations = [
        {"completed_by": {"email": each.author}, "result": [_choice(each.label)]}
        for each in task.answers
    ]
    predictions = []
    if task.suggested is not None:
        result = [_choice(task.suggested)]
        predictions = [{"model_version": "offdiag", "score": task.score, "result": result}]
    data = _content(task, present_label=task.label)
    return {"data": data, "annotations": annotations, "predictions": predictions}


def _choice(label: str | None) -> dict[str, Any]:
    return {
        "from_name": QUESTION,
        "to_name": SHOWN,
        "type": "choices",
        "value": {"choices": [CANNOT_BE_TOLD if label is None else label]},
    }


def _argilla(task: LabelTask) -> dict[str, Any]:
    suggestions = {}
    if task.suggested is not None:
        suggestions = {
            QUESTION: {"value": task.suggested, "score": task.score, "agent": "offdiag"}
        }
    responses = [
        {"value": CANNOT_BE_TOLD if each.label is None else each.label, "user_id": each.author}
        for each in task.answers
    ]
    return {
        "id": task.sample,
        # Argilla's fields are text.
        "fields": {name: str(value) for name, value in _content(task).items()},
        "metadata": {} if task.label is None else {"present_label": task.label},
        "suggestions": suggestions,
        "responses": {QUESTION: responses} if responses else {},
        "vectors": {},
    }


def read_task_answers(records: object) -> list[TaskAnswer]:
    """The answers in an export of either tool; skipped and unanswered tasks have none.

    Raises `InvalidInput` for other content, if all answers are to other questions, for answers
    with several classes or without a person, and if a person has two answers about a sample.
    """
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise InvalidInput(
            "it is not a list of tasks.",
            field="tasks",
            hint="Export JSON from Label Studio, or write dataset.records.to_json in Argilla.",
        )
    found: list[TaskAnswer] = []
    for number, record in enumerate(records):
        read = _of_label_studio if "data" in record else _of_argilla
        try:
            found += read(record)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise InvalidInput(
                f"task {number} has another form ({type(error).__name__}: {error}).",
                field="tasks",
                hint="Keep the names of exported tasks: the question is called label.",
            ) from None
    answered = {name for record in records for name in _questions(record)}
    if answered and QUESTION not in answered:
        raise InvalidInput(
            f"its answers are to {', '.join(map(repr, sorted(answered)[:5]))}.",
            field="tasks",
            hint=f"Only answers to {QUESTION!r} are read: rename the question.",
        )
    _require_one_answer_each(found)
    return found


def _require_one_answer_each(answers: Iterable[TaskAnswer]) -> None:
    said: dict[tuple[str, str], str | None] = {}
    for answer in answers:
        label = said.setdefault((answer.sample, answer.author), answer.label)
        if label != answer.label:
            one, other = (
                CANNOT_BE_TOLD if each is None else each for each in (label, answer.label)
            )
            raise InvalidInput(
                f"{answer.author!r} has two answers about sample {answer.sample!r}, {one!r} and "
                f"{other!r}.",
                field="tasks",
                hint="Leave the one that is meant in the export, or cancel the other in the tool.",
            )


def _questions(record: Mapping[str, Any]) -> Iterator[str]:
    """The names of the questions for which a task or record has answers."""
    if "data" not in record:
        yield from (name for name, answers in record["responses"].items() if answers)
        return
    for annotation in record.get("annotations") or []:
        if not annotation.get("was_cancelled"):
            yield from (each["from_name"] for each in annotation["result"])


def _of_label_studio(task: Mapping[str, Any]) -> Iterator[TaskAnswer]:
    for annotation in task.get("annotations") or []:
        if annotation.get("was_cancelled"):
            continue
        chosen = [
            label
            for each in annotation["result"]
            if each["from_name"] == QUESTION
            for label in each["value"]["choices"]
        ]
        if chosen:
            who = annotation["completed_by"]
            name = _person(
                (who.get("email") or who["id"]) if isinstance(who, Mapping) else who, task
            )
            author = name if isinstance(name, str) else f"label-studio {name}"
            yield TaskAnswer(sample_name(task["data"][SHOWN]), author, _one(chosen))


def _of_argilla(record: Mapping[str, Any]) -> Iterator[TaskAnswer]:
    for each in record["responses"].get(QUESTION, []):
        if each.get("status", "submitted") == "submitted":
            value = each["value"]
            label = _one(value if isinstance(value, list) else [value])
            author = str(_person(each["user_id"], record))
            yield TaskAnswer(sample_name(record["id"]), author, label)


def _person(given: object, record: Mapping[str, Any]) -> object:
    """Who answered. Without a name, the answers of several people would be those of one."""
    if given in {None, ""}:
        raise InvalidInput(
            f"an answer in task {record.get('id')!r} has no person.",
            field="tasks",
            hint="Export who answered, too: completed_by in Label Studio, user_id in Argilla.",
        )
    return given


def _one(chosen: Sequence[object]) -> str | None:
    if len(chosen) != 1 or not isinstance(chosen[0], str):
        raise InvalidInput(
            f"an answer is {list(chosen)!r}.",
            field="tasks",
            hint="A sample has one class: let people choose a single one.",
        )
    return None if chosen[0] == CANNOT_BE_TOLD else chosen[0]
