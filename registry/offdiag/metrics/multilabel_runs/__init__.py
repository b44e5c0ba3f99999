"""Multi-label runs compared with each other, what their errors cost, and what they mix up."""
