"""What clang sees and g++ 12 does not: a discarded result of co_await, and what clang-tidy knows.

The sources are parsed, not compiled: the tests run what g++ makes.
"""

import json
import os
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FILE_DEADLINE_S = 900

# Must be refused; if it is not, the pass is blind.
DISCARDED = """
#include "reaper/runtime/task.hpp"
namespace reaper {
ResultTask<void> answer();
Task<void> careless();
Task<void> careless() { co_await answer(); }
}  // namespace reaper
"""
# The same, with the result looked at.
USED = """
#include "reaper/runtime/task.hpp"
namespace reaper {
ResultTask<void> answer();
Task<bool> careful();
Task<bool> careful() {
    const Result<void> done = co_await answer();
    co_return done.has_value();
}
}  // namespace reaper
"""


def entries(build: Path) -> list[dict[str, str]]:
    return json.loads((build / "compile_commands.json").read_text())


def parse_command(entry: dict[str, str], source: Path | None = None) -> list[str]:
    """The compiler's command without its output and its launcher; of another source, if given."""
    words = shlex.split(entry["command"])
    while not Path(words[0]).name.startswith("clang"):
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if skip or word == "-c":
            skip = False
        elif word == "-o":
            skip = True
        elif word == entry["file"]:
            kept.append(str(source or word))
        else:
            kept.append(word)
    return [*kept, "-fsyntax-only", "-fno-color-diagnostics"]


def said_by(command: list[str], directory: str) -> tuple[bool, str]:
    try:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, timeout=FILE_DEADLINE_S
        )
    except subprocess.TimeoutExpired:
        return False, f"{command[-1]}: not done after {FILE_DEADLINE_S} s"
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def for_all(commands: list[tuple[list[str], str]]) -> bool:
    """Runs the commands side by side, telling ninja-like how far it is."""
    good = True
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = pool.map(lambda pair: said_by(*pair), commands)
        for number, (fine, said) in enumerate(results, start=1):
            good = good and fine
            if not fine:
                print(said)
            print(f"[{number}/{len(commands)}]", flush=True)
    return good


def tidy_command(build: Path, root: Path, source: str) -> list[str]:
    rules = [f"--config-file={root / '.clang-tidy'}", "--warnings-as-errors=*"]
    if is_unity(source):  # it is made of sources
        rules.append("--checks=-bugprone-suspicious-include")
    return ["clang-tidy", "-p", str(build), *rules, "--quiet", source]


def is_unity(source: str) -> bool:
    return "/Unity/unity_" in source


def check_sight(build: Path, root: Path) -> list[str]:
    """Whether both passes refuse what they must, and only that."""
    entry = next(e for e in entries(build) if "clients_amqp.dir" in output_of(e))
    problems = []
    with tempfile.TemporaryDirectory() as directory:
        for name, text, wanted in (("discarded", DISCARDED, False), ("used", USED, True)):
            source = Path(directory) / f"{name}.cpp"
            source.write_text(text)
            command = parse_command(entry, source)
            like = {"directory": entry["directory"], "file": str(source), "arguments": command}
            Path(directory, "compile_commands.json").write_text(json.dumps([like]))
            for tool in (command, tidy_command(Path(directory), root, str(source))):
                fine, said = said_by(tool, entry["directory"])
                if fine != wanted or (not fine and "unused-result" not in said):
                    problems.append(f"{tool[0]} does not judge a {name} result as it must: {said}")
    return problems


def output_of(entry: dict[str, str]) -> str:
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1]


def is_test(entry: dict[str, str]) -> bool:
    """By the folder of its target: a unity source lies in the build's directory."""
    return output_of(entry).startswith("tests/")


def syntax(build: Path) -> bool:
    """The tests' sources: full of what bug finders must dislike."""
    return for_all([(parse_command(e), e["directory"]) for e in entries(build) if is_test(e)])


def tidy(build: Path, root: Path) -> bool:
    """The program's own sources: clang's warnings and bug finders in one pass."""
    own = [e["file"] for e in entries(build) if not is_test(e)]
    return for_all([(tidy_command(build, root, source), str(root)) for source in own])


if __name__ == "__main__":
    import sys

    what, build_dir, root_dir = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if what == "sight":
        found = check_sight(build_dir, root_dir)
        print(*found, sep="\n")
        sys.exit(1 if found else 0)
    sys.exit(0 if (syntax(build_dir) if what == "syntax" else tidy(build_dir, root_dir)) else 1)
