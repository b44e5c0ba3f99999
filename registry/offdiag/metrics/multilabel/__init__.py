"""Metrics of samples that each carry a set of labels: exact, and mergeable over chunks."""
