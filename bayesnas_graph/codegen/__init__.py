"""Programs from graphs: Python source, `.nas` text, and the trainable supernet."""
