"""The networks f and g, their pretraining, and the training step of all deep methods."""
