"""`offdiag.label_draft`, embedded and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import offdiag
from offdiag.errors import InvalidInput
from support.kinds import Files
from support.servers import serving


@pytest.fixture(scope="module", params=["embedded", "served"])
def url(
    request: pytest.FixtureRequest, files: Files, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with files.new(tmp_path_factory.mktemp(request.param)) as database:
        if request.param == "embedded":
            yield database.url
            return
        with serving(database) as address:
            yield address


def log(url: str, dataset: str, y_true: list[str], y_pred: list[str], **given: Any) -> None:
    facts: dict[str, Any] = {"sample_ids": range(1, len(y_true) + 1), "name": "rules"} | given
    offdiag.log_run(y_true=y_true, y_pred=y_pred, dataset=dataset, url=url, **facts)


@pytest.fixture
def dataset(url: str, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name)
    log(url, name, ["x", "y", "x"], ["x", "x", "x"], labels=["x", "y", "z"])
    return name


def test_two_people_propose_one_decides_and_a_version_is_undone(url: str, dataset: str) -> None:
    ana, ben = (
        offdiag.label_draft(dataset=dataset, url=url, author=name) for name in ("ana", "ben")
    )
    ana.propose({1: "y", 2: "x", 3: "z"}, note="seen")
    ben.propose({1: "y", 2: None})
    assert ben.withdraw([2]) == 1
    ben.propose({2: None})

    frame = ana.frame()

    assert dict(zip(frame["sample"], frame["status"], strict=True)) == {
        1: "agreed",
        2: "disagree",
        3: "one answer",
    }
    [hidden] = [each for each in ben.read().samples if each.sample == 3]
    assert (hidden.status, hidden.outcome, hidden.answers) == ("one answer", None, [])
    assert 3 not in set(ben.frame()["sample"])
    [pair] = frame.attrs["agreement"]
    assert (pair["people"], pair["n"], pair["n_same"]) == (["ana", "ben"], 2, 1)
    ben.decide({2: "x"})
    made = ben.publish(reason="second reading", opinions=2)
    assert (made.version, made.n_corrected) == (2, 2)
    assert [each.sample for each in ana.read().samples] == [3]
    assert ana.undo(2, reason="wrong file").version == 3
    with pytest.raises(offdiag.Conflict):
        ana.undo(2, reason="wrong file again")


def test_a_sample_is_answered_once(url: str, dataset: str) -> None:
    draft = offdiag.label_draft(dataset=dataset, url=url, author="ana")

    with pytest.raises(offdiag.InvalidInput, match="'2' occurs twice"):
        draft.propose({2: "y", "2": "z"})

    assert draft.read().samples == []


def test_labels_without_samples_are_refused(url: str, dataset: str) -> None:
    draft = offdiag.label_draft(dataset=dataset, url=url, author="ana")

    with pytest.raises(InvalidInput, match="list is not a mapping"):
        draft.propose(["x", "y", "x"])  # type: ignore[arg-type]


def test_no_answers_and_too_many_are_refused_with_their_field(url: str, dataset: str) -> None:
    draft = offdiag.label_draft(dataset=dataset, url=url, author="ana")

    with pytest.raises(InvalidInput, match="samples: the list is empty"):
        draft.propose({})
    with pytest.raises(InvalidInput, match=r"samples: .* at most 10000 items"):
        draft.decide(dict.fromkeys(range(10_001), "x"))
    with pytest.raises(InvalidInput, match="samples: the list is empty"):
        draft.withdraw([])


def test_tasks_need_classes_that_no_answer_is_called_like(url: str) -> None:
    log(url, "unclear", ["x", "cannot be told"], ["x", "x"])
    draft = offdiag.label_draft(dataset="unclear", url=url, author="ana")
    task = {"id": "1", "responses": {"label": [{"value": "cannot be told", "user_id": "ana"}]}}

    for call in (draft.tasks, lambda: draft.import_answers([task])):
        with pytest.raises(
            offdiag.InvalidInput, match="tasks: a class is called 'cannot be told'"
        ):
            call()

    assert draft.read().samples == []


def test_tasks_go_to_a_tool_and_come_back(url: str, dataset: str) -> None:
    draft = offdiag.label_draft(dataset=dataset, url=url, author="ana")
    draft.propose({1: "y"})

    [task] = draft.tasks()
    task["annotations"][0]["completed_by"] = {"email": "ben@example.org"}
    [record] = draft.tasks("argilla", limit=5)

    assert draft.import_answers([task]) == 1
    assert draft.import_answers([record]) == 1
    assert draft.read().people == ["ana", "ben@example.org"]
    task["annotations"] *= 2  # The second annotation of a person replaces the first.
    assert draft.import_answers([task]) == 1
    with pytest.raises(offdiag.InvalidInput):
        draft.import_answers([{"data": {}, "annotations": [{}]}])


def test_label_noise_is_a_frame_of_ranges(url: str, dataset: str) -> None:
    with pytest.raises(offdiag.Conflict):
        offdiag.label_noise(dataset=dataset, url=url)
    with pytest.raises(offdiag.InvalidInput) as refused:
        offdiag.label_noise(dataset=dataset, share=0.9, url=url)
    assert refused.value.field == "share"
    log(url, dataset, ["x", "y", "x"], ["x", "y", "x"], name="better rules")

    frame = offdiag.label_noise(dataset=dataset, share=0.4, url=url)

    assert frame[["accuracy", "any_low", "rank_low", "rank_high"]].values.tolist() == [
        [1.0, pytest.approx(2 / 3), 1, 1]
    ]
    assert "no model has probabilities" in frame.attrs["missing"].lower()
