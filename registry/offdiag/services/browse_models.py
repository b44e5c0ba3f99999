"""What the page of a model reads: its runs in time, dataset by dataset."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from offdiag.errors import NotFound
from offdiag.filters.conditions import Attribute, AttributeField, Comparison, Operator
from offdiag.store.database import Database
from offdiag.store.run_list import run_list
from offdiag.store.run_order import RunOrder
from offdiag.store.run_rows import RunEntry

RUNS_OF_A_MODEL = 50


@dataclass(frozen=True, slots=True)
class ModelRuns:
    """A model's newest runs, oldest first, by project and dataset; `total` counts all."""

    name: str
    total: int
    by_dataset: tuple[tuple[RunEntry, ...], ...]


def browse_model(database: Database, name: str) -> ModelRuns:
    """The newest runs that were logged under a model's name. Raises `NotFound`."""
    named = Comparison(AttributeField(Attribute.MODEL), Operator.EQUAL, (name,))
    with database.read() as session:
        page = run_list(
            session,
            terms=(named,),
            dataset_id=None,
            order=RunOrder(),
            cursor=None,
            limit=RUNS_OF_A_MODEL,
        )
    if page.total == 0:
        raise NotFound(
            f"no run was logged with the model {name!r}.",
            field="model",
            hint="Names are compared letter by letter; the list of runs has them all.",
        )
    oldest_first = sorted(page.entries, key=lambda run: (run.project, run.dataset, run.created_at))
    grouped = groupby(oldest_first, key=lambda run: (run.project, run.dataset))
    return ModelRuns(name, page.total, tuple(tuple(runs) for _, runs in grouped))
