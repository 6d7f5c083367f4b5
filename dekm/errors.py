"""The error of a user's mistake: the command line prints its text and no traceback."""


class InputError(ValueError):
    """What was given cannot be used; the text names it and says what is right."""
