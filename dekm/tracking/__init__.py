"""The MLflow store as a mirror of the run folders: the only package that imports MLflow."""
