"""`offdiag.advise`: which three metrics to report, and why."""

from __future__ import annotations

from offdiag.advice.recommendation import Advice, recommend
from offdiag.advice.situation import situation_of
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.sdk.cost import Evaluated
from offdiag.sdk.evaluations.evaluation import Evaluation

_OF_SCORES = "log_loss"
"""A metric that every evaluation of scores has, even if undefined."""


def advise(
    subject: object,
    *,
    goal: str = "both",
    about: object = None,
    balance_known: bool = False,
    has_scores: bool | None = None,
) -> Advice:
    """Which three metrics to report about a classifier, which not to report, and why.

    * `subject`: a run, an evaluation or a confusion matrix.
    * `goal`: which errors matter, "misses", "false_alarms" or "both", or what the scores are for,
      "ranking" or "probabilities". Default: "both".
    * `about`: the class whose errors matter. Default: all classes, with attention to the smallest.
    * `balance_known`: whether classes will be as frequent in use as in this data. If not, which is
      the default, no metric that depends on it is recommended.
    * `has_scores`: whether there are scores. Default: determined from the subject if it shows
      that.

    Raises `InvalidInput` for an unknown goal or class, a class without samples, and data with
    fewer than two classes.

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
    """The confusion matrix of the subject, and whether it has scores."""
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
