"""Metrics of samples that carry a set of labels each: exact, mergeable over chunks of samples."""
