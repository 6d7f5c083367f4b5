"""Changes that are planted in the code, each with the tests that must fail."""
