"""What is read from files: the columns of tables, and confusion matrices."""
