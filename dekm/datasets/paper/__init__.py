"""The datasets of Table II and two embedded ones: one module per dataset, with its row and its loader."""
