"""How many examples a view shows, and their title and sentence."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.hierarchy import Hierarchy, collapse_groups
from offdiag.metrics.confusion import collapsed
from offdiag.metrics.counted import CountedSets, Unweighted
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name


@dataclass(frozen=True)
class ExampleCounts:
    """The matrix of a run, in which groups of classes are found as classes.

    Sets of labels have no groups, because no one counted how many have one label of several.
    """

    matrix: Unweighted
    hierarchy: Hierarchy | None = None

    def of(self, question: ExampleQuestion) -> Unweighted:
        """The matrix with the groups collapsed that a question names."""
        if self.hierarchy is None or isinstance(self.matrix, CountedSets):
            return self.matrix
        named = [
            name
            for name in (question.actual, question.predicted)
            if name is not None and name in self.hierarchy.by_name
        ]
        if not named:
            return self.matrix
        return collapsed(self.matrix, collapse_groups(self.matrix.labels, self.hierarchy, named))


def expected_count(
    matrix: Unweighted, question: ExampleQuestion, *, n_unlabelled: int
) -> int | None:
    """The number of matching samples in the matrix; None if the matrix cannot tell.

    Predictions without a label are in no matrix: only their total is known.
    """
    if (
        question.sample is not None
        or question.part is not None
        or not is_counted(matrix, question)
    ):
        return None
    names = matrix.labels.index
    actual = None if question.actual is None else names[question.actual]
    predicted = None if question.predicted is None else names[question.predicted]
    if question.kind is Kind.UNLABELLED:
        return n_unlabelled if question.predicted is None and actual is None else None
    if question.kind is Kind.ALL and actual is None and n_unlabelled and predicted is not None:
        return None
    counted = _all_of(matrix, actual, predicted)
    right = _right_of(matrix, actual, predicted)
    if question.is_cell:
        return counted
    if question.kind is Kind.ALL:
        return counted + (n_unlabelled if actual is None else 0)
    return right if question.kind is Kind.RIGHT else counted - right


def is_counted(counted: Unweighted, question: ExampleQuestion) -> bool:
    """Whether counts suffice: for sets, if the question is about at most one label."""
    if not isinstance(counted, CountedSets):
        return True
    named = {name for name in (question.actual, question.predicted) if name is not None}
    return len(named) <= 1 and named <= counted.labels.index.keys()


def _all_of(matrix: Unweighted, actual: int | None, predicted: int | None) -> int:
    if actual is not None and predicted is not None:
        is_same = actual == predicted
        if isinstance(matrix, CountedSets) or is_same:
            return int(matrix.correct[actual])
        return int(matrix.counts[actual, predicted])
    if actual is not None:
        return int(matrix.actual[actual])
    return matrix.total if predicted is None else int(matrix.predicted[predicted])


def _right_of(matrix: Unweighted, actual: int | None, predicted: int | None) -> int:
    codes = {code for code in (actual, predicted) if code is not None}
    if not codes:
        return matrix.n_right
    if len(codes) > 1:
        return 0
    (code,) = codes
    return int(matrix.correct[code])


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
    words = []
    if question.actual is not None:
        words.append(f"actual {quoted_name(question.actual)}")
    if question.predicted is not None:
        words.append(f"predicted {quoted_name(question.predicted)}")
    if question.sample is not None:
        words.append(f"sample “{numbers.shortened(question.sample)}”")
    return words


def sentence(matrix: Unweighted, question: ExampleQuestion) -> str | None:
    """The share of its class that these examples are; None if there is nothing to compare with."""
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
    return _of_all(matrix, question.kind)


def _of_all(matrix: Unweighted, kind: Kind) -> str | None:
    """The share alone: the title has the number."""
    right, total = matrix.n_right, matrix.total
    part = right if kind is Kind.RIGHT else total - right
    of = numbers.plural(total, "labelled example")
    return f"{numbers.fine_percent(part, total)} of the {of}." if total else None


def _of_cell(matrix: Unweighted, name: str, other: str) -> str | None:
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
    examples = numbers.plural(support, "example")
    predictions = numbers.plural(answers, "prediction")
    if actual == predicted:
        return (
            f"{of_actual} of the {examples} of {was} were predicted correctly; "
            f"{of_predicted} of the {predictions} {taken} are correct."
        )
    return (
        f"{of_actual} of the {examples} of {was} were predicted as {taken}; "
        f"{of_predicted} of the {predictions} {taken} are {was}."
    )


def _of_actual(matrix: Unweighted, name: str, kind: Kind) -> str | None:
    code = matrix.labels.index[name]
    right, support = int(matrix.correct[code]), int(matrix.actual[code])
    part, verb = (right, "were found") if kind is Kind.RIGHT else (support - right, "were missed")
    return _share(part, support, f"examples of {quoted_name(name)}", verb)


def _of_predicted(matrix: Unweighted, name: str, kind: Kind) -> str | None:
    code = matrix.labels.index[name]
    right, answers = int(matrix.correct[code]), int(matrix.predicted[code])
    part = right if kind is Kind.RIGHT else answers - right
    return _share(part, answers, f"predictions {quoted_name(name)}", f"are {kind.value}")


def _share(part: int, of: int, what: str, verb: str) -> str | None:
    if not of:
        return None
    shown = numbers.fine_percent(part, of)
    return f"{numbers.count(part)} of {numbers.count(of)} {what} {verb} ({shown})."
