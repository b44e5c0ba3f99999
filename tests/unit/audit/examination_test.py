"""Finding the fewest numbers that have to be wrong."""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.audit.examination import smallest_to_blame
from offdiag.audit.reported_values import Claim, Facts, claims_from
from offdiag.domain.labels import LabelSet

LABELS = LabelSet(("+", "-"))


def claims(reported: Mapping[str, str]) -> tuple[Claim, ...]:
    """Claims about the first class and the whole."""
    return tuple(
        claim.redefined(claim.key, 0) if claim.is_unqualified else claim
        for claim in claims_from(reported, LABELS)
    )


def test_each_of_two_contradicting_numbers_may_be_to_blame() -> None:
    found = smallest_to_blame(claims({"accuracy": "0.80", "micro_f1": "0.70"}), Facts(LABELS))

    assert set(found) == {frozenset({0}), frozenset({1})}


def test_independent_contradictions_take_one_number_each() -> None:
    reported = {"accuracy": "0.80", "micro_f1": "0.70", "recall": "0.50", "fnr": "0.10"}

    found = smallest_to_blame(claims(reported), Facts(LABELS))

    assert {frozenset({0, 2}), frozenset({1, 3})} < set(found)
    assert {len(places) for places in found} == {2}


def test_a_search_that_gets_out_of_hand_blames_everything_that_contradicts() -> None:
    reported = {
        "accuracy": "0.91",
        "recall": "0.101",
        "dor": "77.7",
        "lr_plus": "1.23",
        "p4": "0.333",
        "mcc": "0.456",
        "prevalence_threshold": "0.789",
        "f1": "0.555",
        "npv": "0.432",
        "lift": "3.21",
        "gmean": "0.876",
        "markedness": "0.111",
    }

    facts = Facts(LABELS, class_counts=(100, 900))
    found = smallest_to_blame(claims(reported), facts, effort=600)

    assert found == (frozenset(range(len(reported))),)
