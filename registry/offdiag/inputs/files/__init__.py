"""Reading the columns of tables, and confusion matrices, from files."""
