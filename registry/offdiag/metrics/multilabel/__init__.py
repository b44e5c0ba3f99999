"""Metrics of cases that carry a set of labels each: exact, mergeable over chunks of cases."""
