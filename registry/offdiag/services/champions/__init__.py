"""Champions: the best runs of a dataset, its champion and its candidate."""
