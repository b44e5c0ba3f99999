"""Which numbers to report about a classifier, and which not, with the reasons.

The catalogue knows of each metric what it ignores and what changes it. Advice adds what a user
knows: which errors matter, and whether the classes will be as frequent in use as they were in
the test data. Every sentence about a metric is read off its entry.
"""
