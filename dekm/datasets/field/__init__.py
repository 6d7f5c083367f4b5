"""Datasets that publications on deep clustering use besides those of the paper."""
