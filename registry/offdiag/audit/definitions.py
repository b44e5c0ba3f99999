"""Other metrics that share a name, and what a metric becomes when the axes are swapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from offdiag.audit.reported_values import AVERAGED, CLASS_KEYS, Claim
from offdiag.domain.labels import LabelSet
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope, Symmetry, Transformation


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric by key, for a class given by its code or for the whole matrix.

    `note` names anything unusual about it, such as 0 / 0 counted as 0.
    """

    key: str
    code: int | None = None
    note: str = ""

    def name(self, labels: LabelSet | None) -> str:
        of_class = (
            f" of '{labels.names[self.code]}'"
            if labels is not None and self.code is not None
            else ""
        )
        return f"{self.key}{of_class}{f' ({self.note})' if self.note else ''}"

    def to_dict(self, labels: LabelSet | None) -> dict[str, str | None]:
        label = labels.names[self.code] if labels is not None and self.code is not None else None
        return {"metric": self.key, "label": label, "note": self.note or None}


def described(key: str) -> MetricSpec:
    """What the catalogue says about an aggregate or a class metric."""
    scope = Scope.PER_CLASS if key in CLASS_KEYS else Scope.AGGREGATE
    return CATALOGUE[scope][key]


def when_swapped(key: str) -> str | None:
    """The metric whose value `key` has once actual and predicted class trade places.

    Accuracy and F1 stay the same, precision becomes recall; None for a metric that becomes
    something without a name of its own, such as weighted precision.
    """
    symmetry = described(key).symmetry or Symmetry()
    return key if symmetry.role_swap else symmetry.becomes.get(Transformation.ROLE_SWAP)


def alternatives(claim: Claim, n_classes: int | None) -> Iterator[tuple[str, int | None]]:
    """Other definitions under which such a number may be published, the most usual first."""
    if claim.code is not None:
        yield from ((key, claim.code) for key in _namesakes(claim.key, Scope.PER_CLASS))
        if n_classes is not None:
            others = (code for code in range(n_classes) if code != claim.code)
            yield from ((claim.key, code) for code in others)
        if n_classes == 2 and claim.key in AVERAGED:
            yield from ((key, None) for key in _family(claim.key))
        return
    metric = _averaged_metric(claim.key)
    if metric is not None:
        yield from ((key, None) for key in _family(metric) if key != claim.key)
    yield from ((key, None) for key in _namesakes(claim.key, Scope.AGGREGATE))


def _namesakes(key: str, scope: Scope) -> tuple[str, ...]:
    spec = CATALOGUE[scope].get(key)
    return () if spec is None else spec.namesakes


def _averaged_metric(key: str) -> str | None:
    """ "f1" for macro_f1_harmonic, None for a key that is not an average of class values."""
    if not key.startswith(("macro_", "micro_", "weighted_")):
        return None
    return next(metric for metric in AVERAGED if f"_{metric}" in key)


def _family(metric: str) -> tuple[str, ...]:
    """All averages of one class metric."""
    harmonic = (f"macro_{metric}_harmonic", f"weighted_{metric}_harmonic")
    defined_only = (f"weighted_{metric}_defined",) if metric == "precision" else ()
    return (
        f"macro_{metric}",
        *(harmonic if metric == "f1" else ()),
        f"weighted_{metric}",
        f"micro_{metric}",
        f"macro_{metric}_defined",
        f"macro_{metric}_all_labels",
        f"macro_{metric}_strict",
        *defined_only,
    )
