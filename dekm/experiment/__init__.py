"""Where data, true labels, a method and the metrics meet: one cell of Table III."""
