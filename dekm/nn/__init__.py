"""The networks f and g, and the training step that all deep methods share."""
