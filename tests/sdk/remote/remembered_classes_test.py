"""A job asks a server for the classes of a dataset once, and notices when they are others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.sdk.remote import registry, requests
from offdiag.sdk.run import Run
from support.kinds import Files
from support.servers import serving

TRUTH = ["a", "b", "b", "a"]


@pytest.fixture
def url(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        files.new(tmp_path_factory.mktemp("served")) as database,
        serving(database) as address,
    ):
        yield address


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the datasets that were asked for."""
    names: list[str] = []
    ask = requests.dataset_classes

    def counted(server: requests.Reader, name: str, project: str) -> requests.KnownClasses | None:
        names.append(name)
        return ask(server, name, project)

    monkeypatch.setattr(requests, "dataset_classes", counted)
    registry._REMEMBERED.clear()
    return names


def log(url: str, name: str, y_pred: list[str]) -> Run:
    return offdiag.log_run(y_true=TRUTH, y_pred=y_pred, name=name, dataset="pets", url=url)


def test_the_second_run_does_not_ask_for_the_dataset(url: str, asked: list[str]) -> None:
    log(url, "first", ["a", "b", "a", "a"])
    second = log(url, "second", ["b", "b", "b", "b"])

    assert asked == ["pets"]
    assert second.evaluation().matrix.counts.tolist() == [[0, 2], [0, 2]]


def test_classes_that_are_no_longer_those_are_asked_for_again(url: str, asked: list[str]) -> None:
    log(url, "first", ["a", "b", "a", "a"])
    place = next(iter(registry._REMEMBERED))
    old = registry._REMEMBERED[place]
    registry._REMEMBERED[place] = requests.KnownClasses(
        old.name, LabelSet(("x", "y")), labels_inferred=False, positive_label=None
    )

    second = log(url, "second", ["b", "b", "b", "b"])

    assert asked == ["pets", "pets"]
    assert second.evaluation().matrix.counts.tolist() == [[0, 2], [0, 2]]
