"""Can these published numbers be true? Identities, bounds and whole-number feasibility.

A table of metrics describes one confusion matrix, so its numbers are not free: some are equal
by definition, some bound each other, and with known class sizes each must come from whole
numbers of samples. Impossible numbers are errors of printing, of definition or of orientation,
and often the audit can say which.
"""
