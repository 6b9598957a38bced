"""The results of a suite, beside its results without a proxy."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field, replace
from pathlib import Path

TAIL = 3000
SHOWN_CHANGES = 10
# A test besides those of the suite.
WHOLE = "as a whole"


@dataclass
class Outcome:
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    # To Placement; of these, not from the proxy.
    requests: int = 0
    foreign: int = 0
    # Requests that were compared at both ends, answers too; what of them changed on the way.
    compared: int = 0
    differences: list[str] = field(default_factory=list)
    # What ended the runner.
    broken: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> "Outcome":
        told = json.loads(file.read_text())
        return cls(**told | {name: set(told[name]) for name in ("passed", "skipped")})

    def without(self, names: tuple[str, ...]) -> "Outcome":
        left = {name: text for name, text in self.failed.items() if name not in names}
        return replace(self, passed=self.passed - set(names), failed=left)

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.passed | other.passed,
            self.failed | other.failed,
            self.skipped | other.skipped,
            self.requests + other.requests,
            self.foreign + other.foreign,
            self.compared + other.compared,
            self.differences + other.differences,
            self.broken + other.broken,
        )


@dataclass
class Verdict:
    """Names of tests, and for what failed the reason."""

    passed: list[str]
    failed: dict[str, str]
    skipped: list[str]

    @property
    def good(self) -> bool:
        return bool(self.passed) and not self.failed


def judge(way: str, found: Outcome, direct: Outcome, expected: int, compared: bool) -> Verdict:
    """`expected` tests pass at least; `compared` if all requests of the suite are."""
    whole = list(found.broken)
    if len(found.passed) < max(expected, 1):
        whole.append(f"{len(found.passed)} tests passed, of {expected} that the packages have")
    if found.foreign:
        whole.append(f"{found.foreign} of {found.requests} requests did not come from {way}")
    if found.requests < len(found.passed) // 2:
        whole.append(f"{found.requests} requests for {len(found.passed)} tests")
    if compared and found.compared != found.requests:
        whole.append(f"{found.compared} of {found.requests} requests were compared")
    if found.differences:
        whole += [f"{len(found.differences)} changes on the way:", *found.differences[:SHOWN_CHANGES]]
    failed = {WHOLE: "\n".join(whole)} if whole else {}
    for name, text in sorted(found.failed.items()):
        beside = "passes direct" if name in direct.passed else "does not pass direct either"
        failed[name] = text if way == "direct" else f"{beside}, fails through {way}\n{text}"
    for name in sorted(direct.passed - found.passed - set(found.failed)):
        failed[name] = f"passes direct, did not pass through {way}"
    passed = sorted(found.passed) + ([] if whole else [WHOLE])
    return Verdict(passed, failed, sorted(found.skipped))


def report(verdicts: dict[tuple[str, str], Verdict], file: Path) -> None:
    suite = ElementTree.Element("testsuite", name="suites")
    for (name, way), verdict in verdicts.items():
        for test in (*verdict.passed, *verdict.failed, *verdict.skipped):
            case = ElementTree.SubElement(suite, "testcase", classname=f"{name}.{way}")
            case.set("name", f"{name} {way}: {test}")
            if test in verdict.failed:
                # XML takes no control characters.
                reason = verdict.failed[test]
                text = "".join(c if c.isprintable() or c == "\n" else "?" for c in reason[-TAIL:])
                ElementTree.SubElement(case, "failure", message=text.split("\n")[0]).text = text
            elif test in verdict.skipped:
                ElementTree.SubElement(case, "skipped")
    ElementTree.ElementTree(suite).write(file, encoding="utf-8")
