"""Runs several commands of one program with a single import of it.

    fork_commands.py MODULE COMMANDS...

MODULE has a `main()` that reads sys.argv; COMMANDS is a JSON list of argument
lists that run one after the other. Several COMMANDS run side by side. Each command
runs in a fork: loading Nova takes longer than most of its management commands.
"""

import importlib
import json
import os
import sys
import traceback
from typing import Callable


def fork(work: Callable[[], object]) -> int:
    """Does the work in a child process; returns its pid."""
    sys.stdout.flush()
    child = os.fork()
    if child != 0:
        return child
    code = 1
    try:
        code = work() or 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def end_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_in_order(name: str, program: Callable[[], object], commands: list[list[str]]) -> int:
    """Runs commands until one fails; returns its exit code."""
    for command in commands:

        def run() -> object:
            sys.argv = [name, *command]
            return program()

        print(f"{name}: {' '.join(command)}", flush=True)
        code = end_of(fork(run))
        if code != 0:
            print(f"{name}: '{' '.join(command)}' ended with {code}", flush=True)
            return code
    return 0


def main() -> int:
    name = sys.argv[1]
    program = importlib.import_module(name).main
    groups = [json.loads(group) for group in sys.argv[2:]]
    children = [fork(lambda: run_in_order(name, program, group)) for group in groups]
    return max(abs(end_of(child)) for child in children)


if __name__ == "__main__":
    sys.exit(main())
