"""How a comparison writes runs, metrics, differences and probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from offdiag.comparison.differences import DifferenceStatus, MetricDifference
from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.domain import sentences
from offdiag.domain.number_text import p_value
from offdiag.domain.sentences import inside
from offdiag.domain.values import MetricValue
from offdiag.metrics import metric_text
from offdiag.metrics.metric_text import spec_of
from offdiag.metrics.spec import Direction


def chosen_here(runs: Sequence[str]) -> str:
    """Why no difference from these runs is evidence, as a clause of a sentence."""
    several = len(runs) > 1
    thresholds, was, them = (
        ("thresholds", "were", "them") if several else ("threshold", "was", "it")
    )
    named = sentences.enumerated(runs)
    return f"the {thresholds} of {named} {was} chosen on these examples, which flatters {them}"


def run_label(position: int) -> str:
    """ "A" for position 0, at most `MOST_COMPARED` of them."""
    return ascii_uppercase[position]


def differing_versions(versions: Sequence[int | None]) -> tuple[str, ...]:
    """ "v2" for each run, "" for one without labels; empty if all are on one version."""
    if len({version for version in versions if version is not None}) < 2:
        return ()
    return tuple("" if version is None else f"v{version}" for version in versions)


def other_labels(versions: Sequence[int | None], consequence: str) -> str:
    """ "A was evaluated on labels v1, B on labels v2, so …", with what to do about it."""
    groups: dict[int, list[str]] = {}
    for position, version in enumerate(versions):
        if version is not None:
            groups.setdefault(version, []).append(run_label(position))
    (first, of_first), *others = groups.items()
    verb = "was" if len(of_first) == 1 else "were"
    parts = [f"{sentences.enumerated(of_first)} {verb} evaluated on labels v{first}"]
    parts += [f"{sentences.enumerated(named)} on labels v{each}" for each, named in others]
    return (
        f"{', '.join(parts)}, so {consequence}: log predictions, which follow corrections, or a "
        f"matrix on labels v{max(groups)}."
    )


TITLES = {
    "overall_accuracy": "Accuracy",
    "subset_accuracy": "Subset accuracy",
    "example_jaccard": "Jaccard index",
    "hamming_loss": "Hamming loss",
    "micro_f1": "Micro F1",
    "balanced_accuracy": "Balanced accuracy",
    "mcc": "MCC",
    "macro_f1": "Macro F1",
    "cohen_kappa": "Cohen's kappa",
    "roc_auc": "ROC AUC",
    "roc_auc_ovr_macro": "ROC AUC (macro, one-vs-rest)",
    "log_loss": "Log loss",
    "brier_sum": "Brier score (sum)",
    "recall": "Recall",
    "precision": "Precision",
    "f1": "F1",
}
_RANK_STATUS_TEXTS = {
    RankStatus.BEST: "highest",
    RankStatus.NOT_SEPARABLE: "no significant difference",
    RankStatus.BEHIND: "significantly worse",
    RankStatus.NOT_TESTED: "not tested",
    RankStatus.UNDEFINED: "",
}


def title(key: str) -> str:
    """ "Balanced accuracy"."""
    return TITLES[key] if key in TITLES else spec_of(key, of_class=False).title


def title_inside(key: str) -> str:
    """The title for use within a sentence."""
    return inside(title(key))


def rank_text(key: str, status: RankStatus) -> str:
    """ "highest", or "lowest" for a metric for which lower is better."""
    if status is RankStatus.BEST and spec_of(key, of_class=False).direction is Direction.LOWER:
        return "lowest"
    return _RANK_STATUS_TEXTS[status]


def class_noun(n: int, *, of_sets: bool, among: str = "") -> str:
    """ "3 classes", "1 label"; `among` stands between number and noun."""
    noun, plural = ("label", "labels") if of_sets else ("class", "classes")
    return f"{n:,} {among}{noun if n == 1 else plural}"


def difference_text(key: str, gap: MetricValue, *, of_class: bool = False) -> str:
    """ "−15.0 pp", or "undefined"."""
    if gap.value is None:
        return "undefined"
    return metric_text.difference(gap.value, spec_of(key, of_class=of_class))


def difference_interval(key: str, gap: MetricValue, *, of_class: bool = False) -> str | None:
    """ "−20.2 to −10.0", in the unit of `difference_text`; None if there is no interval."""
    return ends_text(key, (gap.ci_low, gap.ci_high), of_class=of_class)


def simultaneous_interval(found: MetricDifference) -> str | None:
    """The text of the interval that holds together with the others."""
    if found.simultaneous is None:
        return None
    ends = found.simultaneous.low, found.simultaneous.high
    return ends_text(found.key, ends, of_class=found.class_label is not None)


def outcome_text(found: MetricDifference) -> str:
    """ "better", "no significant difference"; with a remark if the metric alone would pass."""
    if found.outcome is not DifferenceStatus.NOT_SEPARABLE:
        return found.outcome.value
    alone = " (alone it would pass)" if found.would_pass_alone else ""
    return f"no significant difference{alone}"


def ends_text(
    key: str, ends: tuple[float | None, float | None], *, of_class: bool = False
) -> str | None:
    """Two ends of an interval of a difference; None if there is no interval."""
    if ends[0] is None or ends[1] is None:
        return None
    spec = spec_of(key, of_class=of_class)
    low, high = (metric_text.difference(end, spec) for end in ends if end is not None)
    return f"{low} to {high}".replace(" pp", "")


def rank_difference(key: str, places: Sequence[Rank], position: int) -> str | None:
    """ "−2.1 pp (−4.0 to −0.2)" against the highest run, "… vs D" against another one."""
    place = places[position]
    if place.behind is None or place.behind.value is None or place.compared_with is None:
        return None
    ends = difference_interval(key, place.behind)
    rival = places[place.compared_with]
    against = (
        "" if rival.rank_status is RankStatus.BEST else f" vs {run_label(place.compared_with)}"
    )
    return f"{difference_text(key, place.behind)}{f' ({ends})' if ends else ''}{against}"


def number_word(number: int) -> str:
    """ "five"; digits above ten."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else str(number)


def level_text(confidence: float) -> str:
    """ "95 %"."""
    return f"{100 * confidence:g} %"


def difference_sentence(
    found: MetricDifference, confidence: float | None = None, *, decisive_p: float | None = None
) -> str:
    """ "accuracy +0.3 pp (95 % CI −1.7 to +2.7 alone, −2.1 to +3.1 together)".

    The level is named if it is given. `decisive_p` is the p that matches the interval, for an
    exact p that does not agree with it: with few samples the exact test is much stricter.
    """
    said = f"{title_inside(found.key)} {difference_text(found.key, found.difference)}"
    ends, together = difference_interval(found.key, found.difference), simultaneous_interval(found)
    if ends is None:
        return said
    level = "" if confidence is None else f"{level_text(confidence)} CI "
    both = ends if together in {None, ends} else f"{ends} alone, {together} together"
    test = "" if found.p is None else f"; exact McNemar {p_value(found.p)}"
    if decisive_p is not None and test:
        test = (
            f"; McNemar's χ² decides, {p_value(decisive_p)}, not the exact {p_value(found.p or 0)}"
        )
    return f"{said} ({level}{both}{test})"
