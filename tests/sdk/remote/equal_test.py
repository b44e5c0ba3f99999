"""A job that logs to a server and reads from it sees what an embedded registry shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

import offdiag
from offdiag.errors import Conflict, InvalidInput, UnknownName
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.run import Run
from offdiag.services.cost_matrices import add_costs
from offdiag.store.database import Database
from support.kinds import Files
from support.servers import serving
from support.set_runs import random_sets

N = 1_620
"""Enough that both models are right about more samples than fit on a page of a list."""
CLASSES = ["mel", "nv", "df"]


class Place:
    """Where one of the two jobs logs to, and the runs it logged."""

    def __init__(self, url: str, database: Database) -> None:
        self.url = url
        rng = np.random.default_rng(11)
        truth = rng.choice(CLASSES, N, p=[0.15, 0.8, 0.05])
        ids = rng.permutation(N)
        self.runs: list[Run] = []
        for name, share in (("first", 0.3), ("second", 0.2)):
            wrong = rng.random(N) < share
            scores = rng.random((N, 3))
            self.runs.append(
                offdiag.log_run(
                    y_true=truth,
                    y_pred=np.where(wrong, rng.choice(CLASSES, N), truth),
                    y_score=scores / scores.sum(axis=1, keepdims=True),
                    sample_ids=ids,
                    slices={"country": np.where(ids % 3 == 0, "DE", "SI")},
                    labels=CLASSES,
                    name=name,
                    dataset="derm",
                    params={"lr": 0.1, "layers": 3},
                    tags={"team": "a"},
                    url=url,
                )
            )
        weights = {
            actual: {answer: float(actual != answer) * 3 for answer in CLASSES}
            for actual in CLASSES
        }
        add_costs(
            database,
            project="default",
            dataset="derm",
            name="visits",
            weights=weights,
            currency="EUR",
        )


@pytest.fixture(scope="module")
def places(
    files: Files, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Place, Place]]:
    """The same script, embedded and over HTTP."""
    with (
        files.new(tmp_path_factory.mktemp("embedded")) as embedded,
        files.new(tmp_path_factory.mktemp("served")) as served,
        serving(served) as url,
    ):
        yield Place(embedded.url, embedded), Place(url, served)


def shown(evaluation: Evaluation) -> str:
    """Everything about an evaluation, floats to the last bit."""
    everything = {
        **evaluation.to_dict(),
        "flags": [flag.to_dict() for flag in evaluation.flags],
        "badge": evaluation.badge,
    }
    return json.dumps(everything)


def test_evaluations_are_equal(places: tuple[Place, Place]) -> None:
    embedded, remote = places

    for one, other in zip(embedded.runs, remote.runs, strict=True):
        assert shown(one.evaluation()) == shown(other.evaluation())
        pd.testing.assert_frame_equal(
            one.evaluation().confusion_matrix, other.evaluation().confusion_matrix
        )


def test_slices_that_come_later_or_as_tags_are_equal(places: tuple[Place, Place]) -> None:
    rng = np.random.default_rng(5)
    ages = rng.normal(50, 10, 60)
    actual, predicted = rng.choice(CLASSES, 60), rng.choice(CLASSES, 60)
    tags = [["hair", "scar"][: place % 3] for place in range(60)]
    dates = np.arange("2026-01", "2026-03", dtype="datetime64[D]")[: len(ages)]
    found = []
    for place in places:
        run = offdiag.log_run(
            y_true=actual[: len(dates)],
            y_pred=predicted[: len(dates)],
            sample_ids=np.arange(len(dates)),
            slices={"tags": tags[: len(dates)], "taken": dates},
            labels=CLASSES,
            name="with tags",
            dataset="later",
            url=place.url,
        )
        added = offdiag.add_slices(
            dataset="later",
            ids=np.arange(40),
            columns={"age": ages[:40], "country/site": ["JP/Kyoto", "DE/Ulm"] * 20},
            bins={"age": 3},
            url=place.url,
        )
        parts = ("tags=scar", "taken=2026-02", "country=DE", "age=under 45 & tags=hair")
        with pytest.raises(InvalidInput, match="no sample has age 'under 45'"):
            run.evaluation(slice=parts[-1])
        found.append([added, *(shown(run.evaluation(slice=part)) for part in parts[:3])])

    assert found[0] == found[1]


def test_frames_are_counted_by_tags_alike(places: tuple[Place, Place]) -> None:
    tags = [["hair", "scar"][: place % 3] for place in range(60)]
    frame = pd.DataFrame({"y": CLASSES[:2] * 30, "yhat": CLASSES[:2] * 30, "tags": tags})

    found = [
        offdiag.log_frame(
            frame,
            name="counted",
            dataset="counted by tags",
            slices=["tags"],
            keep_predictions=False,
            url=place.url,
        ).evaluation(slice="tags=hair")
        for place in places
    ]

    assert shown(found[0]) == shown(found[1])
    assert found[0].aggregate["n"].value == 40


def test_scores_of_every_class_are_counted_alike(places: tuple[Place, Place]) -> None:
    rng = np.random.default_rng(9)
    p = rng.dirichlet(np.ones(len(CLASSES)), 60)
    frame = pd.DataFrame(dict(zip(CLASSES, p.T, strict=True)) | {"y": rng.choice(CLASSES, 60)})
    frame["yhat"] = [CLASSES[place] for place in p.argmax(axis=1)]

    found = [
        offdiag.log_frame(
            frame,
            name="counted",
            dataset="counted by class",
            score=list(CLASSES),
            labels=CLASSES[::-1],
            keep_predictions=False,
            url=place.url,
        ).evaluation()
        for place in places
    ]

    assert shown(found[0]) == shown(found[1])
    assert found[0].aggregate["roc_auc_ovr_macro"].value is not None


def test_frames_are_counted_together_alike(places: tuple[Place, Place]) -> None:
    rng = np.random.default_rng(8)
    columns = {name: rng.choice(CLASSES, 90) for name in ("y", "one", "other")}
    found = []
    for place in places:
        runs = offdiag.log_frame(
            pd.DataFrame(columns | {"country": ["DE", "SI", "SI"] * 30}),
            predicted={"a": "one", "b": "other"},
            slices=["country"],
            keep_predictions=False,
            labels=CLASSES,
            dataset="together",
            url=place.url,
        )
        compared = offdiag.compare(list(runs.values()), url=place.url)
        assert compared.is_paired
        found.append(compared.to_dict())
    kept = [{name: each[name] for name in ("result", "slices", "verdict")} for each in found]
    assert kept[0] == kept[1]


def test_sets_of_labels_are_equal(places: tuple[Place, Place]) -> None:
    true, predicted = random_sets(80, 9)
    scores = np.random.default_rng(4).random((80, 9))
    runs = [
        offdiag.log_run(
            y_true=true,
            y_pred=predicted,
            y_score=scores,
            labels=[f"l{code}" for code in range(9)],
            slices={"site": ["A", "B"] * 40},
            name="run",
            dataset="sets",
            url=place.url,
        )
        for place in places
    ]

    for part in (None, "site=A"):
        one, other = (json.dumps(run.evaluation(slice=part).to_dict()) for run in runs)
        assert one == other
    flags = [[flag.to_dict() for flag in run.evaluation().flags] for run in runs]
    assert flags[0] == flags[1]
    examples = [run.examples(kind="all") for run in runs]
    pd.testing.assert_frame_equal(examples[0], examples[1])
    assert isinstance(examples[1]["predicted"].iloc[0], tuple)


def test_fairness_is_equal(places: tuple[Place, Place]) -> None:
    one, other = (place.runs[0].fairness("country") for place in places)

    pd.testing.assert_frame_equal(one, other)
    assert one.attrs == other.attrs
    assert one.attrs["groups"] == {"DE": N // 3, "SI": N - N // 3}
    assert len(one) == 4 * len(CLASSES)
    only = places[1].runs[0].fairness("country", class_label="mel")
    pd.testing.assert_frame_equal(only, one.loc[["mel"]])


@pytest.mark.parametrize("asked", [{}, {"kind": "all", "limit": 2_500}, {"actual": "mel"}])
def test_examples_are_equal(places: tuple[Place, Place], asked: dict[str, Any]) -> None:
    one, other = (place.runs[0].examples(**asked) for place in places)

    pd.testing.assert_frame_equal(one, other)
    assert len(one) > 0


def test_operating_points_are_equal(places: tuple[Place, Place]) -> None:
    for place in places:
        place.runs[0].evaluation()

    one, other = (place.runs[0].operating_points(positive="mel") for place in places)

    pd.testing.assert_frame_equal(one, other)


def test_searches_are_equal(places: tuple[Place, Place]) -> None:
    for place in places:
        for run in place.runs:
            run.evaluation()

    one, other = (
        offdiag.search_runs(
            filter="metrics.macro_f1 > 0.1 and tags.team = 'a'",
            order_by=["metrics.mcc desc"],
            url=place.url,
        ).drop(columns=["run_id", "created_at"])
        for place in places
    )

    pd.testing.assert_frame_equal(one, other)
    assert list(one["name"]) == ["second", "first"]


def test_searches_warn_of_unknown_names_alike(places: tuple[Place, Place]) -> None:
    for place in places:
        with pytest.warns(UnknownName, match="^There is no dataset 'lesionss'"):
            found = offdiag.search_runs("attributes.dataset = 'lesionss'", url=place.url)
        assert found.empty


def test_comparisons_are_equal(places: tuple[Place, Place]) -> None:
    one, other = (offdiag.compare(place.runs, url=place.url) for place in places)

    assert one.verdict == other.verdict
    assert one.counts == other.counts
    assert one.samples_needed == other.samples_needed
    pd.testing.assert_frame_equal(one.metrics, other.metrics)
    pd.testing.assert_frame_equal(one.per_class, other.per_class)
    assert one._repr_html_().count("<td") == other._repr_html_().count("<td")


def test_examples_of_comparisons_are_equal(places: tuple[Place, Place]) -> None:
    one, other = (
        offdiag.compare(place.runs, slice="country=DE", url=place.url).examples(
            "only_b", class_="mel", limit=10
        )
        for place in places
    )

    pd.testing.assert_frame_equal(one, other)
    assert len(one) == 10


def test_long_lists_of_examples_come_page_after_page(places: tuple[Place, Place]) -> None:
    found = offdiag.compare(places[1].runs, url=places[1].url)

    assert found.counts is not None
    assert len(found.examples("both_right", limit=10_000)) == found.counts["both_right"] > 1_000


def test_tags_that_jobs_add_at_once_are_all_there(places: tuple[Place, Place]) -> None:
    for place in places:
        run = offdiag.log_run(
            y_true=["a", "b"], y_pred=["a", "a"], name="of jobs", dataset="jobs", url=place.url
        )
        jobs = [offdiag.get_run(run.id, url=place.url) for _ in range(6)]
        with ThreadPoolExecutor(len(jobs)) as pool:
            list(pool.map(lambda job: job[1].add_tags({f"job {job[0]}": 1}), enumerate(jobs)))

        assert sorted(run.tags) == [f"job {number}" for number in range(6)]


def test_runs_are_fetched_and_changed_alike(places: tuple[Place, Place]) -> None:
    for place in places:
        run = offdiag.get_run("first", url=place.url)
        for each in place.runs:
            offdiag.get_run(each, url=place.url).evaluation()
        run.add_tags(review="done")
        run.note = "Read twice."

    one, other = (offdiag.get_run("first", url=place.url) for place in places)
    assert one.id == places[0].runs[0].id
    assert one.tags == other.tags == {"team": "a", "review": "done"}
    assert one.note == other.note == "Read twice."
    assert one.params == other.params
    assert repr(one).replace(one.id, other.id) == repr(other)
    assert offdiag.evaluate_pending(url=places[1].url) == 0


def test_costs_are_equal(places: tuple[Place, Place]) -> None:
    one, other = (offdiag.cost(place.runs[0], weights="visits") for place in places)

    assert one.to_dict() == other.to_dict()
    assert one.costs.currency == other.costs.currency == "EUR"


def test_groups_are_set_and_seen_through_alike(places: tuple[Place, Place]) -> None:
    groups = {"mole": {"dark": ["mel"], "pale": ["nv"]}}
    set_to = [
        offdiag.set_hierarchy(dataset="derm", hierarchy=groups, url=place.url)
        for _ in range(2)
        for place in places
    ]
    asked: list[dict[str, Any]] = [
        {"collapse": "*"},
        {"collapse": ["mole", "dark"], "slice": "country=DE"},
    ]
    for each in asked:
        one, other = (place.runs[0].evaluation(**each) for place in places)

        assert shown(one) == shown(other)
        assert one.collapse == other.collapse
        assert one.matrix.labels == other.matrix.labels
        assert str(one) == str(other)
        assert "Open run" in other._repr_html_()
        assert "Open run" not in one._repr_html_()

    assert set_to == [groups] * 4
    assert [
        offdiag.set_hierarchy(dataset="derm", hierarchy=None, url=place.url) for place in places
    ] == [None, None]


WEIGHTS = [[0.0, 10.1, 5.3], [0.7, 0.0, 1 / 3], [2.0, 4.0, 0.0]]


@pytest.mark.parametrize(
    "asked",
    [
        {"weights": "visits@1"},
        {"weights": np.array(WEIGHTS), "prevalence": np.array([0.1, 0.6, 0.3], np.float32)},
        {
            "weights": pd.DataFrame(WEIGHTS, CLASSES, CLASSES).iloc[::-1],
            "prevalence": {"nv": 0.7000004, "mel": 0.2, "df": 0.1},
        },
    ],
)
def test_decisions_are_equal(places: tuple[Place, Place], asked: dict[str, Any]) -> None:
    one, other = (place.runs[0].decide(**asked) for place in places)

    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())
    assert one.difference.ci_low is not None
    assert one.matrix_after.labels == other.matrix_after.labels


def test_runs_are_proposed_and_approved_alike(places: tuple[Place, Place]) -> None:
    for place in places:
        champion, candidate = place.runs[0], place.runs[1]
        champion.approve(reason="recall of mel", gate="overall_accuracy >= 0")
        candidate.propose()
        with pytest.raises(offdiag.Conflict, match="champion"):
            champion.propose()
        with pytest.raises(offdiag.Conflict, match="gate"):
            candidate.approve(reason="higher", gate=["overall_accuracy >= 1"])
        with pytest.raises(offdiag.InvalidInput, match="reason"):
            candidate.approve(reason=" ")
        candidate.approve(
            reason="higher", gate=["overall_accuracy >= 1"], although_gate_fails=True
        )


def test_thresholds_are_equal_and_kept_once(places: tuple[Place, Place]) -> None:
    found = []
    for place in places:
        rng = np.random.default_rng(3)
        truth = rng.random(200) < 0.3
        run = offdiag.log_run(
            y_true=truth,
            y_pred=truth[::-1],
            y_score=np.clip(truth * 0.3 + rng.random(200) * 0.7, 0, 1),
            labels=[False, True],
            positive_label=True,
            name="by threshold",
            dataset="events",
            url=place.url,
        )
        asked: dict[str, Any] = {
            "weights": [[0, 1], [7, 0]],
            "threshold": np.float32(0.4),
            "positive": True,
        }
        first, again = (run.decide(**asked, save_as="by cost") for _ in range(2))
        assert first.run is not None
        assert again.run is not None
        assert first.run.id == again.run.id
        derivation = first.run.derivation()
        assert derivation is not None
        assert derivation.run_id == run.id
        found.append((first.to_dict() | {"run": None}, shown(first.run.evaluation())))

    assert found[0] == found[1]


@pytest.mark.parametrize(
    "asked", [{}, {"weights": "nothing"}, {"weights": WEIGHTS, "threshold": 0.5}]
)
def test_decisions_are_refused_in_the_same_words(
    places: tuple[Place, Place], asked: dict[str, Any]
) -> None:
    def refusal(place: Place) -> tuple[type[Exception], str]:
        with pytest.raises((offdiag.InvalidInput, offdiag.NotFound, offdiag.Conflict)) as caught:
            place.runs[1].decide(**asked)
        return caught.type, str(caught.value).replace(place.runs[1].id, "r")

    one, other = map(refusal, places)

    assert one == other


REFUSED: list[Callable[[Place], object]] = [
    lambda at: at.runs[1].evaluation(collapse="moles"),
    lambda at: at.runs[1].examples(limit=-1),
    lambda at: at.runs[1].examples(limit=0),
    lambda at: at.runs[1].examples(limit=1.5),  # type: ignore[arg-type]
    lambda at: at.runs[1].examples(kind="mistakes"),  # type: ignore[arg-type]
    lambda at: offdiag.compare(at.runs, url=at.url).examples(limit=-1),
    lambda at: offdiag.compare([], url=at.url),
    lambda at: offdiag.compare(at.runs[1], url=at.url),
    *(
        lambda at, level=level: offdiag.compare(at.runs, confidence=level, url=at.url)
        for level in ("0.9", 90, float("nan"), None, True)
    ),
    lambda at: offdiag.methods(dataset="", url=at.url),
    lambda at: offdiag.suspect_labels(dataset="", url=at.url),
    lambda at: at.runs[1].add_tags(score=float("nan")),
    lambda at: at.runs[1].add_tags(score=b"x"),
    lambda at: at.runs[1].add_tags({"a\0": 1}),
    lambda at: at.runs[1].add_tags({1: 2}),  # type: ignore[dict-item]
    lambda at: at.runs[1].add_tags(text="\ud800"),
    lambda at: setattr(at.runs[1], "note", 5),
    lambda at: setattr(at.runs[1], "note", "\ud800"),
    lambda at: setattr(at.runs[1], "note", "x" * 5_001),
    lambda at: offdiag.search_runs(max_results=0, url=at.url),
    lambda at: offdiag.search_runs(max_results=1_000_000, url=at.url),
    lambda at: offdiag.search_runs(max_results=None, url=at.url),  # type: ignore[arg-type]
    lambda at: offdiag.log_matrix(
        [[1, 2, 3]] * 3,
        orientation="actual_rows",
        labels=CLASSES,
        name="m",
        dataset="derm",
        reported={},
        url=at.url,
    ),
]


@pytest.mark.parametrize("asked", REFUSED)
def test_what_cannot_be_meant_is_refused_in_the_same_words(
    places: tuple[Place, Place], asked: Callable[[Place], object]
) -> None:
    def refusal(place: Place) -> tuple[type[Exception], str, str | None]:
        with pytest.raises(InvalidInput) as caught:
            asked(place)
        return caught.type, str(caught.value), caught.value.field

    one, other = map(refusal, places)

    assert one == other


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (offdiag.revise_truth, {"labels": {0: "nv"}, "reason": None}),
        (offdiag.revise_truth, {"labels": {0: "nv"}, "reason": "\ud800"}),
        (offdiag.show_samples, {"images": 5}),
        (offdiag.log_run, {"y_pred": ["mel"] * N, "name": "h", "hierarchy": "a"}),
        (Run.decide, {"weights": WEIGHTS, "threshold": "half"}),
    ],
)
def test_arguments_of_another_type_are_invalid_input_on_both(
    places: tuple[Place, Place], call: Callable[..., object], given: dict[str, Any]
) -> None:
    for place in places:
        about = {"dataset": "derm", "url": place.url}
        with pytest.raises(InvalidInput):
            call(place.runs[1], **given) if call is Run.decide else call(**given, **about)


def test_numbers_of_numpy_are_tags_of_the_same_kind_on_both(places: tuple[Place, Place]) -> None:
    def tags(place: Place) -> str:
        place.runs[1].add_tags(epoch=np.int64(3), loss=np.float32(0.5), best={"of": [1, 2]})
        return repr(place.runs[1].tags)

    one, other = map(tags, places)

    assert one == other
    assert "'epoch': 3," in one


def test_labels_are_corrected_on_both(places: tuple[Place, Place]) -> None:
    one, other = (
        offdiag.revise_truth(
            dataset="derm", labels={1: "mel", 2: "df"}, reason="Biopsies.", url=place.url
        )
        for place in places
    )

    assert one == other
    assert shown(places[0].runs[0].evaluation()) == shown(places[1].runs[0].evaluation())


def test_a_name_that_has_to_be_unique_is_refused_alike(places: tuple[Place, Place]) -> None:
    for place in places:
        facts: dict[str, Any] = {"name": "nightly", "dataset": "names", "url": place.url}
        arrays: dict[str, Any] = {"y_true": CLASSES, "y_pred": CLASSES}
        first = offdiag.log_run(**arrays, **facts, unique_name=True, client_key="one")
        again = offdiag.log_run(**arrays, **facts, unique_name=True, client_key="one")
        assert again.id == first.id  # A retry meets itself.

        frame = pd.DataFrame({"y": CLASSES, "yhat": CLASSES})
        ways: tuple[tuple[Any, dict[str, Any]], ...] = (
            (offdiag.log_run, arrays),
            (offdiag.start_run, {}),
            (offdiag.log_matrix, {"matrix": np.eye(3), "orientation": "actual_rows"}),
            (offdiag.log_frame, {"frame": frame, "keep_predictions": False}),
        )
        for log, content in ways:
            with pytest.raises(Conflict, match=f"'nightly' is taken by run {first.id}") as refused:
                log(**content, **facts, unique_name=True)
            assert f"offdiag runs delete {first.id}" in (refused.value.hint or "")

        offdiag.log_run(**arrays, **facts)  # Nothing is asked of this one.
        offdiag.log_run(**arrays, **facts | {"dataset": "derm 2"}, unique_name=True)
