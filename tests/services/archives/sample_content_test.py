"""Content of samples moves with its project; what is known of a sample here stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from offdiag.domain.sample_content import ContentPlaces
from offdiag.errors import Conflict
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.services.samples.content import (
    browse_content,
    list_content,
    log_samples,
    picture,
    set_places,
)
from offdiag.services.samples.drafts import (
    answer_labels,
    label_draft,
    publish_draft,
    withdraw_answers,
)
from offdiag.services.truth.versions import version_of
from offdiag.store.database import Database
from offdiag.store.datasets import dataset_named
from offdiag.store.label_answers import published_samples
from support.archives import IDS
from support.contents import contents
from support.logging_runs import log

HOSTS = frozenset({"images.example.org"})
WHERE: Any = {"project": "default", "dataset": "holdout"}


def test_content_moves_with_its_project(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(database, sample_ids=IDS)
    grey = image_file([[0, 255]])
    theirs = [GivenSample("1", text="theirs"), GivenSample("2", text="new", image=grey)]
    log_samples(database, **WHERE, given=theirs)
    places = ContentPlaces(None, "https://images.example.org/{sample}", is_hidden=False)
    set_places(database, **WHERE, places=places, hosts=HOSTS)
    log(other, sample_ids=IDS)
    log_samples(other, **WHERE, given=[GivenSample("1", text="ours")])

    export_project(database, "default", tmp_path / "project.zip")
    import_project(other, tmp_path / "project.zip")

    found = list_content(other, **WHERE, after="", limit=9)
    assert [(each.sample, each.text) for each in found] == [("1", "ours"), ("2", "new")]
    assert browse_content(other, **WHERE).places == places
    moved, there = (
        picture(each, **WHERE, sample="2", is_large=False) for each in (other, database)
    )
    assert moved == there


def test_proposed_labels_move_with_their_project(
    database: Database, other: Database, tmp_path: Path
) -> None:
    for each, label in ((database, "b"), (other, "c")):
        log(each, sample_ids=IDS)
        answer_labels(each, **WHERE, labels={IDS[0]: label}, author="ana")
    answer_labels(database, **WHERE, labels={IDS[1]: None}, author="ben", note="blurred")

    export_project(database, "default", tmp_path / "project.zip")
    import_project(other, tmp_path / "project.zip")

    found = label_draft(other, **WHERE)
    said = {
        item.sample: [(a.author, a.label, a.note) for a in item.answers] for item in found.items
    }
    assert said == {IDS[0]: [("ana", "c", None)], IDS[1]: [("ben", None, "blurred")]}


def test_labels_that_people_settled_stay_settled(
    database: Database, other: Database, tmp_path: Path
) -> None:
    log(other, y_true=["a", "b", "c"] * 2)
    log(database, sample_ids=IDS)
    answer_labels(database, **WHERE, labels={1: "a", 2: "b"}, author="ana")  # 1 is right.
    publish_draft(database, **WHERE, reason="seen", author="eva")
    answer_labels(database, **WHERE, labels={3: "c"}, author="ben")

    export_project(database, "default", tmp_path / "project.zip")
    import_project(other, tmp_path / "project.zip")

    with other.read() as session:
        known = dataset_named(session, project="default", name="holdout")
        truth = version_of(session, known, None)
        assert truth.number == 3
        settled = published_samples(session, known.id, root_id=truth.root_id)
    assert settled == {"1", "2"}
    assert [item.sample for item in label_draft(other, **WHERE).items] == [3]
    publish_draft(other, **WHERE, reason="seen", author="eva")
    before = contents(other)
    import_project(other, tmp_path / "project.zip")
    assert contents(other) == before


@pytest.mark.parametrize("is_older", [True, False])
def test_a_draft_on_other_samples_is_a_conflict(
    database: Database, other: Database, tmp_path: Path, is_older: bool
) -> None:
    # Without identifiers both drafts name their samples by position.
    truths = {database: ["a", "b", "c"] * 2, other: ["b", "b", "b", "a", "a", "c"]}
    for each in (database, other) if is_older else (other, database):
        log(each, y_true=truths[each], y_pred=["a"] * 6, labels=["a", "b", "c"])
        answer_labels(each, **WHERE, labels={0: "c"}, author="ana" if each is database else "ben")
    export_project(database, "default", tmp_path / "project.zip")
    before = contents(other)

    with pytest.raises(Conflict, match="draft of dataset 'holdout' is about other samples here"):
        import_project(other, tmp_path / "project.zip")

    assert contents(other) == before
    withdraw_answers(database, **WHERE, samples=[0], author="ana")
    export_project(database, "default", tmp_path / "again.zip")
    import_project(other, tmp_path / "again.zip")
    [item] = label_draft(other, **WHERE).items
    assert (item.sample, item.label) == (0, "b")
