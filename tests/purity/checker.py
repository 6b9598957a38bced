"""Checks a source tree against the rules; says file, line where there is one, and what is wrong."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import rules

FOLDERS = ("reaper", "config", "clients", "strategies", "tagging")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# Comments, raw strings, strings and characters: what is not code. Digit separators are no quotes.
NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)"
      |"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE,
)
COMPILER_DEADLINE_S = 120


class CheckFailed(Exception):
    """The check itself could not be done; nothing is known about the tree."""


def sources(root: Path, folders: tuple[str, ...]) -> list[str]:
    found = (
        path.relative_to(root).as_posix()
        for folder in folders
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".cpp", ".hpp")
    )
    return list(found)


def code_of(text: str) -> str:
    """The text with everything that is not code blanked out; lines keep their numbers."""
    return NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def without_comments(text: str) -> str:
    """For includes, whose names are strings."""
    keep = lambda m: m.group() if m.group()[0] in "\"'R" else re.sub(r"[^\n]", " ", m.group())
    return NOT_CODE.sub(keep, text)


class Tree:
    """The sources of some folders, with the project headers and outside headers that each includes."""

    def __init__(self, root: Path, folders: tuple[str, ...] = FOLDERS):
        self.root = root
        self.files = sources(root, folders)
        self.text = {name: (root / name).read_text(encoding="utf-8") for name in self.files}
        self.inside: dict[str, list[tuple[str, int]]] = {}
        self.outside: dict[str, list[tuple[str, int]]] = {}
        for name in self.files:
            self._read_includes(name)

    def _read_includes(self, name: str) -> None:
        text = without_comments(self.text[name])
        self.inside[name], self.outside[name] = [], []
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            target = match.group(2)
            beside = (Path(name).parent / target).as_posix()
            if target in self.text or target.startswith(tuple(f"{f}/" for f in FOLDERS)):
                self.inside[name].append((target, line))
            elif match.group(1) == '"' and beside in self.text:
                self.inside[name].append((beside, line))
            else:
                self.outside[name].append((target, line))


def homes(tree: Tree) -> list[str]:
    """Each library is used in its home only."""
    problems = []
    for name in tree.files:
        for target, line in tree.outside[name]:
            for library, (pattern, folders) in rules.HOMES.items():
                if re.search(pattern, target) and not name.startswith(folders):
                    where = " and ".join(folders)
                    problems.append(f"{name}:{line}: {library} (<{target}>) belongs in {where}")
    return problems


def statements(tree: Tree) -> list[str]:
    """Only the journal's clients speak SQL: what they have in common then stands once."""
    problems = []
    for name in tree.files:
        if name.startswith(rules.SQL_HOME):
            continue
        text = without_comments(tree.text[name])
        for match in rules.SQL.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{name}:{line}: SQL ({match['verb']}) belongs in {rules.SQL_HOME}")
    return problems


def pure_files(tree: Tree) -> list[str]:
    return [name for name in tree.files if name.startswith(rules.CORE)]


def words(tree: Tree) -> list[str]:
    """The core's own includes and words."""
    problems = []
    headers, tokens = rules.compiled(rules.IMPURE_HEADERS), rules.compiled(rules.IMPURE_WORDS)
    for name in pure_files(tree):
        for target, line in tree.outside[name]:
            for what, pattern in headers:
                if pattern.search(target):
                    problems.append(f"{name}:{line}: the core uses {what}: <{target}>")
        code = code_of(tree.text[name])
        for what, pattern in tokens:
            for match in pattern.finditer(code):
                line = code.count("\n", 0, match.start()) + 1
                problems.append(f"{name}:{line}: the core uses {what}: {match.group()}")
    return problems


def depends_on(compiler: list[str], root: Path, name: str) -> list[str]:
    """All files that the compiler reads for a source, by its own word."""
    command = [*compiler, "-std=c++20", "-x", "c++", "-M", "-I", str(root), str(root / name)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMPILER_DEADLINE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CheckFailed(f"{compiler[0]} could not be run: {error}") from error
    if done.returncode != 0:
        first = next((li for li in done.stderr.splitlines() if "error" in li), done.stderr.strip())
        raise CheckFailed(f"{name}: the compiler can't read it: {first}")
    return [os.path.normpath(word) for word in done.stdout.replace("\\\n", " ").split()[1:]]


def dependencies(tree: Tree, compiler: list[str]) -> list[str]:
    """No file of the core depends on an impure library, however deep."""
    names, impure = pure_files(tree), rules.compiled(rules.IMPURE_FILES)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = list(pool.map(lambda name: depends_on(compiler, tree.root, name), names))
    problems = []
    for name, files in zip(names, found):
        for what, pattern in impure:
            hit = next((file for file in files if pattern.search(file)), None)
            if hit:
                problems.append(f"{name}: the core depends on {what}: {hit}")
    return problems


def check(root: Path, compiler: list[str]) -> list[str]:
    tree = Tree(root)
    if not pure_files(tree):
        raise CheckFailed(f"{root}: no source of the core found; the layout and the rules differ")
    return homes(tree) + statements(tree) + words(tree) + dependencies(tree, compiler)
