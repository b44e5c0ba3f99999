"""`offdiag.log_samples`, embedded and over HTTP, and `offdiag samples`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import offdiag
from offdiag.errors import TooLarge
from offdiag.store.database import Database
from support.kinds import Files
from support.servers import serving

IDS = ["a/1", "b", "c"]
IMAGES = np.linspace(0, 1, 3 * 4 * 4).reshape(3, 4, 4)


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


@pytest.fixture
def dataset(url: str, request: pytest.FixtureRequest) -> str:
    offdiag.log_run(
        y_true=["x", "y", "x"],
        y_pred=["x", "x", "x"],
        sample_ids=IDS,
        name="rules",
        dataset=request.node.name,
        url=url,
    )
    return str(request.node.name)


def test_content_is_stored_once(url: str, dataset: str) -> None:
    first, second = (
        offdiag.log_samples(
            dataset=dataset, ids=IDS, images=IMAGES, text=["one", None, "three"], url=url
        )
        for _ in range(2)
    )

    assert first == offdiag.LoggedSamples(dataset, 3, 0, 0, 0)
    assert second == offdiag.LoggedSamples(dataset, 0, 0, 3, 0)


def test_errors_name_the_field_wherever_they_are_found(url: str, dataset: str) -> None:
    with pytest.raises(offdiag.InvalidInput) as refused:
        offdiag.log_samples(dataset=dataset, ids=["b"], images=[b"<svg/>"], url=url)
    assert refused.value.field == "images"
    with pytest.raises(offdiag.InvalidInput) as refused:
        offdiag.show_samples(dataset=dataset, images="https://b.org/{sample}", url=url)
    assert refused.value.field == "image_template"
    with pytest.raises(offdiag.NotFound):
        offdiag.log_samples(dataset="none", ids=["b"], text=["a"], url=url)


def test_content_can_be_hidden(url: str, dataset: str) -> None:
    offdiag.show_samples(dataset=dataset, hidden=True, url=url)
    offdiag.show_samples(dataset=dataset, url=url)


def test_the_limit_of_a_project_is_a_setting(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_SERVER__CONTENT_LIMIT_MB", "1")
    url = sqlite_database.url
    offdiag.log_run(y_true=["x", "y"], y_pred=["x", "y"], name="run", dataset="d", url=url)

    with pytest.raises(TooLarge, match="it may take 1,000,000") as refused:
        offdiag.log_samples(dataset="d", ids=range(60), text=["a" * 20_000] * 60, url=url)

    assert refused.value.field == "samples"
    assert "server.content_limit_mb" in str(refused.value.hint)
