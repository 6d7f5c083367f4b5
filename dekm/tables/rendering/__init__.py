"""Tables as text: the grid of cells, and its forms in Markdown, LaTeX and HTML."""
