"""Raw files: fetched, verified, unpacked."""
