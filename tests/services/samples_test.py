"""Content is stored once per sample, whoever sends it and however often."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag.domain.sample_content import ContentPlaces
from offdiag.errors import InvalidInput, NotFound, TooLarge
from offdiag.inputs.content.given_images import image_file
from offdiag.inputs.content.given_samples import GivenSample
from offdiag.inputs.content.images import StoredImage, decoded_images
from offdiag.services.samples import content
from offdiag.services.samples.content import (
    browse_content,
    list_content,
    log_samples,
    picture,
    remove_samples,
    set_places,
    shown_samples,
)
from offdiag.store.database import Database
from support.filled_once import filled_once
from support.logging_runs import correct_labels, log

HOSTS = frozenset({"images.example.org"})
WHERE: dict[str, Any] = {"project": "default", "dataset": "holdout"}
GREY = image_file([[0, 255]])
RED = image_file([[[255, 0, 0]]])


@pytest.fixture
@filled_once
def filled(database: Database) -> Database:
    log(database, sample_ids=[1, 2, 3, 4, 5, 6])
    return database


def counts(database: Database, *given: GivenSample) -> tuple[int, int, int, int]:
    done = log_samples(database, **WHERE, given=given, hosts=HOSTS)
    return done.n_added, done.n_changed, done.n_unchanged, done.n_unknown


@pytest.mark.both_databases
def test_the_same_again_changes_nothing_and_the_rest_is_kept(filled: Database) -> None:
    assert counts(filled, GivenSample("1", image=GREY), GivenSample("9", text="?")) == (2, 0, 0, 1)
    assert counts(filled, GivenSample("1", image=GREY)) == (0, 0, 1, 0)
    assert counts(filled, GivenSample("1", text="a digit", fields={"ink": 0.5})) == (0, 1, 0, 0)
    assert counts(filled, GivenSample("1", image=RED)) == (0, 1, 0, 0)

    [first, other] = list_content(filled, **WHERE, after="", limit=9)
    assert (first.text, first.fields, other.sample) == ("a digit", {"ink": 0.5}, "9")
    totals = browse_content(filled, **WHERE).totals
    assert (totals.n_samples, totals.n_images, totals.n_texts, totals.n_fields) == (2, 1, 2, 1)


def test_content_belongs_to_samples_and_not_to_labels(filled: Database) -> None:
    counts(filled, GivenSample("1", image=GREY))

    correct_labels(filled, {1: None})

    assert picture(filled, **WHERE, sample="1", is_large=True).media_type == "image/png"


def test_nothing_of_a_chunk_is_stored_where_a_part_is_refused(filled: Database) -> None:
    with pytest.raises(InvalidInput):
        counts(filled, GivenSample("1", text="a"), GivenSample("2", image=b"<svg/>"))
    with pytest.raises(InvalidInput, match="not allowed"):
        counts(filled, GivenSample("1", text="a"), GivenSample("2", audio="https://b.org/a.mp3"))
    with pytest.raises(NotFound):
        log_samples(filled, project="default", dataset="none", given=[GivenSample("1", text="a")])
    assert list_content(filled, **WHERE, after="", limit=9) == []


@pytest.mark.both_databases
def test_content_that_is_removed_while_it_is_logged_again_has_its_image(
    filled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = GivenSample("1", text="a", image=GREY)
    counts(filled, given)
    is_removed: list[int] = []

    def decoded(images: dict[str, bytes]) -> dict[str, StoredImage]:
        if not is_removed:
            is_removed.append(remove_samples(filled, **WHERE, names=["1"]))
        return decoded_images(images)

    monkeypatch.setattr(content, "decoded_images", decoded)

    assert log_samples(filled, **WHERE, given=[given]).n_added == 1
    assert is_removed == [1]
    assert picture(filled, **WHERE, sample="1", is_large=True).media_type == "image/png"


@pytest.mark.both_databases
def test_content_is_removed_for_some_samples_or_all(filled: Database) -> None:
    counts(filled, *(GivenSample(str(at), text="a") for at in range(1, 5)))

    assert remove_samples(filled, **WHERE, names=["1", "7"]) == 1
    assert remove_samples(filled, **WHERE, names=None) == 3
    with pytest.raises(NotFound):
        picture(filled, **WHERE, sample="1", is_large=False)


@pytest.mark.both_databases
def test_templates_are_shown_while_their_host_is_allowed(filled: Database) -> None:
    places = ContentPlaces("https://images.example.org/{sample}.jpg", None, is_hidden=True)
    set_places(filled, **WHERE, places=places, hosts=HOSTS)
    with filled.read() as session:
        allowed = shown_samples(session, [1], HOSTS, **WHERE)
        removed = shown_samples(session, [1], frozenset(), **WHERE)

    assert (allowed.image_template, allowed.is_hidden) == (places.image_template, True)
    assert (removed.image_template, removed.has_images) == (None, False)


def test_content_of_a_project_has_a_limit(filled: Database) -> None:
    log(filled, dataset="other", sample_ids=[1, 2, 3, 4, 5, 6])
    elsewhere: dict[str, Any] = {"project": "default", "dataset": "other"}
    log_samples(filled, **elsewhere, given=[GivenSample("1", text="a" * 60)])
    full = [GivenSample("1", text="b" * 30), GivenSample("2", fields={"c": "d" * 20})]

    with pytest.raises(TooLarge, match=r"'default' would take 1[0-9]{2} bytes; it may take 100"):
        log_samples(filled, **WHERE, given=full, most_bytes=100)
    assert list_content(filled, **WHERE, after="", limit=9) == []

    assert log_samples(filled, **WHERE, given=full, most_bytes=200).n_added == 2
    # What is there may be sent again, though there is no room for more.
    assert log_samples(filled, **WHERE, given=full, most_bytes=1).n_unchanged == 2
    remove_samples(filled, **elsewhere, names=None)
    assert log_samples(filled, **WHERE, given=[GivenSample("3", text="e")], most_bytes=100).n_added
