"""The command line, ``python -m dekm``: the commands that users and the rules of the workflow run."""

import logging
import sys
from collections.abc import Sequence

from dekm.cli.parser import make_parser
from dekm.errors import InputError, first_line, is_out_of_memory


def main(argv: Sequence[str] | None = None, *, prog: str = "dekm") -> int:
    """Run one command.

    An `InputError`, an `OSError` or a lack of memory is printed as one line on standard error.

    Parameters
    ----------
    argv : sequence of str, optional
        Command and arguments; by default those of the process.
    prog : str
        Name of the program in its usage texts.

    Returns
    -------
    int
        Exit status: 0 on success, 1 after an error of the user.

    Raises
    ------
    SystemExit
        With status 2 if the arguments are invalid.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("dekm").setLevel(logging.INFO)
    logging.captureWarnings(True)
    arguments = vars(make_parser(prog).parse_args(argv))
    command = arguments.pop("command")
    try:
        command(**arguments)
    except InputError as error:
        print(f"dekm: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        print(f"dekm: error: {named}{error.strerror or error}.", file=sys.stderr)
        return 1
    except (MemoryError, RuntimeError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        print(f"dekm: error: not enough memory ({first_line(error)}); finished seeds stay.", file=sys.stderr)
        return 1
    return 0
