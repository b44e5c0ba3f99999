"""What is known about the data behind the published numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from offdiag.domain.labels import LabelSet


@dataclass(frozen=True)
class Facts:
    """Classes and their sizes, as far as they are known.

    `labels` None means that not even the number of classes is known. `class_counts` holds the
    actual cases of each class in label order. `positive` is the code of the class that plain
    "precision" or "recall" belongs to, if somebody said so.
    """

    labels: LabelSet | None = None
    class_counts: tuple[int, ...] | None = None
    positive: int | None = None

    @property
    def n_classes(self) -> int | None:
        return None if self.labels is None else len(self.labels)

    @cached_property
    def n_actual_classes(self) -> int | None:
        """Classes with cases; all, where the class counts are not known."""
        if self.class_counts is None:
            return self.n_classes
        return sum(count > 0 for count in self.class_counts)

    @cached_property
    def is_balanced(self) -> bool:
        """Whether all classes are known to have the same number of cases."""
        return self.class_counts is not None and len(set(self.class_counts)) == 1

    @cached_property
    def every_class_occurs(self) -> bool:
        """Whether no class is known to be without cases."""
        return self.class_counts is None or min(self.class_counts) > 0
