"""One suite, or a shard of it, in this process: Placement, a proxy before it, and the tests.

    worker.py SUITE --through WAY --folder DIR [--shard 1/2] [--names NAME...]

Writes the result of each test into DIR/outcome.json.
"""

import argparse
import json
import sys
import time
import unittest
from pathlib import Path
from typing import Any, Iterator


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("--through", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--names", nargs="*", help="instead of all of it")
    return parser.parse_args()


class Result(unittest.TextTestResult):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.passed: list[str] = []
        self._began = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        self._began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        took = time.monotonic() - self._began
        print(f" {took:.1f} s {test.id()}", file=sys.stderr, flush=True)
        super().stopTest(test)

    def addSuccess(self, test: unittest.TestCase, *_: Any) -> None:
        super().addSuccess(test)
        self.passed.append(test.id())


def tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def shard_of(suite: unittest.TestSuite, shard: str) -> unittest.TestSuite:
    """Every n-th test."""
    number, of = map(int, shard.split("/"))
    if of == 1:
        return suite  # as it is: its parts may have fixtures of their own
    return unittest.TestSuite(list(tests_of(suite))[number - 1 :: of])


def main() -> int:
    options = parse()
    if options.suite.startswith("nova"):
        # Its green threads replace the standard library's: before anything else is imported.
        import nova.monkey_patch  # noqa: F401

    import proxies
    from placement_server import PlacementServer
    from suites import SUITES
    from witness import Witness

    suite = SUITES[options.suite]
    server = PlacementServer()
    proxy = proxies.make(options.through, options.folder)
    port = proxy.start(server.port)
    try:
        server.client_pid = proxy.pid
        server.witness = witness = Witness(port)
        names = options.names or list(suite.names)
        tests = shard_of(suite.load(server, port, names, options.folder), options.shard)
        if suite.compared:
            witness.watch()
        runner = unittest.TextTestRunner(sys.stderr, resultclass=Result)
        result = runner.run(tests)
    finally:
        wrong = proxy.stop()
    assert isinstance(result, Result)
    outcome = {
        "passed": result.passed,
        "failed": {test.id(): text for test, text in result.failures + result.errors},
        "skipped": [test.id() for test, _ in result.skipped],
        "requests": server.requests,
        "foreign": server.foreign,
        "compared": witness.compared,
        "differences": witness.differences,
        "broken": [wrong] if wrong else [],
    }
    (options.folder / "outcome.json").write_text(json.dumps(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main())
