"""Takes a lab down when the process that started it ends, in any way: it may have been killed.

    guard.py DIR

Waits until its stdin ends, which only the starter holds open.
"""

import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lablib import lifecycle  # noqa: E402
from lablib.place import LabError, Place  # noqa: E402


@contextmanager
def guarded(directory: Path) -> Iterator[None]:
    """A lab that is made in `directory` meanwhile is gone afterwards, and the directory with it."""
    guard = subprocess.Popen(
        [sys.executable, "-B", __file__, str(directory)],
        stdin=subprocess.PIPE,
        start_new_session=True,  # an interrupt is for the starter
    )
    try:
        yield
    finally:
        assert guard.stdin is not None
        guard.stdin.close()
        code = guard.wait()
        assert code == 0, f"the lab in {directory} did not go down: {code}"


def main() -> int:
    directory = Path(sys.argv[1])
    sys.stdin.read()
    try:
        if Place(directory).is_lab:
            lifecycle.down(directory)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
