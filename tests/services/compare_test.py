"""Stored runs are compared example by example, or not at all, and both is said in words."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pytest

from offdiag.comparison.churn import Churn, PairedOutcome, paired_outcomes
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput, LabelNote
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.comparisons.compare import RunComparison, compare_runs
from offdiag.services.comparisons.compute import Compared
from offdiag.services.ingest.batch import GivenMatrix
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.lru_cache import LruCache
from offdiag.stats import paired_difference
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.dashboard import counted_statements, log_lesions, open_lesions
from support.logging_runs import correct_labels, log, stream
from support.optional import present
from support.two_models import (
    ALMOST_FOCAL,
    CLASSES,
    COUNTRIES,
    FOCAL,
    PLAIN,
    TRUTH,
    N,
    log_model,
    sample_names,
    scores_for,
)


def compare(database: Database, *runs: RunRecord, **options: Any) -> RunComparison:
    return compare_runs(database, [run.id for run in runs], **options)


def pair(found: RunComparison) -> PairComparison:
    assert isinstance(found.result, PairComparison), found.refusal
    return found.result


def many(found: RunComparison) -> ManyComparison:
    assert isinstance(found.result, ManyComparison), found.refusal
    return found.result


def expected_churn(first: list[str], second: list[str], truth: tuple[str, ...] = TRUTH) -> Churn:
    codes = [np.array([CLASSES.index(name) for name in each]) for each in (truth, first, second)]
    found = paired_outcomes(*codes)
    return Churn(**{outcome.value: int(found[outcome].sum()) for outcome in PairedOutcome})


def log_counts(database: Database, counts: list[list[int]], **changes: Any) -> RunRecord:
    given = {"labels": list(CLASSES), "dataset": "derm"} | changes
    dataset = given.pop("dataset")
    matrix = GivenMatrix(counts, "actual_rows", **given)
    return log_matrix(database, facts=RunFacts(name="matrix"), dataset=dataset, given=matrix)


def test_runs_on_the_same_truth_are_paired_once_as_predictions_in_memory_are(
    database: Database,
) -> None:
    plain = log_model(database, PLAIN, name="plain")
    focal = log_model(database, FOCAL, name="focal")
    kept: LruCache[Compared] = LruCache(most=4)

    found = compare(database, plain, focal, kept=kept)

    facts = present(pair(found).paired)
    assert facts.churn == expected_churn(PLAIN, FOCAL)
    assert [run.name for run in found.runs] == ["plain", "focal"]
    assert present(found.samples).are_the_same
    assert present(found.samples).n_compared == N
    assert present(found.verdict).headline.startswith("B is better than A on balanced accuracy")
    expected = paired_difference(
        y_true=list(TRUTH),
        pred_a=PLAIN,
        pred_b=FOCAL,
        labels=list(CLASSES),
    )
    for key in ("overall_accuracy", "mcc", "macro_f1"):
        assert pair(found).metric(key).difference == expected.aggregate[key]
    for each in pair(found).classes["f1"]:
        assert each.difference == expected.per_class["f1"][str(each.class_label)]
    with counted_statements() as statements:
        again = compare(database, plain, focal, kept=kept)
    assert again.result is found.result
    assert len(statements) == 2


def test_corrected_labels_count_and_those_without_are_left_out(
    database: Database,
) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    focal = log_model(database, FOCAL, name="focal", sample_ids=names)
    correct_labels(database, {names[0]: "mel", names[1]: None}, dataset="derm")

    found = compare(database, plain, focal)

    truth = ("mel", *TRUTH[2:])
    facts = present(pair(found).paired)
    assert facts.churn == expected_churn([PLAIN[0], *PLAIN[2:]], [FOCAL[0], *FOCAL[2:]], truth)
    assert found.samples is not None
    assert (found.samples.n_unlabelled, found.samples.n_compared) == (1, N - 1)
    assert present(found.runs[0].truth).number == 2


def test_other_examples_are_refused_until_somebody_asks_for_the_shared_ones(
    database: Database,
) -> None:
    plain = log_model(
        database, PLAIN[:150], name="plain", truth=TRUTH[:150], sample_ids=sample_names(0, 150)
    )
    focal = log_model(
        database, FOCAL[20:], name="focal", truth=TRUTH[20:], sample_ids=sample_names(20)
    )

    refused, shared = (
        compare(database, plain, focal),
        compare(database, plain, focal, on_shared=True),
    )

    assert refused.result is None
    assert present(refused.refusal).why == "Not paired: 150 and 160 examples, 130 shared."
    assert present(refused.refusal).n_shared == 130
    facts = present(pair(shared).paired)
    assert facts.churn == expected_churn(PLAIN[20:150], FOCAL[20:150], TRUTH[20:150])
    assert not present(shared.samples).are_the_same
    assert present(shared.samples).n_shared == 130


def test_shared_examples_with_contradicting_labels_are_left_out(
    database: Database,
) -> None:
    plain = log_model(
        database, PLAIN[:150], name="p", truth=TRUTH[:150], sample_ids=sample_names(0, 150)
    )
    truth = ["df", "df", *TRUTH[22:]]
    with pytest.warns(LabelNote, match="for 2 of the 130 samples in both"):
        focal = log_model(database, FOCAL[20:], name="f", truth=truth, sample_ids=sample_names(20))

    found = compare(database, plain, focal, on_shared=True)

    assert found.samples is not None
    assert (found.samples.n_relabelled, found.samples.n_compared) == (2, 128)


def test_other_labels_of_the_same_examples_are_named_as_the_reason(database: Database) -> None:
    plain = log_model(database, PLAIN, name="plain", truth=TRUTH, sample_ids=sample_names())
    truth = ["df", "df", *TRUTH[2:]]
    with pytest.warns(LabelNote, match="for 2 of its"):
        focal = log_model(database, FOCAL, name="focal", truth=truth, sample_ids=sample_names())

    refusal = present(compare(database, plain, focal).refusal)

    assert f"different labels of the same {N} examples" in refusal.why
    assert refusal.n_shared == N


def test_examples_without_identifiers_cannot_be_found_again(database: Database) -> None:
    plain = log_model(database, PLAIN[:150], name="plain", truth=TRUTH[:150])
    focal = log_model(database, FOCAL, name="focal")

    for on_shared in (False, True):
        refusal = present(compare(database, plain, focal, on_shared=on_shared).refusal)

        assert "different ground truth (A; B)" in refusal.why
        assert "no identifiers" in refusal.why
        assert refusal.n_shared is None


def test_runs_that_share_no_example_have_nothing_to_compare(database: Database) -> None:
    first, second = (
        log_model(
            database,
            FOCAL[part],
            name="part",
            truth=TRUTH[part],
            sample_ids=sample_names()[part],
        )
        for part in (slice(0, 90), slice(90, None))
    )

    refusal = present(compare(database, first, second, on_shared=True).refusal)

    assert refusal.why == "Not paired: 90 and 90 examples, none of them shared."


def test_runs_of_different_datasets_are_refused_in_words(database: Database) -> None:
    derm = log_model(database, PLAIN, name="plain")
    other = log_model(database, PLAIN, name="plain", dataset="other")
    labels = log(database, dataset="letters")
    elsewhere = log_model(database, PLAIN, name="plain", facts={"project": "b-side"})

    same_labels = compare(database, derm, other).refusal
    other_labels = compare(database, derm, other, labels).refusal
    same_name = compare(database, derm, elsewhere).refusal

    assert present(same_labels).why == (
        "These runs are on different datasets: A on “derm” and B on “other”."
    )
    assert present(other_labels).why.endswith("C on “letters”, and their classes differ too.")
    assert "B on “derm” of project “b-side”" in present(same_name).why


def test_an_open_run_is_not_compared_yet(database: Database) -> None:
    done = log_lesions(database, evaluated=False)
    still_open = open_lesions(database)

    refusal = present(compare_runs(database, [done, still_open]).refusal)

    assert refusal.why == "B is still open and may take more predictions."


def test_a_slice_compares_its_examples_only(database: Database) -> None:
    plain = log_model(database, PLAIN, name="plain", slices={"country": COUNTRIES})
    focal = log_model(database, FOCAL, name="focal")

    found = compare(database, plain, focal, slice_text="country=DE")

    chosen = [place for place, country in enumerate(COUNTRIES) if country == "DE"]
    facts = present(pair(found).paired)
    assert facts.churn == expected_churn(
        [PLAIN[at] for at in chosen],
        [FOCAL[at] for at in chosen],
        tuple(TRUTH[at] for at in chosen),
    )
    assert present(found.samples).are_the_same
    assert present(found.samples).n_compared == len(chosen)
    assert found.slice_levels == {"country": ("DE", "SI")}
    for text in ("country=FR", "planet=DE", "country"):
        with pytest.raises(InvalidInput):
            compare(database, plain, focal, slice_text=text)
    matrix = log_counts(database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]])
    refusal = present(compare(database, plain, matrix, slice_text="country=DE").refusal)
    assert "matrix without predictions" in refusal.why


def test_without_any_label_nothing_is_right_or_wrong(database: Database) -> None:
    first, second = (
        log(
            database,
            y_true=None,
            y_pred=["a", "b"],
            labels=["a", "b"],
            sample_ids=[1, 2],
            dataset="late",
        )
        for _ in range(2)
    )

    refusal = present(compare(database, first, second).refusal)

    assert refusal.why.startswith("None of the examples has a label yet")


def test_scores_are_compared_where_both_runs_have_them(database: Database) -> None:
    plain = log_model(database, PLAIN, name="plain", y_score=scores_for(PLAIN))
    focal = log_model(database, FOCAL, name="focal", y_score=scores_for(FOCAL))
    without = log_model(database, ALMOST_FOCAL, name="without")

    both, one = (
        {each.key for each in pair(compare(database, plain, other)).metrics}
        for other in (focal, without)
    )

    assert both - one == {"roc_auc_ovr_macro", "log_loss", "brier_sum"}


def test_chunks_in_another_order_are_the_same_examples(database: Database) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    whole = log_model(database, FOCAL, name="focal", sample_ids=names)
    parts = [
        {"y_true": TRUTH[part], "y_pred": FOCAL[part], "ids": names[part]}
        for part in (slice(100, None), slice(0, 30), slice(30, 100))
    ]
    chunks = stream(database, parts, "derm", LabelSet.declared(CLASSES))

    straight, in_chunks = (pair(compare(database, plain, other)) for other in (whole, chunks))

    assert in_chunks.paired == straight.paired
    assert in_chunks.metric("mcc") == straight.metric("mcc")


def test_scores_follow_their_examples_and_not_the_order_of_logging(
    database: Database,
) -> None:
    names, scores = sample_names(), scores_for(FOCAL)
    plain = log_model(database, PLAIN, name="plain", sample_ids=names, y_score=scores_for(PLAIN))
    focal = log_model(database, FOCAL, name="focal", sample_ids=names, y_score=scores)
    turned = log_model(
        database,
        FOCAL[::-1],
        name="focal",
        truth=TRUTH[::-1],
        sample_ids=names[::-1],
        y_score=scores[::-1],
    )

    straight, reverse = (
        pair(compare(database, plain, other)).metric("log_loss") for other in (focal, turned)
    )

    assert straight == reverse


COUNTS = [[60, 30, 30], [10, 20, 10], [5, 5, 10]]
WAY_OUT = "log predictions, which follow corrections, or a matrix on labels v2."


def test_no_difference_from_a_matrix_on_older_labels_is_tested(database: Database) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    matrix = log_counts(database, COUNTS)
    same = compare(database, plain, matrix)
    correct_labels(database, {names[0]: "mel"}, dataset="derm")

    found = compare(database, plain, matrix)

    assert found.verdict is not None
    assert (
        found.verdict.headline == "A was evaluated on labels v2, B on labels v1, so no difference "
        f"between them is tested: {WAY_OUT}"
    )
    differences = [*pair(found).metrics, *chain(*pair(found).classes.values())]
    nothing = {(None, "difference_other_labels", None, None, "undefined")}
    assert {
        (each.difference.value, each.difference.reason, each.p, each.simultaneous, each.outcome)
        for each in differences
    } == nothing
    assert pair(found).metric("overall_accuracy").second.value == 90 / 180
    assert pair(found).cells is None
    assert pair(found).together.tested == ()
    assert "different examples" in verdict_text(same)
    assert "on labels v" not in verdict_text(same)
    later = log_counts(database, COUNTS)
    assert "on labels v" not in verdict_text(compare(database, plain, later))
    assert verdict_text(compare(database, matrix, later)).endswith(WAY_OUT)


def test_a_matrix_on_older_labels_has_no_place_among_many(database: Database) -> None:
    names = sample_names()
    runs = [
        log_model(database, predicted, name=name, sample_ids=names)
        for name, predicted in (("plain", PLAIN), ("focal", FOCAL), ("almost", ALMOST_FOCAL))
    ]
    perfect = log_counts(database, [[120, 0, 0], [0, 40, 0], [0, 0, 20]])
    correct_labels(database, {names[0]: "mel"}, dataset="derm")
    later = log_counts(database, COUNTS)

    without = many(compare(database, *runs, later))
    found = compare(database, runs[0], perfect, *runs[1:], later)

    assert (many(found).left_out, many(found).unpaired) == ((1,), (1, 4))
    assert present(found.verdict).headline == (
        "A, C, D and E were evaluated on labels v2, B on labels v1, so B is not compared with the "
        f"others: {WAY_OUT}"
    )
    assert "B" not in " ".join(present(found.verdict).details).replace("By", "")
    assert "All 4 runs and" in verdict_text(found)
    assert "E is a matrix without predictions" in verdict_text(found)
    for expected, places in zip(
        (*without.places.values(), *without.recall),
        (*many(found).places.values(), *many(found).recall),
        strict=True,
    ):
        assert places[1].rank_status is RankStatus.NOT_TESTED
        assert places[1].behind is None
        others = [places[at] for at in (0, 2, 3, 4)]
        assert [moved(each) for each in expected] == others
    assert [(each.first, each.second) for each in many(found).pairs] == [(0, 2), (0, 3), (2, 3)]
    best = many(compare(database, runs[0], perfect, *runs[1:])).best_of_many
    alone = many(compare(database, *runs)).best_of_many
    assert {key: each.run for key, each in best.items()} == {
        key: (0, 2, 3)[each.run] for key, each in alone.items()
    }


def moved(place: Rank) -> Rank:
    """The place of a comparison whose second run is left out."""
    if place.compared_with is None:
        return place
    return replace(place, compared_with=(0, 2, 3, 4)[place.compared_with])


def test_most_runs_on_the_same_labels_are_compared(database: Database) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    old = [log_counts(database, COUNTS), log_counts(database, [[61, 29, 30], *COUNTS[1:]])]
    correct_labels(database, {names[0]: "mel"}, dataset="derm")

    found = compare(database, plain, *old)
    correct_labels(database, {names[1]: "mel"}, dataset="derm")
    between = log_counts(database, COUNTS)
    correct_labels(database, {names[2]: "mel"}, dataset="derm")
    refusal = compare(database, plain, old[0], between).refusal

    assert many(found).left_out == (0,)
    assert "A is not compared with the others" in verdict_text(found)
    assert "not corrected for the choice" not in verdict_text(found)
    assert present(refusal).why == (
        "These runs were evaluated on different labels (A on v4, B on v1 and C on v3), so they "
        "cannot be ranked."
    )


def verdict_text(found: RunComparison) -> str:
    return present(found.verdict).text


def test_a_correction_is_a_new_question(database: Database) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    focal = log_model(database, FOCAL, name="focal", sample_ids=names)
    kept: LruCache[Compared] = LruCache(most=4)
    before = compare(database, plain, focal, kept=kept)

    correct_labels(database, {names[0]: "df"}, dataset="derm")
    after = compare(database, plain, focal, kept=kept)

    classes = [pair(found).first for found in (before, after)]
    one, other = [each.actual.tolist() for each in classes if isinstance(each, ConfusionMatrix)]
    assert one != other


def test_reading_takes_six_statements_at_most(database: Database) -> None:
    plain = log_model(
        database,
        PLAIN[:150],
        name="plain",
        truth=TRUTH[:150],
        sample_ids=sample_names(0, 150),
        y_score=scores_for(PLAIN[:150]),
        slices={"country": COUNTRIES[:150]},
    )
    focal = log_model(
        database,
        FOCAL[20:],
        name="focal",
        truth=TRUTH[20:],
        sample_ids=sample_names(20),
        y_score=scores_for(FOCAL[20:]),
    )

    with counted_statements() as statements:
        compare(database, plain, focal, on_shared=True, slice_text="country=DE")

    assert len(statements) == 6
