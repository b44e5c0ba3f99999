"""The statement at the top of a run: the one thing to know first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.domain.runs import Task
from offdiag.domain.sentences import typeset
from offdiag.flags.problems import CAUSE_OF, Cause
from offdiag.flags.verdict import Severity
from offdiag.flags.warning import RaisedFlag, minority_warning, named, not_detected
from offdiag.metrics.counted import class_sizes
from offdiag.store.flags import FlagRecord
from offdiag.store.run_page import RunDetail, RunFlags, RunResults
from offdiag_web.components import numbers
from offdiag_web.components.controls import ClassWords, Tone, class_words, orientation_warning
from offdiag_web.urls.flags import flag_url, problems_of_run

_SEVERE = (Severity.CRITICAL, Severity.HIGH)


@dataclass(frozen=True, slots=True)
class Statement:
    """What has to be known first; `strong` is shown in bold.

    `mark` is shown on the first tab on other pages, "" if nothing is wrong. `class_name` is the
    class that the statement is about.
    """

    strong: str
    rest: str = ""
    tone: Tone = "neutral"
    mark: str = ""
    link: str | None = None
    link_text: str = ""
    class_name: str | None = None


def run_statement(detail: RunDetail) -> Statement | None:
    """The statement of a run; None until it has labelled examples."""
    results = detail.results
    if results is None or not results.facts.n_cases:
        return None
    doubt = orientation_warning(detail.run.source, detail.run.orientation_verdict)
    if doubt is not None:
        return Statement(doubt.headline, doubt.explanation, "warning", "▲")
    problem = _problem(detail, results)
    if problem is not None:
        return problem
    detection = _detection(results, class_words(detail.run.task))
    # Classes that are never found come before problems that their recalls do not show.
    return detection if detection.mark else _other_problem(detail) or detection


def _problem(detail: RunDetail, results: RunResults) -> Statement | None:
    """What the accuracy hides or may hide; dismissed problems are left out."""
    counting = {
        RaisedFlag(flag.content.rule, flag.content.class_label, flag.content.hides): flag
        for flag in detail.flags.flags
        if flag.content.in_badge and not flag.status.is_dismissed
    }
    found = minority_warning(results.counted, counting)
    if found is None:
        return None
    flag = counting[found.flag]
    if found.recall is None:
        return _about(detail, flag, f"{found.strong}.", _ranks(detail, results))
    rest = _ranks(detail, results)
    if not found.is_proved:
        more = flag.content.evidence.get("examples_needed")
        rest = f"About {numbers.count(more)} more labels of it would decide." if more else ""
    return _about(detail, flag, found.strong, f"{found.interval}. {rest}")


def _other_problem(detail: RunDetail) -> Statement | None:
    """The most severe finding that recalls of whole classes do not show, such as on a slice."""
    found = next(
        (
            flag
            for flag in detail.flags.flags
            if not flag.status.is_dismissed
            and (flag.content.rule == "F16" or flag.status.severity in _SEVERE)
        ),
        None,
    )
    if found is None:
        return None
    strong, comma, rest = typeset(found.content.message), "", ""
    if found.content.rule == "F16":
        strong, comma, rest = strong.partition(", ")
    said = _about(detail, found, f"{strong}{comma}".rstrip(), rest)
    return replace(said, tone="warning", mark="▲")


def _about(detail: RunDetail, flag: FlagRecord, strong: str, rest: str) -> Statement:
    link, text = problems_of_run(detail.run.id), _counted(detail.flags)
    if not text:
        link, text = flag_url(flag.id), "Problem"
    is_proved = flag.content.hides
    return Statement(
        strong,
        rest.rstrip(),
        "hides" if is_proved else "may-hide",
        "▲" if is_proved else "◇",
        link,
        text,
        flag.content.class_label,
    )


def _counted(of_run: RunFlags) -> str:
    """ "3 problems, 12 low", as lists hide the low ones at first; "" for a single problem."""
    is_low: dict[tuple[Cause | None, str | None, str | None], bool] = {}
    for flag in of_run.flags:
        kind = CAUSE_OF.get(flag.content.rule), flag.content.class_label, flag.content.slice
        is_low[kind] = is_low.get(kind, True) and flag.status.severity not in _SEVERE
    if len(is_low) == 1:
        return ""
    n_low = sum(is_low.values())
    n_others = len(is_low) - n_low
    more = "+" if of_run.n_firing > len(of_run.flags) else ""
    low = f"{numbers.count(n_low)}{more} low" if n_low else ""
    if not n_others:
        return f"{low} problems"
    others = (
        f"{numbers.count(n_others)}{'' if low else more} problem{'' if n_others == 1 else 's'}"
    )
    return ", ".join(filter(None, (others, low)))


def _ranks(detail: RunDetail, results: RunResults) -> str:
    """ "Accuracy 0.828 is rank 10 of 30, balanced accuracy 0.596 is rank 15."; "" if alone."""
    flags = detail.flags
    accuracy = results.aggregate.get("overall_accuracy")
    if flags.accuracy_rank is None or flags.n_ranked < 2 or detail.run.task is Task.MULTILABEL:
        return ""
    if accuracy is None or accuracy.value is None:
        return ""
    said = (
        f"Accuracy {numbers.metric(accuracy.value)} is rank "
        f"{numbers.count(flags.accuracy_rank)} of {numbers.count(flags.n_ranked)}"
    )
    balanced = results.aggregate.get("balanced_accuracy")
    if balanced is None or balanced.value is None or flags.balanced_rank is None:
        return f"{said}."
    return (
        f"{said}, balanced accuracy {numbers.metric(balanced.value)} is rank "
        f"{numbers.count(flags.balanced_rank)}."
    )


def _detection(results: RunResults, words: ClassWords) -> Statement:
    """Whether every class is found significantly more often than by chance, or which are not."""
    found = not_detected(
        class_sizes(results.counted), results.per_class["recall"], results.per_class["fpr"]
    )
    names = results.counted.labels.names
    if found.by_chance:
        listed = _listed([names[code] for code in found.by_chance])
        verb = "is" if len(found.by_chance) == 1 else "are"
        strong = f"{listed} {verb} not found clearly more often than by chance."
        return Statement(strong, tone="may-hide", mark="◇")
    if found.too_few:
        return Statement(f"Too few labels to judge {_listed([names[c] for c in found.too_few])}.")
    return Statement(f"Every {words.one} is found clearly more often than by chance.")


_MOST_NAMED = 5


def _listed(names: Sequence[str]) -> str:
    shown = [named(name) for name in names[:_MOST_NAMED]]
    hidden = len(names) - len(shown)
    return ", ".join(shown) + (f" and {numbers.count(hidden)} more" if hidden else "")
