"""Commands about ground truth and what samples look like."""
