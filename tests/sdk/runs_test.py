"""Runs fetched from a registry by id, name or row, and what can be done with them there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

import offdiag
from offdiag.sdk.run import Run

TRUTH = ["nv"] * 80 + ["mel"] * 20
FINDS_NO_MEL = ["nv"] * 99 + ["mel"]


def logged(url: str, **changes: Any) -> Run:
    given: dict[str, Any] = {
        "y_true": TRUTH,
        "y_pred": FINDS_NO_MEL,
        "labels": ["nv", "mel"],
        "name": "plain",
        "dataset": "derm",
        "model": "cnn",
        "params": {"lr": 0.1},
        "tags": {"team": "a"},
    }
    return offdiag.log_run(**given | changes, url=url)


def test_a_run_is_fetched_by_id_by_name_and_by_row_with_its_facts(registry_url: str) -> None:
    logged(registry_url)
    rows = offdiag.search_runs(url=registry_url)

    run = offdiag.get_run("plain", url=registry_url)
    for named in (run.id, run, rows.iloc[0], next(rows.itertuples())):
        assert offdiag.get_run(named, url=registry_url).id == run.id
    assert (run.name, run.model, run.project, run.dataset) == ("plain", "cnn", "default", "derm")
    assert (run.params, run.tags) == ({"lr": 0.1}, {"team": "a"})


def test_one_line_of_a_run_says_what_its_accuracy_hides_until_it_is_deleted(
    registry_url: str,
) -> None:
    run = logged(registry_url)
    assert run.state == "finished"
    assert repr(run) == f"Run plain ({run.id}), derm, finished"

    assert run.evaluate().aggregate["overall_accuracy"] == 0.81
    assert run.state == "evaluated"
    assert repr(run) == f"Run plain ({run.id}), derm v1, accuracy 0.810, mel missed (1 of 20)"
    assert "mel is missed: 1 of 20 found" in run._repr_html_()

    run.delete()
    run.delete()
    assert repr(run) == f"Run('{run.id}')"
    assert len(offdiag.search_runs(url=registry_url)) == 0
    with pytest.raises(offdiag.NotFound):
        offdiag.get_run("plain", url=registry_url)


@pytest.mark.parametrize("labels", [None, ["x", "y"]])
def test_results_say_whether_their_order_of_classes_was_declared(
    registry_url: str, labels: list[str] | None
) -> None:
    arrays: dict[str, Any] = {"y_true": ["x", "y"], "y_pred": ["x", "x"], "slices": {"s": [1, 1]}}
    run = logged(registry_url, labels=labels, **arrays)

    for evaluation in (run.evaluation(), run.evaluation(slice="s=1")):
        assert evaluation.matrix is not None
        assert evaluation.matrix.labels.inferred is (labels is None)


def test_nested_parameters_have_dots_in_their_names(registry_url: str) -> None:
    params = {"optimizer": {"name": "adam", "schedule": {"lr": np.float64(0.1)}}, "seed": 7}

    run = logged(registry_url, params=params)

    assert run.params == {"optimizer.name": "adam", "optimizer.schedule.lr": 0.1, "seed": 7}
    with pytest.raises(offdiag.InvalidInput, match=r"'a\.b' is given twice"):
        logged(registry_url, params={"a": {"b": 1}, "a.b": 2})


def test_lists_and_paths_among_parameters_are_stored_as_text(registry_url: str) -> None:
    params = {"layers": [64, 32], "optimizer": {"betas": (0.9, 0.999)}, "data": Path("a/b.csv")}

    run = logged(registry_url, params=params)

    assert run.params == {
        "layers": "[64, 32]",
        "optimizer.betas": "[0.9, 0.999]",
        "data": "a/b.csv",
    }
    with pytest.raises(offdiag.InvalidInput, match=r"params\['f'\].* of type list"):
        logged(registry_url, params={"f": [len]})


def test_uuids_and_bytes_are_sample_ids_as_their_text(registry_url: str) -> None:
    cases: list[object] = [
        [UUID(int=1), UUID(int=2)],
        np.array([UUID(int=1), UUID(int=2)]),
        [str(UUID(int=1)).encode(), str(UUID(int=2)).encode()],
        np.array([str(UUID(int=1)).encode(), str(UUID(int=2)).encode()]),
        # pyarrow has the type from 18 on.
        *(
            [pa.array([UUID(int=n).bytes for n in (1, 2)], pa.uuid())]
            if hasattr(pa, "uuid")
            else ()
        ),
    ]
    for ids in cases:
        wrong = {"y_true": ["nv", "mel"], "y_pred": ["mel", "nv"]}
        run = logged(registry_url, sample_ids=ids, **wrong)

        assert set(run.examples()["sample"]) == {str(UUID(int=1)), str(UUID(int=2))}


def test_bytes_that_are_no_text_are_refused_as_sample_ids(registry_url: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match="is not text in UTF-8"):
        logged(registry_url, sample_ids=[b"\xff"] * 100)


def test_a_name_of_several_runs_is_refused_with_their_ids(registry_url: str) -> None:
    first, second = logged(registry_url), logged(registry_url, dataset="other")

    with pytest.raises(offdiag.Conflict, match=f"{second.id} \\(other\\), {first.id} \\(derm\\)"):
        offdiag.get_run("plain", url=registry_url)
    assert offdiag.get_run("plain", dataset="derm", url=registry_url).id == first.id


def test_names_are_text_in_the_search_for_them(registry_url: str) -> None:
    run = logged(registry_url, name='it\'s "new" or 1 = 1')

    assert offdiag.get_run(run.name, url=registry_url).id == run.id


@pytest.mark.parametrize("named", ["nobody", "r_000000000000"])
def test_an_unknown_run_is_not_found(registry_url: str, named: str) -> None:
    with pytest.raises(offdiag.NotFound, match=named):
        offdiag.get_run(named, url=registry_url)


def test_what_names_no_run_is_refused(registry_url: str) -> None:
    with pytest.raises(offdiag.InvalidInput, match="7 is not a run"):
        offdiag.get_run(7, url=registry_url)


def test_tags_are_added_and_a_note_is_replaced(registry_url: str) -> None:
    run = logged(registry_url)

    run.add_tags(team="b", checked=True)
    run.add_tags({"with space": 1})
    run.note = "Look at mel."

    again = offdiag.get_run(run.id, url=registry_url)
    assert again.tags == {"team": "b", "checked": True, "with space": 1}
    assert again.note == "Look at mel."
    run.note = None
    assert again.note is None


def test_a_search_has_the_metrics_of_runs_that_nobody_evaluated(registry_url: str) -> None:
    logged(registry_url)

    found = offdiag.search_runs(filter="metrics.overall_accuracy > 0.6", url=registry_url)

    assert found["state"].tolist() == ["evaluated"]


def test_methods_slices_and_thresholds_are_those_of_runs_that_nobody_evaluated(
    registry_url: str,
) -> None:
    def run(name: str) -> Run:
        scores = {"y_score": [0.1] * 99 + [0.9], "positive_label": "mel"}
        facts = {"name": name, "tags": {"group": "cnn", "seed": name}}
        return logged(registry_url, slices={"site": ["x", "y"] * 50}, **scores, **facts)

    assert not run("a").slices().empty
    assert not run("b").operating_points().empty
    run("c")
    assert offdiag.methods(dataset="derm", url=registry_url)["n_runs"].tolist() == [3]


def test_a_search_among_many_such_runs_says_how_many(
    registry_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offdiag.services.evaluation.pending.MOST_AT_ONCE", 1)
    logged(registry_url)
    logged(registry_url, name="second")

    with pytest.warns(offdiag.errors.NotEvaluated, match=r"2 runs .* offdiag\.evaluate_pending"):
        found = offdiag.search_runs(url=registry_url)

    assert found["metrics.mcc"].isna().all()
    assert offdiag.evaluate_pending(url=registry_url) == 2
    assert offdiag.evaluate_pending(url=registry_url) == 0


def test_examples_of_a_comparison_are_those_one_run_is_right_about(registry_url: str) -> None:
    ids = [f"x{place}" for place in range(100)]
    first, second = (
        logged(registry_url, y_pred=predicted, sample_ids=ids, name=name)
        for name, predicted in (("a", FINDS_NO_MEL), ("b", ["mel"] + TRUTH[1:98] + ["nv"] * 2))
    )

    found = offdiag.compare(["a", second], url=registry_url)

    assert found.runs == {"A": first.id, "B": second.id}
    assert found.examples("only_a")[["sample", "actual", "a", "b"]].to_numpy().tolist() == [
        ["x0", "nv", "nv", "mel"],
        ["x99", "mel", "mel", "nv"],
    ]
    assert found.examples("only_b", class_="mel", limit=3)["sample"].tolist() == [
        "x80",
        "x81",
        "x82",
    ]
    assert np.isnan(found.examples("both_wrong")["a_confidence"]).all()
    with pytest.raises(offdiag.InvalidInput, match="only_c"):
        found.examples("only_c")  # type: ignore[arg-type]


def test_a_comparison_fits_a_terminal_and_a_notebook(registry_url: str) -> None:
    runs = [logged(registry_url, name=name) for name in ("one", "<script>", "three")]
    for chosen in (runs[:2], runs):
        found = offdiag.compare(chosen, url=registry_url)

        assert repr(found).startswith("Comparison of A one")
        assert "\n" not in repr(found)
        assert max(map(len, str(found).splitlines())) < 80
        html = found._repr_html_()
        assert len(html.encode()) < 30_000
        assert not re.search(r"<script|<link|<img|@import|url\(|https?:", html)


def test_large_whole_numbers_stay_exact_beside_missing_ones_and_fractions(
    registry_url: str,
) -> None:
    seed = 2**60 + 1
    for name, params in (
        ("seeded", {"seed": seed, "size": seed, "epochs": 3}),
        ("other", {"size": 0.5}),
    ):
        offdiag.log_matrix(
            [[9, 1], [1, 9]],
            orientation="actual_rows",
            labels=["a", "b"],
            name=name,
            dataset="d",
            project="large",
            params=params,
            url=registry_url,
        )

    found = offdiag.search_runs(order_by="attributes.name desc", project="large", url=registry_url)

    assert found["params.seed"][0] == seed
    assert found["params.seed"].isna().tolist() == [False, True]
    assert found["params.size"].tolist() == [seed, 0.5]
    assert found["params.epochs"].dtype == "float64"
