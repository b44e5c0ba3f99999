"""What the scores of a run would answer under costs, and keeping that as a run of its own."""
