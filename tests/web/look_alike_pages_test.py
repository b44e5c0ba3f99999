"""Pages and JSON name classes that look alike, and a positive class that nobody named."""

from __future__ import annotations

import pytest

from offdiag.errors import LabelNote
from offdiag.store.database import Database
from support.logging_runs import log
from support.pages import PageClient, client_for
from support.registries import dashboard

ALIKE = "Classes look alike: 'Cat' and 'cat' (case); 'cafe\\u0301' and 'caf\u00e9' (Unicode form)."


@pytest.fixture
def alike(sqlite_database: Database) -> tuple[PageClient, str]:
    names = ["cat", "Cat", "caf\u00e9", "cafe\u0301"]
    with pytest.warns(LabelNote, match="look alike"):
        run = log(sqlite_database, y_true=names, y_pred=names, dataset="pets")
    return client_for(dashboard(sqlite_database)), run.id


@pytest.fixture
def truth_values(sqlite_database: Database) -> tuple[PageClient, str]:
    run = log(sqlite_database, y_true=[0, 1, 1], y_pred=[0, 1, 0], dataset="pets")
    return client_for(dashboard(sqlite_database)), run.id


def test_pages_of_run_and_dataset_name_classes_that_look_alike(
    alike: tuple[PageClient, str],
) -> None:
    client, run_id = alike

    for url in (f"/runs/{run_id}/meta", "/datasets/pets/data"):
        assert ALIKE in client.page(url).one("main").text, url


def test_json_of_run_and_dataset_groups_classes_that_look_alike(
    alike: tuple[PageClient, str],
) -> None:
    for address in ["/runs/{}.json", "/api/v1/runs/{}", "/api/v1/datasets/pets"]:
        client, run_id = alike

        labels = client.get(address.format(run_id)).get_json()["labels"]

        assert labels["look_alikes"] == [["Cat", "cat"], ["cafe\u0301", "caf\u00e9"]], address


def test_pages_of_run_and_dataset_say_that_the_positive_class_is_by_convention(
    truth_values: tuple[PageClient, str],
) -> None:
    client, run_id = truth_values

    assert "“1”, by convention" in client.page(f"/runs/{run_id}/meta").one("main").text
    assert (
        "“1” is the positive class by convention."
        in client.page("/datasets/pets/data").one("main").text
    )


def test_json_says_that_the_positive_class_is_by_convention(
    truth_values: tuple[PageClient, str],
) -> None:
    for address in ["/runs/{}.json", "/api/v1/runs/{}", "/api/v1/datasets/pets"]:
        client, run_id = truth_values

        found = client.get(address.format(run_id)).get_json()

        assert (found["positive_label"], found["positive_by_convention"]) == ("1", True), address
