"""What pages about costs share: the form of a cost matrix and the ranking of runs by cost."""
