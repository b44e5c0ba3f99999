"""Reading tables as papers print them: text in, numbers with a meaning out.

Text copied from a paper, a web page or a terminal is split into cells, its headers are
recognised as metrics, averages, classes or models, and every number gets its meaning from the
headers above and beside it. The result can be inspected and corrected; whatever was not
understood is listed instead of guessed.

All functions are pure. The text may come from anybody, so its length is bounded and every pattern
is matched in linear time.
"""
