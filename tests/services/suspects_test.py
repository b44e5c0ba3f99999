"""Labels that models contradict, over the runs of a dataset: who has a vote, and what is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.runs import RunFacts
from offdiag.domain.sample_content import SuspectQuestion
from offdiag.errors import InvalidInput, LabelNote
from offdiag.services.examples.page import browse_examples
from offdiag.services.examples.selection import ExampleOrder, ExampleQuestion, Kind, SortKey
from offdiag.services.lru_cache import LruCache
from offdiag.services.samples.drafts import answer_labels, publish_draft
from offdiag.services.samples.suspects import RankedDataset, SuspectLabels, suspect_labels
from offdiag.store import compared_runs as queries
from offdiag.store.database import Database
from support.logging_runs import correct_labels, log, work_off

N, CLASSES = 300, ["a", "b", "c"]
RANDOM = np.random.default_rng(5)
TRUE = RANDOM.integers(0, 3, N)
WRONG = np.array([10, 20, 30, 40, 50, 60])
LABELS = TRUE.copy()
LABELS[WRONG] = (LABELS[WRONG] + 1) % 3
ORDER = RANDOM.permutation(N)


def table(seed: int) -> Any:
    random = np.random.default_rng(seed)
    scores = np.exp(random.normal(size=(N, 3)) + 7 * np.eye(3)[TRUE])
    return scores / scores.sum(axis=1, keepdims=True)


def add(database: Database, model: str, scores: Any = None, **facts: Any) -> str:
    """A run in an order of its own, with ids that name the samples."""
    names = np.array(CLASSES)
    predicted = TRUE if scores is None else scores.argmax(axis=1)
    weight = facts.pop("sample_weight", None)
    if facts.pop("constant", False):
        predicted = np.full(N, np.bincount(LABELS).argmax())
    return log(
        database,
        dataset="d",
        facts=RunFacts(name=f"{model} run", model=model, **facts),
        y_true=names[LABELS][ORDER],
        y_pred=names[predicted][ORDER],
        y_score=None if scores is None else scores[ORDER],
        sample_weight=None if weight is None else weight[ORDER],
        sample_ids=[f"s{at}" for at in ORDER],
        labels=CLASSES,
    ).id


def add_in_order(database: Database, seed: int, labels: Any, ids: list[str] | None) -> None:
    """A run on samples that its ids name, or else their places."""
    names = np.array(CLASSES)
    log(
        database,
        dataset="d",
        facts=RunFacts(name="net", model=f"net {seed}"),
        y_true=names[labels],
        y_pred=names[TRUE],
        y_score=table(seed),
        sample_ids=ids,
        labels=CLASSES,
    )


def suspects(database: Database, **question: Any) -> SuspectLabels:
    asked = SuspectQuestion(limit=100, **question)
    return suspect_labels(database, project="default", dataset="d", question=asked)


def named(found: SuspectLabels) -> set[str]:
    return {str(each.sample) for each in found.suspects}


def test_wrong_labels_are_found_with_their_reason(database: Database) -> None:
    for at, model in enumerate(("net", "forest")):
        add(database, model, table(at))

    found = suspects(database)

    assert named(found) >= {f"s{at}" for at in WRONG}
    assert found.n_confident <= found.n_suspect <= 9
    first = found.suspects[0]
    assert first.suggested == CLASSES[TRUE[int(str(first.sample)[1:])]]
    assert first.reason.startswith("2 of 2 models predict")
    assert found.planted is not None
    assert found.planted.found > 0.9
    narrowed = suspects(database, class_label=first.label, at_least=2)
    assert {each.label for each in narrowed.suspects} == {first.label}
    assert sum(n for label, _, n in found.moves if label == first.label) >= narrowed.total


def test_checkpoints_of_one_model_are_one_vote_and_who_saw_the_labels_has_none(
    database: Database,
) -> None:
    for at in range(4):
        add(database, "net", table(at))
    add(database, "net", table(9), params={"features": "colour"})
    add(database, "constant", constant=True)
    add(database, "memory", table(2), tags={"split": "train"})

    found = suspects(database)

    assert {each.name: each.n_runs for each in found.families} == {
        "net": 4,
        "net, features colour": 1,
    }
    assert [each.name for each in found.left_out] == ["constant"]
    assert found.trained_on == 1
    with pytest.raises(InvalidInput):
        suspects(database, class_label="d")


def test_only_training_predictions_are_no_evidence(database: Database) -> None:
    add(database, "memory", table(2), tags={"split": "Train"})

    found = suspects(database)

    assert found.suspects == ()
    assert "more accurate than always predicting the largest class" in str(found.missing)
    assert "Runs on training data have no vote." in str(found.missing)


def test_models_without_probabilities_must_be_three(database: Database) -> None:
    add(database, "rules")
    add(database, "more rules")
    assert "3 models" in str(suspects(database).missing)

    add(database, "scores that are none", table(1) * 7)

    found = suspects(database)
    assert found.missing is None
    assert not any(each.has_probabilities for each in found.families)
    assert named(found) >= {f"s{at}" for at in WRONG}


def test_a_correction_takes_effect_though_results_are_kept(database: Database) -> None:
    add(database, "net", table(1))
    kept: LruCache[RankedDataset] = LruCache(most=4)

    def asked() -> SuspectLabels:
        return suspect_labels(
            database,
            project="default",
            dataset="d",
            question=SuspectQuestion(limit=100),
            kept=kept,
        )

    before = asked()
    correct_labels(database, {"s10": CLASSES[TRUE[10]], "s20": None}, dataset="d")

    assert before.version == 1
    assert asked().version == 2
    assert named(before) - named(asked()) == {"s10", "s20"}
    assert asked().n_labelled == N - 1


def test_predictions_are_read_of_the_best_run_of_each_model_only(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = queries.predictions_of

    def watched(session: Any, run_ids: Any) -> Any:
        read.extend(run_ids)
        return whole(session, run_ids)

    best = add(database, "net", table(1))
    for seed in (2, 3):
        worse = table(seed)
        worse[::9] = np.roll(worse[::9], 1, axis=1)
        add(database, "net", worse)
    other = add(database, "forest", table(4))
    work_off(database)
    monkeypatch.setattr(queries, "predictions_of", watched)

    found = suspects(database)

    assert {each.run_id for each in found.families} == set(read) == {best, other}


def test_only_the_most_accurate_models_vote(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offdiag.services.samples.suspects.MOST_MODELS", 1)
    add(database, "net", table(1))
    poor = table(2)
    poor[::3] = np.roll(poor[::3], 1, axis=1)
    add(database, "poor", poor)
    work_off(database)

    found = suspects(database)

    assert [each.name for each in found.families] == ["net"]
    assert [each.name for each in found.left_out] == ["poor"]


def test_a_weighted_model_votes_after_all_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = table(2)
    poor[::3] = np.roll(poor[::3], 1, axis=1)
    add(database, "poor", poor)
    add(database, "survey", table(1), sample_weight=np.linspace(0.1, 3.0, N))
    work_off(database)

    assert [each.name for each in suspects(database).families] == ["poor", "survey"]
    monkeypatch.setattr("offdiag.services.samples.suspects.MOST_MODELS", 1)
    assert [each.name for each in suspects(database).families] == ["poor"]


def test_examples_are_sorted_by_the_models_that_agree_with_their_label(
    database: Database,
) -> None:
    run = add(database, "net", table(0))
    add(database, "net", table(7))
    add(database, "forest", table(1))
    add(database, "constant", constant=True)
    kept: LruCache[RankedDataset] = LruCache(most=2)
    fewest = ExampleQuestion(kind=Kind.ALL, order=ExampleOrder(SortKey.AGREEMENT))

    page = browse_examples(database, run, fewest, size=N, kept=kept)

    # One vote of each model, and none of one that is no better than the largest class.
    assert (page.n_models, page.total, len(page.examples)) == (2, N, N)
    best = {each.name: each.run_id for each in suspects(database).families}
    said = {
        name: {
            each.sample: each.predicted
            for each in browse_examples(
                database, run_id, ExampleQuestion(kind=Kind.ALL), size=N
            ).examples
        }
        for name, run_id in best.items()
    }
    wanted = [
        sum(by_sample[each.sample] == each.actual for by_sample in said.values())
        for each in page.examples
    ]
    assert list(page.n_agreeing) == wanted == sorted(wanted)
    assert {f"s{at}" for at in WRONG} & {str(each.sample) for each in page.examples[:10]}


def test_without_a_vote_examples_stay_as_they_were_logged(database: Database) -> None:
    run = add(database, "constant", constant=True)
    fewest = ExampleQuestion(kind=Kind.ALL, order=ExampleOrder(SortKey.AGREEMENT))

    page = browse_examples(database, run, fewest, size=5)

    assert (page.n_models, page.n_agreeing, page.order.key) == (0, (), SortKey.LOGGED)
    assert [each.index for each in page.examples] == [0, 1, 2, 3, 4]


def test_answers_on_earlier_samples_hide_no_suspects(database: Database) -> None:
    where: dict[str, Any] = {"project": "default", "dataset": "d"}
    for seed in (0, 1):
        add_in_order(database, seed, LABELS, None)
    answer_labels(database, **where, labels={10: CLASSES[TRUE[10]]}, author="ana")
    publish_draft(database, **where, reason="seen", author="ana")
    assert "10" not in named(suspects(database))

    others = LABELS.copy()
    others[0] = (others[0] + 1) % 3
    with pytest.warns(LabelNote, match="y_true has other labels than label version 2"):
        add_in_order(database, 2, others, None)
    add_in_order(database, 3, others, None)

    assert "10" in named(suspects(database))


def test_published_answers_may_be_about_samples_that_later_runs_do_not_have(
    database: Database,
) -> None:
    where: dict[str, Any] = {"project": "default", "dataset": "d"}
    for at, model in enumerate(("net", "forest")):
        add(database, model, table(at))
    answer_labels(database, **where, labels={"s10": CLASSES[TRUE[10]]}, author="ana")
    publish_draft(database, **where, reason="seen", author="ana")
    for seed in (2, 3):
        add_in_order(database, seed, LABELS, [f"t{at}" for at in range(N)])

    assert named(suspects(database)) >= {f"t{at}" for at in WRONG}
