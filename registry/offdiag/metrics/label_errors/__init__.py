"""Which labels are probably wrong, and how well they are found."""
