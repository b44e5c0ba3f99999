"""Datasets, their default costs and baseline, and the content of their samples."""

from __future__ import annotations

from itertools import groupby

from flask import Response, request

from offdiag.domain.access import Role
from offdiag.errors import InvalidInput
from offdiag.inputs.content.given_samples import sample_name
from offdiag.records.base import InProject, Project, ProjectList
from offdiag.records.datasets.dataset import (
    AskedAgain,
    Baseline,
    Dataset,
    DatasetList,
    DatasetsQuery,
    DeclaredDataset,
    Grouping,
    Judging,
    NewDataset,
    Pinning,
    asked_baseline,
    asked_dataset,
    asked_datasets,
    asked_judging,
)
from offdiag.records.datasets.label_errors import (
    Noise,
    NoiseQuery,
    Suspects,
    SuspectsQuery,
    asked_noise,
    asked_suspects,
)
from offdiag.records.datasets.sample import (
    Content,
    ContentShown,
    ImageQuery,
    NamedSamples,
    SamplePage,
    SamplesQuery,
    SamplesRemoved,
    SamplesStored,
    SampleUploads,
    asked_content,
    places_in,
    uploaded,
)
from offdiag.services import datasets
from offdiag.services.datasets import set_hierarchy
from offdiag.services.ingest.dataset import declare_dataset
from offdiag.services.samples import content
from offdiag.store.dataset_page import dataset_overview
from offdiag.store.run_page import read_run
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.api.requests import read_token, write_token
from offdiag_web.app.context import current_registry, kept_suspects, requires
from offdiag_web.components.samples import picture_response

blueprint = resource("datasets")


@operation(blueprint, "GET", "/datasets")
def list_datasets(query: DatasetsQuery) -> DatasetList:
    """Read all datasets with their numbers of runs."""
    return asked_datasets(current_registry().database, query)


@operation(blueprint, "GET", "/projects")
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


@operation(blueprint, "POST", "/datasets", statuses=(200, 201))
def declare(json: NewDataset) -> tuple[DeclaredDataset, int]:
    """Create a dataset with its classes in order, before anything is logged on it. Repeating the
    request returns the dataset with status 200.
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
    found = asked_dataset(database, json.project, json.name)
    answer = DeclaredDataset.made_of(found, notices=list(declared.dataset.notes))
    return answer, 200 if declared.was_there else 201


@operation(blueprint, "GET", "/datasets/<name:name>")
def get_dataset(name: str, query: InProject) -> Dataset:
    """Read a dataset with its classes, its ground truth and its number of runs."""
    return asked_dataset(current_registry().database, query.project, name)


@operation(blueprint, "PUT", "/datasets/<name:name>/hierarchy")
def group_classes(name: str, json: Grouping) -> Dataset:
    """Replace the class groups of a dataset; null removes them. Results do not change: groups only
    change how a matrix is shown.
    """
    database = current_registry().database
    set_hierarchy(database, project=json.project, dataset=name, given=json.hierarchy)
    return asked_dataset(database, json.project, name)


@operation(blueprint, "PUT", "/datasets/<name:name>/cost-matrix")
def judge_by_costs(name: str, json: Judging) -> AskedAgain:
    """Set or remove the default cost matrix of a dataset."""
    return asked_judging(current_registry().database, name, json)


@operation(blueprint, "GET", "/datasets/<name:name>/baseline")
def get_baseline(name: str, query: InProject) -> Baseline:
    """Read which run is the baseline of a dataset."""
    return asked_baseline(current_registry().database, query.project, name)


@operation(blueprint, "PUT", "/datasets/<name:name>/baseline")
def pin_baseline(name: str, json: Pinning) -> AskedAgain:
    """Set or remove the baseline of a dataset."""
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


_SAMPLES = "/datasets/<name:name>/samples"
_LARGEST_UPLOAD = 24 << 20


@operation(blueprint, "POST", _SAMPLES, most_bytes=_LARGEST_UPLOAD)
@requires(Role.LOGGER)
def store_samples(name: str, json: SampleUploads) -> SamplesStored:
    """Store images, texts, fields and audio links of samples, once for all runs of a dataset.

    Images are decoded and re-encoded in up to two sizes. Repeating a request changes nothing.
    """
    found = content.log_samples(
        current_registry().database,
        project=json.project,
        dataset=name,
        given=uploaded(json),
        hosts=current_registry().content_hosts,
        most_bytes=current_registry().settings.server.most_content_bytes,
    )
    return SamplesStored.made_of(found)


@operation(blueprint, "GET", _SAMPLES)
def list_samples(name: str, query: SamplesQuery) -> SamplePage:
    """Read the samples of a dataset that have content, without their images."""
    database = current_registry().database
    token = read_token(query.page_token)
    found = content.list_content(
        database,
        project=query.project,
        dataset=name,
        after="" if token is None else str(token[0]),
        limit=query.limit + 1,
    )
    shown = found[: query.limit]
    totals = content.browse_content(database, project=query.project, dataset=name).totals
    after = [shown[-1].sample] if len(found) > len(shown) else None
    return SamplePage.made_of(
        totals, dataset=name, samples=shown, next_page_token=write_token(after)
    )


@operation(blueprint, "GET", f"{_SAMPLES}/image", files=("image/png", "image/jpeg"))
def get_sample_image(name: str, query: ImageQuery) -> Response:
    """Read the stored image of a sample, as offdiag encoded it."""
    found = content.picture(
        current_registry().database,
        project=query.project,
        dataset=name,
        sample=query.sample,
        is_large=query.size == "image",
    )
    return picture_response(found, request)


@operation(blueprint, "POST", f"{_SAMPLES}/remove")
def remove_samples(name: str, json: NamedSamples) -> SamplesRemoved:
    """Remove the stored content of some or all samples; predictions and labels stay."""
    removed = content.remove_samples(
        current_registry().database,
        project=json.project,
        dataset=name,
        names=None if json.samples is None else [sample_name(each) for each in json.samples],
    )
    return SamplesRemoved(n_removed=removed)


@operation(blueprint, "GET", "/datasets/<name:name>/suspects")
def list_suspects(name: str, query: SuspectsQuery) -> Suspects:
    """Read which labels independent models contradict, most suspect first."""
    return asked_suspects(current_registry().database, name, query, kept_suspects())


@operation(blueprint, "GET", "/datasets/<name:name>/noise")
def get_label_noise(name: str, query: NoiseQuery) -> Noise:
    """Read how much wrong labels matter: ranges of accuracy, recall and rank of models."""
    return asked_noise(current_registry().database, name, query, kept_suspects())


@operation(blueprint, "GET", "/datasets/<name:name>/content")
def get_content(name: str, query: InProject) -> ContentShown:
    """Read the addresses of the content of a dataset."""
    return asked_content(current_registry().database, query.project, name)


@operation(blueprint, "PUT", "/datasets/<name:name>/content")
def set_content(name: str, json: Content) -> ContentShown:
    """Set the addresses of images and links of samples, on allowed hosts."""
    places = content.set_places(
        current_registry().database,
        project=json.project,
        dataset=name,
        places=places_in(json),
        hosts=current_registry().content_hosts,
    )
    return ContentShown.made_of(places)
