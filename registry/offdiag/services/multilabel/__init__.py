"""What only multi-label runs are asked."""
