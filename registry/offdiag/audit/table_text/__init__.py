"""Reading tables as papers print them: text in, numbers with a meaning out.

Text that was copied from a paper, a web page or a terminal is parted into cells, its heads are
recognised as metrics, averages, classes or models, and every number gets its meaning from the
heads above and beside it. Whatever was understood can be looked at and corrected; what was not
is listed instead of guessed.

All of it is pure. The text is anybody's, so its length is bounded and every pattern is matched
in linear time.
"""
