"""Which examples are shown, in the words of the title and of one sentence."""

from __future__ import annotations

from offdiag.metrics.counted import Counted, CountedSets
from offdiag.services.examples.question import ExampleQuestion, Kind
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import quoted_name
from offdiag_web.presenters.examples.counts import is_counted

_KIND_WORDS = {
    Kind.WRONG: ("wrong example", "wrong examples"),
    Kind.RIGHT: ("right example", "right examples"),
    Kind.UNLABELLED: ("example without a label", "examples without a label"),
    Kind.ALL: ("example", "examples"),
}


def title(question: ExampleQuestion, total: int) -> str:
    """ "59 examples, actual “mel”, predicted “nv”"."""
    kind = Kind.ALL if question.is_cell else question.kind
    parts = [numbers.plural(total, *_KIND_WORDS[kind]), *filter_words(question)]
    return ", ".join(parts)


def filter_words(question: ExampleQuestion) -> list[str]:
    """The terms of a question, each in words."""
    words = []
    if question.actual is not None:
        words.append(f"actual {quoted_name(question.actual)}")
    if question.predicted is not None:
        words.append(f"predicted {quoted_name(question.predicted)}")
    if question.sample is not None:
        words.append(f"sample “{numbers.shortened(question.sample)}”")
    return words


def sentence(matrix: Counted, question: ExampleQuestion) -> str | None:
    """What share of its class the examples are; None where there is nothing to relate them to."""
    if question.sample is not None or not is_counted(matrix, question):
        return None
    if question.actual is not None and question.predicted is not None:
        return _of_cell(matrix, question.actual, question.predicted)
    if question.kind in {Kind.ALL, Kind.UNLABELLED}:
        return None
    if question.actual is not None:
        return _of_actual(matrix, question.actual, question.kind)
    if question.predicted is not None:
        return _of_predicted(matrix, question.predicted, question.kind)
    right = matrix.n_right
    part = right if question.kind is Kind.RIGHT else matrix.total - right
    return _share(part, matrix.total, "labelled cases", f"are {question.kind.value}")


def _of_cell(matrix: Counted, name: str, other: str) -> str | None:
    if isinstance(matrix, CountedSets):
        return None
    actual, predicted = matrix.labels.index[name], matrix.labels.index[other]
    count = int(matrix.counts[actual, predicted])
    support, answers = int(matrix.actual[actual]), int(matrix.predicted[predicted])
    if not count:
        return None
    was, taken = quoted_name(name), quoted_name(other)
    of_actual, of_predicted = (
        numbers.fine_percent(count, support),
        numbers.fine_percent(count, answers),
    )
    if actual == predicted:
        return (
            f"{of_actual} of the {numbers.plural(support, 'case')} of {was} were found; "
            f"{of_predicted} of the {numbers.plural(answers, 'answer')} {taken} are right."
        )
    return (
        f"{of_actual} of the {numbers.plural(support, 'case')} of {was} were taken for {taken}; "
        f"{of_predicted} of the {numbers.plural(answers, 'answer')} {taken} are {was}."
    )


def _of_actual(matrix: Counted, name: str, kind: Kind) -> str | None:
    code = matrix.labels.index[name]
    right, support = int(matrix.correct[code]), int(matrix.actual[code])
    part, verb = (right, "were found") if kind is Kind.RIGHT else (support - right, "were missed")
    return _share(part, support, f"cases of {quoted_name(name)}", verb)


def _of_predicted(matrix: Counted, name: str, kind: Kind) -> str | None:
    code = matrix.labels.index[name]
    right, answers = int(matrix.correct[code]), int(matrix.predicted[code])
    part = right if kind is Kind.RIGHT else answers - right
    return _share(part, answers, f"answers {quoted_name(name)}", f"are {kind.value}")


def _share(part: int, of: int, what: str, verb: str) -> str | None:
    if not of:
        return None
    shown = numbers.fine_percent(part, of)
    return f"{numbers.count(part)} of {numbers.count(of)} {what} {verb} ({shown})."
