"""From planted wrong labels to suspects, corrections by keyboard, and the runs that move."""

from __future__ import annotations

import pickle
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from offdiag import log_run
from offdiag.demo.experiments import DIGITS, PROJECT, digits, log_content, log_trial
from offdiag.domain.sample_content import SuspectQuestion
from offdiag.domain.texts import name_segment
from offdiag.services.samples.suspects import suspect_labels
from offdiag.store.database import Database
from support.browser import served
from support.logging_runs import work_off
from support.once_for_all import made_once
from support.registries import copy_open_file, dashboard

pytestmark = pytest.mark.browser

SHARE, BUDGET = 0.02, 0.05
PAGE = f"/datasets/{name_segment(DIGITS)}/suspects?project={PROJECT}"


@dataclass(frozen=True)
class PlantedDigits:
    """The digits of the demo with labels that were made wrong, and the samples that have them."""

    database: Database
    wrong: frozenset[int]
    n: int


@pytest.fixture(scope="module")
def planted(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlantedDigits]:
    """Models that were trained on right labels, scored with 2 % wrong ones.

    One more run repeats the wrong labels, as one does that was trained on them.
    """

    def make(folder: Path) -> None:
        path = Path(shutil.copy(migrated_file, folder / "logged.db"))
        with closing(Database(f"sqlite:///{path}", synchronous="normal")) as database:
            facts = log_planted(database)
        copy_open_file(path, folder / "registry.db")
        (folder / "facts").write_bytes(pickle.dumps(facts))

    folder = made_once(tmp_path_factory, "planted labels", make)
    wrong, n = pickle.loads((folder / "facts").read_bytes())
    path = shutil.copy(folder / "registry.db", tmp_path_factory.mktemp("planted"))
    with closing(Database(f"sqlite:///{path}", synchronous="normal")) as database:
        yield PlantedDigits(database, wrong, n)


def log_planted(database: Database) -> tuple[frozenset[int], int]:
    """Log those runs; the samples that have wrong labels, and how many there are in all."""
    experiment = digits(0)
    random = np.random.default_rng(7)
    n = len(experiment.test)
    places = random.choice(experiment.test, round(SHARE * n), replace=False)
    target = experiment.target.copy()
    target[places] = (target[places] + random.integers(1, 10, len(places))) % 10
    wrong = replace(experiment, target=target)
    for trial in wrong.trials:
        log_trial(wrong, trial, url=database.url)
    is_planted = np.isin(wrong.test, places)
    best = wrong.trials[0].model.predict(wrong.data[wrong.test])
    learned = np.where(is_planted, target[wrong.test], best)
    log_run(
        y_true=target[wrong.test].astype(str),
        y_pred=learned.astype(str),
        sample_ids=wrong.test,
        labels=wrong.labels,
        project=PROJECT,
        dataset=DIGITS,
        name="trained on these labels",
        tags={"split": "train"},
        url=database.url,
    )
    log_content(wrong, url=database.url, project=PROJECT)
    work_off(database)
    return frozenset(places.tolist()), n


def test_wrong_labels_are_found_corrected_by_keyboard_and_runs_change_places(
    open_at: Any, planted: PlantedDigits
) -> None:
    question = SuspectQuestion(limit=round(BUDGET * planted.n))
    found = suspect_labels(planted.database, project=PROJECT, dataset=DIGITS, question=question)
    n_found = len(planted.wrong & {each.sample for each in found.suspects})
    assert (found.trained_on, n_found >= 0.8 * len(planted.wrong)) == (1, True)

    with served(dashboard(planted.database)) as address:
        seen = open_at(address, PAGE)
        page: Page = seen.page
        started = time.monotonic()
        for _ in range(10):
            page.keyboard.press("j")
            page.keyboard.press("x")
        page.keyboard.press("r")
        page.keyboard.type("ana")
        page.keyboard.press("Enter")
        expect(page.get_by_text("10 changes by 1 person.")).to_be_visible()
        page.keyboard.press("p")
        page.keyboard.type("Looked at the images.")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Impact of label version 2")
        assert time.monotonic() - started < 60

        work_off(planted.database)
        page.reload()

        moved = page.get_by_role("row", name="trained on these labels")
        expect(moved).to_contain_text("1 → 3")
        seen.expect_no_complaints()


def test_a_cell_of_the_matrix_shows_three_examples(open_at: Any, planted: PlantedDigits) -> None:
    question = SuspectQuestion(limit=1)
    found = suspect_labels(planted.database, project=PROJECT, dataset=DIGITS, question=question)
    with served(dashboard(planted.database)) as address:
        seen = open_at(address, f"/runs/{found.families[0].run_id}")
        page: Page = seen.page
        shown = page.get_by_label("Examples of the cell").get_by_role("img")
        expect(shown).to_have_count(0)

        page.locator("table.matrix td[data-cell]").first.focus()
        expect(shown).to_have_count(3)
        first = shown.first.get_attribute("src")
        page.locator("table.matrix td.diagonal").nth(1).hover()

        expect(shown.first).not_to_have_attribute("src", str(first))
        seen.expect_no_complaints()


def test_labels_are_proposed_in_the_gallery_by_keyboard(
    open_at: Any, planted: PlantedDigits
) -> None:
    question = SuspectQuestion(limit=1)
    found = suspect_labels(planted.database, project=PROJECT, dataset=DIGITS, question=question)
    run = f"/runs/{found.families[0].run_id}"
    with served(dashboard(planted.database)) as address:
        seen = open_at(address, f"{run}/examples?show=right")
        page: Page = seen.page
        bar = page.get_by_label("Label the selected examples")
        expect(bar).to_be_hidden()

        for _ in range(2):
            page.keyboard.press("j")
            page.keyboard.press("x")
        expect(bar).to_be_visible()
        page.keyboard.press("r")
        page.keyboard.type("ben")
        page.keyboard.press("Tab")
        page.keyboard.type("3")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        expect(page.get_by_text("2 labels proposed.")).to_be_visible()
        assert page.url.endswith(f"{run}/examples?show=right")
        # Enter follows a link that has the focus; it proposes nothing.
        page.get_by_role("link", name="List").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("table")).to_be_visible()
        seen.expect_no_complaints()
