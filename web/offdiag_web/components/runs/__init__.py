"""What pages of and about runs share: the frame of a run, its first sentence, rows and exports."""
