"""What a decision rule changes under costs, and saving its predictions as a run."""
