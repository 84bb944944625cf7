"""Which siblings a run computes together: timed on its device, or by a table."""
