"""Ground truth after logging: corrections, versions, and the effect of corrections on runs."""
