"""A user's own data: arrays, tables, texts and folders of images."""
