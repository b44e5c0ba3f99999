"""Which metrics to report for a classifier and which not, with the reasons.

The catalogue says what each metric depends on. Advice adds what the user knows: which errors
matter, and whether the classes will be as frequent in production as in the test data. Every
sentence about a metric comes from its entry.
"""
