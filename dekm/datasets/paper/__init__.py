"""The datasets of Table II and the embedded ones: each row beside its loader."""
