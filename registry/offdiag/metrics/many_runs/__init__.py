"""Several runs on the same samples: the best ones, their spread, and methods of several runs."""
