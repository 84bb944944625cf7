"""Reports on runs as a single HTML page."""
