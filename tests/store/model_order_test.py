"""In which order pages give models their colours."""

from __future__ import annotations

from offdiag.services.retention.deletion import delete_run
from offdiag.store.database import Database
from offdiag.store.model_order import models_by_first_run
from offdiag.store.models import DatasetRow
from support.dashboard import log_counts


def test_models_stand_in_the_order_of_their_first_runs(database: Database) -> None:
    counts = ((2, 1), (1, 2))
    ids = [
        log_counts(database, counts, ("a", "b"), name=f"run {at}", evaluated=False, model=model)
        for at, model in enumerate(["z", None, "a", "z", "m"])
    ]
    delete_run(database, ids[4], by=None)

    with database.read() as session:
        dataset_id = session.query(DatasetRow.id).scalar()
        assert models_by_first_run(session, [dataset_id]) == {dataset_id: ("z", None, "a")}
        assert models_by_first_run(session, []) == {}
