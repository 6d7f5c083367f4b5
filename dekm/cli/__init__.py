"""The command line, ``python -m dekm``: the commands that users and the rules of the workflow run."""

import contextlib
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from dekm.errors import InputError, cut, first_line, is_out_of_memory, without_secrets
from dekm.markup import printable

INTERRUPTED = 130  # exit status of a shell's command that Ctrl-C ended: 128 + SIGINT
CLOSED_PIPE = 141  # 128 + SIGPIPE
WORKFLOW = ("jsonschema", "matplotlib", "mlflow", "openTSNE", "pandas")  # imported packages of dekm[workflow]


def main(argv: Sequence[str] | None = None, *, prog: str = "dekm") -> int:
    """Run one command and return its exit status: 0, 1 after an error, 130 after Ctrl-C, or 141.

    An error of the user, of the file system or of memory is printed as one line on standard error; 141 says
    that the reader of standard output ended. Invalid arguments end in `SystemExit` with status 2.
    """
    try:
        from dekm.cli.parser import make_parser  # here, so that Ctrl-C is one line during the imports too

        _configure_output()
        arguments = vars(make_parser(prog).parse_args(argv))
        return _run(arguments.pop("command"), arguments)
    except KeyboardInterrupt:
        _print_error("interrupted. What is complete is kept; the same command continues from there.")
        return INTERRUPTED


def _configure_output() -> None:
    """Log to standard error, and print what the locale cannot encode as escape sequences."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as Python configures standard error
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("dekm").setLevel(logging.INFO)
    logging.captureWarnings(True)
    sys.excepthook = _print_defect
    os.environ["MPLBACKEND"] = "agg"  # that of Jupyter, inherited from a cell, need not exist here


def _print_defect(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the traceback of an error of the program, as Python does, without passwords."""
    sys.stderr.write(without_secrets("".join(traceback.format_exception(kind, error, trace))))


class _Formatter(logging.Formatter):
    """Writes no passwords, and no control characters but line breaks."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(without_secrets(super().format(record)))


def _run(command: Callable[..., None], arguments: Mapping[str, Any]) -> int:
    from dekm.cli.arguments import resolve_settings

    try:
        command(**resolve_settings(arguments))
        print(end="", flush=True)  # here, so that an error of writing the output is caught
    except InputError as error:
        return _fail(str(error))
    except BrokenPipeError:
        _discard_output()
        return CLOSED_PIPE
    except OSError as error:
        if error.filename is None:
            _discard_output()
            return _fail(f"{error.strerror or error}.")
        return _fail(f"{cut(str(error.filename))}: {error.strerror}.")
    except (MemoryError, RuntimeError, ImportError) as error:
        if isinstance(error, ImportError) and error.name in WORKFLOW:
            return _fail(f"this command needs the package {error.name}: pip install 'dekm[workflow]'.")
        if not is_out_of_memory(error):
            raise
        return _fail(f"not enough memory ({first_line(error)}); finished seeds stay.")
    return 0


def _fail(text: str) -> int:
    _print_error(f"error: {text}")
    return 1


def _print_error(text: str) -> None:
    """Print one line on standard error; line breaks and other control characters are escaped."""
    line = "; ".join(part.strip() for part in text.splitlines()).replace(":; ", ": ")
    print(f"dekm: {printable(line)}", file=sys.stderr)


def _discard_output() -> None:
    """Discard what standard output still buffers, which would fail again when the interpreter exits."""
    with contextlib.suppress(AttributeError, OSError):  # there is no standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
