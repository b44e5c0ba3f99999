"""Datasets: listed, read, declared; how classes are grouped, what runs are judged by."""

from __future__ import annotations

from itertools import groupby

from offdiag.domain.cost_names import CostName
from offdiag.errors import InvalidInput
from offdiag.records.base import InProject, Project, ProjectList
from offdiag.records.dataset import (
    AskedAgain,
    Baseline,
    Dataset,
    DatasetList,
    DatasetsQuery,
    Grouping,
    Judging,
    NewDataset,
    Pinning,
    dataset_document,
    dataset_summary,
)
from offdiag.services import datasets
from offdiag.services.cost_matrices import set_default_costs
from offdiag.services.datasets import browse_dataset, set_hierarchy
from offdiag.services.ingest.dataset import declare_dataset
from offdiag.store.dataset_page import dataset_overview
from offdiag.store.run_page import read_run
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.app.context import current_registry

blueprint = resource("datasets")


@operation(blueprint, "GET", "/datasets", answers=DatasetList)
def list_datasets(query: DatasetsQuery) -> DatasetList:
    """Read all datasets with their runs counted."""
    with current_registry().database.read() as session:
        found = dataset_overview(session)
    return DatasetList(
        datasets=[
            dataset_summary(facts, logged)
            for facts, logged in found
            if query.project in {None, facts.project}
        ]
    )


@operation(blueprint, "GET", "/projects", answers=ProjectList)
def list_projects() -> ProjectList:
    """Read all projects that have datasets."""
    with current_registry().database.read() as session:
        found = dataset_overview(session)
    return ProjectList(
        projects=[
            Project(name=name, n_datasets=len(runs), n_runs=sum(runs))
            for name, group in groupby(found, key=lambda entry: entry[0].project)
            for runs in [[logged.total for _, logged in group]]
        ]
    )


@operation(blueprint, "POST", "/datasets", answers={200: Dataset, 201: Dataset})
def declare(json: NewDataset) -> tuple[Dataset, int]:
    """Declare a dataset with its classes in their order, before anything is logged on it.

    The same again finds the dataset and is answered with 200.
    """
    database = current_registry().database
    declared = declare_dataset(
        database,
        project=json.project,
        name=json.name,
        labels=json.labels,
        ordinal=json.ordinal,
        positive_label=json.positive_label,
    )
    found = browse_dataset(database, project=json.project, dataset=json.name)
    return dataset_document(found), 200 if declared.was_there else 201


@operation(blueprint, "GET", "/datasets/<name:name>", answers=Dataset)
def get_dataset(name: str, query: InProject) -> Dataset:
    """Read a dataset with its classes, its truth and its runs counted."""
    database = current_registry().database
    return dataset_document(browse_dataset(database, project=query.project, dataset=name))


@operation(blueprint, "PUT", "/datasets/<name:name>/hierarchy", answers=Dataset)
def group_classes(name: str, json: Grouping) -> Dataset:
    """Group the classes of a dataset, in place of how they were grouped; null takes groups away.

    No result changes: groups are a way to look at a matrix.
    """
    database = current_registry().database
    set_hierarchy(database, project=json.project, dataset=name, given=json.hierarchy)
    return dataset_document(browse_dataset(database, project=json.project, dataset=name))


@operation(blueprint, "PUT", "/datasets/<name:name>/cost-matrix", answers=AskedAgain)
def judge_by_costs(name: str, json: Judging) -> AskedAgain:
    """Judge the runs of a dataset by a cost matrix from now on, or by none."""
    asked = set_default_costs(
        current_registry().database,
        project=json.project,
        dataset=name,
        wanted=None if json.cost_matrix is None else CostName.parse(json.cost_matrix),
    )
    return AskedAgain(n_runs=asked)


@operation(blueprint, "GET", "/datasets/<name:name>/baseline", answers=Baseline)
def get_baseline(name: str, query: InProject) -> Baseline:
    """Read which run the others of a dataset are compared with."""
    database = current_registry().database
    found = datasets.baseline_of(database, project=query.project, dataset=name)
    if found is None:
        return Baseline(run=None, run_name=None)
    return Baseline(run=found.run_id, run_name=found.run_name)


@operation(blueprint, "PUT", "/datasets/<name:name>/baseline", answers=AskedAgain)
def pin_baseline(name: str, json: Pinning) -> AskedAgain:
    """Hold the runs of a dataset against one of them from now on, or against none."""
    database = current_registry().database
    if json.run is None:
        found = datasets.unpin_baseline(database, project=json.project, dataset=name)
        return AskedAgain(n_runs=found.n_runs)
    with database.read() as session:
        run = read_run(session, json.run).run
    if (run.project, run.dataset) != (json.project, name):
        raise InvalidInput(
            f"run {run.id} is on dataset {run.dataset!r} of project {run.project!r}.",
            field="run",
            hint="Name a run of this dataset.",
        )
    pinned = datasets.pin_baseline(database, json.run, author=author(json.author))
    return AskedAgain(n_runs=pinned.n_runs)
