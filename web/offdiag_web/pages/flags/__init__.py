"""Problems and flags: lists, single ones with their evidence, and the rules."""
