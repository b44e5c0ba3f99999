"""Suspect labels as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.domain.labels import label_text
from offdiag.domain.sample_content import SuspectQuestion
from offdiag.domain.texts import name_segment
from offdiag.errors import Conflict
from offdiag.extras import optional
from offdiag.records.datasets.label_errors import MOST_SUSPECTS, Noise, NoiseQuery, noise_document
from offdiag.sdk.target import target

if TYPE_CHECKING:
    import pandas as pd

    from offdiag.store.database import Database


def suspect_labels(
    *,
    dataset: str,
    label: object = None,
    at_least: int = 1,
    limit: int = MOST_SUSPECTS,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """The labels of a dataset that independent models contradict, most suspect first.

    Over all runs, one of each model and value of its parameter `features` votes: with its
    probabilities, by confident learning (Northcutt et al. 2021), else with its predicted class.
    Runs with the tag or parameter `split=train` have no vote, for a model has often learned
    the wrong labels it was trained on. `label` and `at_least` narrow to labels of a class and
    to so many models that contradict.

    Columns are `sample`, `label`, `suggested`, `score` (mean margin of the suggested class over
    the label, from -1 to 1), `against`, `n_models` and `reason`. `frame.attrs` has `models`,
    `n_suspect`, `n_labelled` and `planted`: how many of labels that were made wrong on purpose
    rank among the first 5 %.

    Raises `NotFound` for an unknown dataset, and `Conflict` where no model has a vote.
    """
    with optional:
        import pandas as pd

    at = target(url)
    question = SuspectQuestion(
        None if label is None else label_text(label, field_name="label"), at_least, 0, limit
    )
    found = at.suspects(project if project is not None else at.project, dataset, question)
    if found["missing"] is not None:
        raise Conflict(found["missing"], field="dataset", hint="Log runs with y_score=.")
    columns = ("sample", "label", "suggested", "score", "against", "reason")
    frame = pd.DataFrame([{name: each[name] for name in columns} for each in found["suspects"]])
    frame = frame.reindex(columns=list(columns))
    frame.insert(5, "n_models", len(found["models"]))
    frame.attrs = {name: found[name] for name in ("models", "n_suspect", "n_labelled", "planted")}
    return frame


def label_noise(
    *,
    dataset: str,
    share: float = 0.03,
    project: str | None = None,
    url: str | None = None,
) -> pd.DataFrame:
    """How much wrong labels matter: one row for the best run of each model.

    Columns are `model`, `run`, `accuracy`, `low` and `high` (bounds of accuracy under the noise
    matrix of confident learning, None where it cannot be estimated), `any_low` and `any_high`
    (under any wrong labels up to `share`), and `rank_low` and `rank_high`. `frame.attrs` has
    `estimated`, `missing`, `method`, `pairs` ("A leads B under any noise up to 3 %") and, for
    each model, the bounds of its `recalls`.

    Raises `NotFound`, `InvalidInput` for a share outside 0 to 0.5, and `Conflict` where no model
    has a vote.
    """
    with optional:
        import pandas as pd

    at = target(url)
    place = project if project is not None else at.project

    def stored(database: Database) -> Noise:
        from offdiag.services.samples.noise import label_noise as compute

        return noise_document(compute(database, project=place, dataset=dataset, share=share))

    query = NoiseQuery.asked(project=place, share=share)
    path = f"/datasets/{name_segment(dataset)}/noise"
    found = at.document("GET", path, query, Noise, stored)
    if not found.models:
        raise Conflict(
            found.missing or "no model has a vote", field="dataset", hint="Log runs of models."
        )
    plain = found.plain()
    recalls = {each["model"]: each.pop("recalls") for each in plain["models"]}
    frame = pd.DataFrame(plain["models"])
    frame.attrs = {name: plain[name] for name in ("estimated", "missing", "method", "pairs")}
    frame.attrs["recalls"] = recalls
    return frame
