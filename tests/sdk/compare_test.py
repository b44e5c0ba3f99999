"""`offdiag.compare` as a notebook sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import offdiag
from offdiag.errors import Conflict
from offdiag.sdk.compare import Comparison
from offdiag.sdk.run import Run
from support.two_models import ALMOST_FOCAL, COUNTRIES, FOCAL, PLAIN, TRUTH, N, sample_names

HOSTILE = "<script>alert(1)</script>"


def log(url: str, predicted: list[str], part: slice = slice(None), **given: Any) -> Run:
    arrays: dict[str, Any] = {"y_true": list(TRUTH[part]), "y_pred": predicted[part]}
    return offdiag.log_run(**arrays, sample_ids=sample_names()[part], url=url, **given)


@pytest.fixture(scope="module")
def runs(url: str) -> list[Run]:
    """Three runs on the same examples; the first one's name is hostile."""
    countries = {"country": list(COUNTRIES)}
    return [
        log(url, predicted, name=name, dataset="derm", slices=countries)
        for predicted, name in ((PLAIN, HOSTILE), (FOCAL, "focal"), (ALMOST_FOCAL, "almost"))
    ]


@pytest.fixture(scope="module")
def pair(runs: list[Run], url: str) -> Comparison:
    return offdiag.compare(runs[:2], url=url)


@pytest.fixture(scope="module")
def three(runs: list[Run], url: str) -> Comparison:
    return offdiag.compare(runs, url=url)


def test_two_runs_are_compared_in_frames_and_words(runs: list[Run], pair: Comparison) -> None:
    assert pair.runs == {"A": runs[0].id, "B": runs[1].id}
    assert pair.is_paired
    assert pair.verdict.startswith("B is better than A on balanced accuracy")
    assert pair.counts is not None
    assert sum(pair.counts.values()) == N
    accuracy = pair.metrics.loc["overall_accuracy"]
    assert accuracy["difference"] == pytest.approx(accuracy["b"] - accuracy["a"])
    assert accuracy["ci_low"] < accuracy["difference"] < accuracy["ci_high"]
    assert pair.per_class.loc[("recall", "df"), "n"] == TRUTH.count("df")
    assert pair.per_class.loc[("recall", "df"), "outcome"] == "better"
    assert pair.pairs.loc[0, "p"] == accuracy["p"]


def test_runs_are_given_in_a_list_or_one_after_another(
    runs: list[Run], pair: Comparison, url: str
) -> None:
    assert offdiag.compare(runs[0], runs[1].id, url=url).runs == pair.runs
    assert offdiag.compare(runs[0].name, runs[1].name, url=url).runs == pair.runs


def test_runs_are_compared_where_they_were_logged(
    runs: list[Run], pair: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OFFDIAG_URL", raising=False)

    assert offdiag.compare(iter(runs[:2])).runs == pair.runs
    assert offdiag.compare(runs[0].id, baseline=runs[1]).runs == {"A": runs[1].id, "B": runs[0].id}
    assert list(tmp_path.iterdir()) == []  # The configured registry would be a new file here.


def test_the_baseline_comes_first(runs: list[Run], url: str) -> None:
    found = offdiag.compare(runs[:2], baseline=runs[1], url=url)
    joined = offdiag.compare([runs[0]], baseline=runs[1].id, url=url)

    assert found.runs == joined.runs == {"A": runs[1].id, "B": runs[0].id}
    assert found.verdict.startswith("B is worse than A on")


@pytest.mark.parametrize("n_runs", [2, 3])
def test_texts_say_why_values_are_undefined(url: str, n_runs: int) -> None:
    runs = [
        log(url, predicted, name="constant", dataset="constant")
        for predicted in (PLAIN, [TRUTH[0]] * N, FOCAL)[:n_runs]
    ]

    found = offdiag.compare(runs, url=url)

    for shown in (str(found), found._repr_html_()):
        assert "undefined: one class was predicted for all examples" in shown


def test_the_interval_beside_a_class_is_the_one_that_decides(url: str) -> None:
    """Recall of ill differs alone, but not among two classes."""
    actual = ["ill"] * 137 + ["well"] * 163
    first = ["ill"] * 106 + ["well"] * 194
    second = ["ill"] * 68 + ["well"] * 38 + ["ill"] * 21 + ["well"] * 173
    runs = [
        offdiag.log_run(y_true=actual, y_pred=each, name="run", dataset="decides", url=url)
        for each in (first, second)
    ]

    found = offdiag.compare(runs, url=url)

    assert "B is worse than A" in str(found)
    (ill,) = (line.split() for line in str(found).splitlines() if line.startswith("ill "))
    assert ill == ["ill", "137", "0.774", "0.650", "−12.4", "pp", "−24.7", "to", "+0.2", "≈"]
    assert "±25 pp" in found._repr_html_()


def test_more_runs_are_ranked_against_the_best(three: Comparison) -> None:
    standing = three.metrics["standing"].xs("balanced_accuracy")
    assert standing.to_dict() == {
        "A": "behind the best",
        "B": "best",
        "C": "not separable from the best",
    }
    no_gap = three.metrics["behind"].isna().xs("mcc")
    assert no_gap.to_dict() == {"A": False, "B": True, "C": False}
    assert len(three.pairs) == 3
    assert three.per_class.loc[("recall", "nv", "A"), "n"] == TRUTH.count("nv")
    assert three.counts is None


def test_two_runs_are_compared_by_slice_in_a_frame(
    runs: list[Run], pair: Comparison, three: Comparison, url: str
) -> None:
    frame = pair.slices()

    assert set(frame.index) == {"all", *(f"country={name}" for name in set(COUNTRIES))}
    assert frame.loc["all", "n"] == N
    assert frame["difference"].is_monotonic_increasing
    part = offdiag.compare(runs[:2], slice="country=SI", url=url)
    accuracy = part.metrics.loc["overall_accuracy"]
    assert frame.loc["country=SI", "difference"] == pytest.approx(accuracy["difference"])
    assert (frame["simultaneous_low"] <= frame["ci_low"]).all()
    assert frame.attrs["verdict"].startswith("By accuracy, B is ")
    classes = pair.class_slices()
    recalls = part.per_class.loc["recall"]["difference"]
    found = classes.reset_index().query("slice == 'country=SI'").set_index("class")["difference"]
    assert len(found) >= 2
    assert dict(found) == pytest.approx(dict(recalls[found.index]))
    for other in (part, three):
        with pytest.raises(Conflict, match="not compared by slice"):
            other.slices()


def test_other_examples_need_to_be_asked_for(url: str) -> None:
    first, second = (
        log(url, FOCAL, part, name="part", dataset="parts", labels=["nv", "mel", "df"])
        for part in (slice(0, 150), slice(20, None))
    )

    with pytest.raises(offdiag.Conflict, match=r"150 and 160 examples, 130 shared") as caught:
        offdiag.compare([first, second], url=url)
    found = offdiag.compare([first, second], on_shared=True, url=url)

    assert caught.value.hint == "Pass on_shared=True to compare them on the shared ones."
    assert found.verdict.startswith("A and B make the same prediction for all 130 examples.")


def test_runs_are_taken_from_a_frame_of_search_runs_or_its_rows(runs: list[Run], url: str) -> None:
    found = offdiag.search_runs(order_by="attributes.created_at", url=url)
    found = found[found.run_id.isin([run.id for run in runs])]
    wanted = offdiag.compare(list(found.run_id), url=url).to_dict()

    assert offdiag.compare(found, url=url).to_dict() == wanted
    rows = [row for _, row in found.iterrows()]
    assert offdiag.compare(*rows, url=url).to_dict() == wanted


def test_what_is_no_run_is_refused(runs: list[Run], url: str) -> None:
    for no_run in (7, None):
        with pytest.raises(offdiag.InvalidInput, match=f"{no_run} is not a run"):
            offdiag.compare(no_run, url=url)  # type: ignore[arg-type]  # The point.
    with pytest.raises(offdiag.InvalidInput, match="7 is not a run"):
        offdiag.compare([runs[0], 7], url=url)
    with pytest.raises(offdiag.NotFound):
        offdiag.compare([runs[0], "r_unknown"], url=url)
