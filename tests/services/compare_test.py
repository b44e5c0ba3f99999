"""Stored runs are compared example by example, or not at all, and both is said in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import Churn, PairComparison, PairedOutcome, paired_outcomes
from offdiag.domain.runs import RunFacts
from offdiag.errors import InvalidInput, NotFound
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.comparisons.compare import RunComparison, compare_runs
from offdiag.services.comparisons.compute import Compared
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.lru_cache import LruCache
from offdiag.services.retention.deletion import delete_run
from offdiag.stats import paired_difference
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.dashboard import counted_statements, log_lesions, open_lesions
from support.logging_runs import correct_labels, log
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
    return log_matrix(
        database,
        facts=RunFacts(name="matrix"),
        matrix=counts,
        orientation="actual_rows",
        ordinal=False,
        **{"labels": list(CLASSES), "dataset": "derm"} | changes,
    )


def test_runs_on_the_same_truth_are_paired_once_as_predictions_in_memory_are(
    database: Database,
) -> None:
    plain = log_model(database, PLAIN, name="plain")
    focal = log_model(database, FOCAL, name="focal")
    kept: LruCache[Compared] = LruCache(most=4)

    found = compare(database, plain, focal, kept=kept)

    facts = pair(found).paired
    assert facts is not None
    assert facts.churn == expected_churn(PLAIN, FOCAL)
    assert [run.name for run in found.runs] == ["plain", "focal"]
    assert found.samples is not None
    assert found.samples.are_the_same
    assert found.samples.n_compared == N
    assert found.verdict is not None
    assert found.verdict.headline.startswith("B is better than A on balanced accuracy")
    expected = paired_difference(
        y_true=list(TRUTH),
        pred_a=PLAIN,
        pred_b=FOCAL,
        labels=list(CLASSES),
        seed=pair(found).together.seed,
    )
    for key in ("overall_accuracy", "mcc", "macro_f1"):
        assert pair(found).metric(key).difference == expected.aggregate[key]
    for each in pair(found).classes["f1"]:
        assert each.difference == expected.per_class["f1"][str(each.class_label)]
    with counted_statements() as statements:
        again = compare(database, plain, focal, kept=kept)
    assert again.result is found.result
    assert len(statements) == 2


def test_the_order_in_which_examples_were_logged_does_not_matter(
    database: Database,
) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    turned = log_model(
        database, FOCAL[::-1], name="focal", truth=TRUTH[::-1], sample_ids=names[::-1]
    )

    facts = pair(compare(database, plain, turned)).paired

    assert facts is not None
    assert facts.churn == expected_churn(PLAIN, FOCAL)


def test_corrected_labels_count_and_those_without_are_left_out(
    database: Database,
) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    focal = log_model(database, FOCAL, name="focal", sample_ids=names)
    correct_labels(database, {names[0]: "mel", names[1]: None}, dataset="derm")

    found = compare(database, plain, focal)

    truth = ("mel", *TRUTH[2:])
    facts = pair(found).paired
    assert facts is not None
    assert facts.churn == expected_churn([PLAIN[0], *PLAIN[2:]], [FOCAL[0], *FOCAL[2:]], truth)
    assert found.samples is not None
    assert (found.samples.n_unlabelled, found.samples.n_compared) == (1, N - 1)
    assert found.runs[0].truth is not None
    assert found.runs[0].truth.number == 2


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
    assert refused.refusal is not None
    assert refused.refusal.why == "Not paired: 150 and 160 examples, 130 shared."
    assert refused.refusal.n_shared == 130
    facts = pair(shared).paired
    assert facts is not None
    assert facts.churn == expected_churn(PLAIN[20:150], FOCAL[20:150], TRUTH[20:150])
    assert shared.samples is not None
    assert not shared.samples.are_the_same
    assert shared.samples.n_shared == 130


def test_shared_examples_with_contradicting_labels_are_left_out(
    database: Database,
) -> None:
    plain = log_model(
        database, PLAIN[:150], name="p", truth=TRUTH[:150], sample_ids=sample_names(0, 150)
    )
    truth = ["df", "df", *TRUTH[22:]]
    focal = log_model(database, FOCAL[20:], name="f", truth=truth, sample_ids=sample_names(20))

    found = compare(database, plain, focal, on_shared=True)

    assert found.samples is not None
    assert (found.samples.n_relabelled, found.samples.n_compared) == (2, 128)


def test_examples_without_identifiers_cannot_be_found_again(database: Database) -> None:
    plain = log_model(database, PLAIN[:150], name="plain", truth=TRUTH[:150])
    focal = log_model(database, FOCAL, name="focal")

    for on_shared in (False, True):
        refusal = compare(database, plain, focal, on_shared=on_shared).refusal

        assert refusal is not None
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

    refusal = compare(database, first, second, on_shared=True).refusal

    assert refusal is not None
    assert refusal.why == "Not paired: 90 and 90 examples, none of them shared."


def test_runs_of_different_datasets_are_refused_in_words(database: Database) -> None:
    derm = log_model(database, PLAIN, name="plain")
    other = log_model(database, PLAIN, name="plain", dataset="other")
    labels = log(database, dataset="letters")
    elsewhere = log_model(database, PLAIN, name="plain", facts={"project": "b-side"})

    same_labels = compare(database, derm, other).refusal
    other_labels = compare(database, derm, other, labels).refusal
    same_name = compare(database, derm, elsewhere).refusal

    assert same_labels is not None
    assert same_labels.why == (
        "These runs are on different datasets: A on “derm” and B on “other”."
    )
    assert other_labels is not None
    assert other_labels.why.endswith("C on “letters”, and their classes differ too.")
    assert same_name is not None
    assert "B on “derm” of project “b-side”" in same_name.why


def test_an_open_run_is_not_compared_yet(database: Database) -> None:
    done = log_lesions(database, evaluated=False)
    still_open = open_lesions(database)

    refusal = compare_runs(database, [done, still_open]).refusal

    assert refusal is not None
    assert refusal.why == "B is still open and may take more predictions."


def test_two_matrices_are_compared_too(database: Database) -> None:
    first = log_counts(database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]])
    second = log_counts(database, [[90, 15, 15], [10, 20, 10], [5, 5, 10]])

    found = compare(database, first, second)

    assert pair(found).metric("overall_accuracy").difference.value == pytest.approx(30 / 180)
    assert found.samples is None


def test_a_slice_compares_its_examples_only(database: Database) -> None:
    plain = log_model(database, PLAIN, name="plain", slices={"country": COUNTRIES})
    focal = log_model(database, FOCAL, name="focal")

    found = compare(database, plain, focal, slice_text="country=DE")

    chosen = [place for place, country in enumerate(COUNTRIES) if country == "DE"]
    facts = pair(found).paired
    assert facts is not None
    assert facts.churn == expected_churn(
        [PLAIN[at] for at in chosen],
        [FOCAL[at] for at in chosen],
        tuple(TRUTH[at] for at in chosen),
    )
    assert found.samples is not None
    assert found.samples.are_the_same
    assert found.samples.n_compared == len(chosen)
    assert found.slice_levels == {"country": ("DE", "SI")}
    for text in ("country=FR", "planet=DE", "country"):
        with pytest.raises(InvalidInput):
            compare(database, plain, focal, slice_text=text)
    matrix = log_counts(database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]])
    refusal = compare(database, plain, matrix, slice_text="country=DE").refusal
    assert refusal is not None
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

    refusal = compare(database, first, second).refusal

    assert refusal is not None
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


def test_a_matrix_among_many_is_named(database: Database) -> None:
    plain = log_model(database, PLAIN, name="plain")
    focal = log_model(database, FOCAL, name="focal")
    matrix = log_counts(database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]])

    found = compare(database, plain, matrix, focal)

    assert many(found).unpaired == (1,)
    assert [(each.first, each.second) for each in many(found).pairs] == [(0, 2)]


def test_a_matrix_on_older_labels_is_said_to_be(database: Database) -> None:
    names = sample_names()
    plain = log_model(database, PLAIN, name="plain", sample_ids=names)
    focal = log_model(database, FOCAL, name="focal", sample_ids=names)
    matrix = log_counts(database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]])
    same = compare(database, plain, matrix)
    correct_labels(database, {names[0]: "mel"}, dataset="derm")

    two = compare(database, plain, matrix)
    three = compare(database, plain, matrix, focal)
    later = log_counts(database, [[60, 30, 30], [10, 20, 10], [5, 5, 10]])

    assert [run.truth and run.truth.number for run in three.runs] == [2, 1, 2]
    why = "The runs are not paired: A was evaluated on labels v2, B on labels v1, which may be"
    assert why in verdict_text(two)
    assert "different examples" not in verdict_text(two)
    assert "A and C were evaluated on labels v2, B on labels v1" in verdict_text(three)
    assert "different examples" in verdict_text(same)
    assert "on labels v" not in verdict_text(same)
    assert "on labels v" not in verdict_text(compare(database, plain, later, focal))


def verdict_text(found: RunComparison) -> str:
    assert found.verdict is not None
    return found.verdict.text


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


def test_unknown_and_deleted_runs_are_not_found(database: Database) -> None:
    plain = log_model(database, PLAIN, name="plain")
    gone = log_model(database, FOCAL, name="gone")
    delete_run(database, gone.id, by=None)

    for other in (gone.id, "r_nosuchrun"):
        with pytest.raises(NotFound, match=other):
            compare_runs(database, [plain.id, other])


def test_fewer_than_two_or_too_many_or_doubled_runs_are_refused(database: Database) -> None:
    for ids in ([], ["r_a"], ["r_a", "r_a"], [f"r_{n}" for n in range(27)]):
        with pytest.raises(InvalidInput) as caught:
            compare_runs(database, ids)

        assert caught.value.field == "runs"
