"""Download, verification and reading of raw files."""
