"""The first page of a run: its confusion matrix, of classes or of sets of labels."""
