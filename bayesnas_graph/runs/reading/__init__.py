"""What a run has left in its folder, read back without torch, also while it still writes."""
