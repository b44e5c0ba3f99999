"""`offdiag.advise`: which three numbers to report, and why."""

from __future__ import annotations

from offdiag.advice.recommendation import Advice, recommend
from offdiag.advice.situation import situation_of
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.sdk.cost import Evaluated
from offdiag.sdk.evaluations.evaluation import Evaluation

_OF_SCORES = "log_loss"
"""Every evaluation of scores has it, undefined or not."""


def advise(
    subject: object,
    *,
    goal: str = "both",
    about: object = None,
    balance_known: bool = False,
    has_scores: bool | None = None,
) -> Advice:
    """Which three numbers to report about a classifier, which not, and the reasons.

    `subject` is a run, an evaluation or a confusion matrix. `goal` says which errors matter:
    "misses", "false_alarms" or "both", or what the scores are for: "ranking" or
    "probabilities". `about` is the class whose errors matter; without it all matter, and the
    smallest is watched. `balance_known` says that the classes will be as frequent in use as
    they are in this data; otherwise no metric that depends on it is recommended. `has_scores`
    is found out where the subject can tell.

    Raises `InvalidInput` for an unknown goal or class, a class without samples, and data in
    which fewer than two classes occur.

    >>> advice = advise(evaluate_matrix([[970, 20], [2, 8]], orientation="actual_rows"),
    ...                 goal="misses", about=1)  # doctest: +SKIP
    >>> [counsel.name for counsel in advice.report]  # doctest: +SKIP
    ['recall[1]', 'specificity[1]', 'informedness[1]']
    """
    matrix, scored = _matrix(subject)
    return recommend(
        situation_of(
            matrix,
            goal=goal,
            about=about,
            balance_known=balance_known,
            has_scores=scored if has_scores is None else has_scores,
        )
    )


def _matrix(subject: object) -> tuple[ConfusionMatrix, bool]:
    """The matrix of what was handed in, and whether it has scores."""
    if isinstance(subject, Evaluated):
        subject = subject.evaluation()
    if isinstance(subject, Evaluation):
        return subject.matrix, _OF_SCORES in subject.aggregate
    if isinstance(subject, ConfusionMatrix):
        return subject, False
    raise InvalidInput(
        f"{type(subject).__name__} is not an evaluation.",
        field="subject",
        hint="Give a run, an evaluation, or a confusion matrix.",
    )
