"""K-means and the within-class scatter matrix: Equations (2) to (5)."""
