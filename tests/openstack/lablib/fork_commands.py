"""Runs several commands of one program with a single import of it.

    fork_commands.py MODULE ARGV...

MODULE has a `main()` that reads sys.argv; each ARGV is one command, a JSON list.
Each command runs in a fork, in order; the first that fails ends the run. Loading
Nova takes longer than most of its management commands.
"""

import importlib
import json
import os
import sys
import traceback


def run(main, argv: list[str]) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sys.argv = argv
            code = main() or 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> int:
    program = importlib.import_module(sys.argv[1]).main
    for command in sys.argv[2:]:
        argv = json.loads(command)
        print(f"{sys.argv[1]}: {' '.join(argv)}", flush=True)
        code = run(program, [sys.argv[1], *argv])
        if code != 0:
            print(f"{sys.argv[1]}: '{' '.join(argv)}' ended with {code}", flush=True)
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
