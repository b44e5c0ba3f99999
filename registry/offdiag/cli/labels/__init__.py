"""Commands about ground truth and the content of samples."""
