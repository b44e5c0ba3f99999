"""What the samples of the demo look like: digits, measurements of tumours and of wines."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from offdiag.demo.experiments import Experiment
from offdiag.domain.sample_content import LoggedSamples
from offdiag.sdk.samples.log import log_samples

_LARGEST_PIXEL = 16
_MEANS = 10
"""Of thirty measurements of a tumour, ten are means; the others tell how they vary."""


def log_content(experiment: Experiment, *, url: str, project: str) -> LoggedSamples:
    """Store pictures or measurements of the test samples; a second call changes nothing."""
    images = fields = None
    if experiment.data.shape[1] == load_digits().data.shape[1]:
        images = list(load_digits().images[experiment.test] / _LARGEST_PIXEL)
    else:
        source = load_wine() if experiment.dataset == "wine cultivars" else load_breast_cancer()
        names = [str(name) for name in source.feature_names]
        shown = names if len(names) <= 2 * _MEANS else names[:_MEANS]
        fields = [
            dict(zip(shown, row, strict=False))
            for row in source.data[experiment.test].round(4).tolist()
        ]
    return log_samples(
        dataset=experiment.dataset,
        ids=experiment.test,
        images=images,
        fields=fields,
        project=project,
        url=url,
    )
