"""Reading run folders without torch, also while a run is writing."""
