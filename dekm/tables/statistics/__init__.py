"""Statistical tests of scores: no knowledge of tables or files."""
