"""Parts of pages about costs: the form of a cost matrix and the ranking of runs by cost."""
