import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.examples.selection import ExampleQuestion, Kind
from offdiag_web.pages.run_examples.counts import sentence, title

MATRIX = ConfusionMatrix(
    np.array([[90, 10, 0], [6, 14, 0], [0, 0, 0]], dtype=np.int64), LabelSet(("a", "b", "c"))
)


@pytest.mark.parametrize(
    ("question", "total", "words"),
    [
        (ExampleQuestion(), 205, "205 wrong examples"),
        (ExampleQuestion(), 1, "1 wrong example"),
        (ExampleQuestion("a", "b"), 10, "10 examples, actual “a”, predicted “b”"),
        (ExampleQuestion("a", kind=Kind.ALL), 100, "100 examples, actual “a”"),
        (ExampleQuestion(predicted="b"), 10, "10 wrong examples, predicted “b”"),
        (ExampleQuestion(kind=Kind.RIGHT), 104, "104 right examples"),
        (ExampleQuestion(kind=Kind.UNLABELLED), 2, "2 examples without a label"),
        (ExampleQuestion(sample="x7"), 0, "0 wrong examples, sample “x7”"),
    ],
)
def test_the_title_says_how_many_of_what(
    question: ExampleQuestion, total: int, words: str
) -> None:
    assert title(question, total) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            ExampleQuestion("a", "b"),
            (
                "10.0 % of the 100 examples of “a” were predicted as “b”; "
                "41.7 % of the 24 predictions “b” are “a”."
            ),
        ),
        (
            ExampleQuestion("b", "b"),
            (
                "70.0 % of the 20 examples of “b” were predicted correctly; "
                "58.3 % of the 24 predictions “b” are correct."
            ),
        ),
        (ExampleQuestion("b"), "6 of 20 examples of “b” were missed (30.0 %)."),
        (ExampleQuestion("b", kind=Kind.RIGHT), "14 of 20 examples of “b” were found (70.0 %)."),
        (ExampleQuestion(predicted="b"), "10 of 24 predictions “b” are wrong (41.7 %)."),
        (ExampleQuestion(), "13.3 % of the 120 labelled examples."),
        (ExampleQuestion(kind=Kind.RIGHT), "86.7 % of the 120 labelled examples."),
        (ExampleQuestion("c"), None),
        (ExampleQuestion("a", "c"), None),
        (ExampleQuestion(kind=Kind.ALL), None),
        (ExampleQuestion("a", sample="7"), None),
        (ExampleQuestion(predicted="b", kind=Kind.UNLABELLED), None),
    ],
)
def test_examples_are_related_to_their_class(question: ExampleQuestion, words: str | None) -> None:
    said = sentence(MATRIX, question)

    assert (said and said.replace("\u202f", " ")) == words
