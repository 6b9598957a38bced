"""Plants one violation at a time into a clean tree and expects it to be caught, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

import checker
import coroutines

COMPILER = ["g++"]

CLEAN = {
    "reaper/model/thing.hpp": "#pragma once\n#include <chrono>\n#include <random>\n#include <string>\n"
    "// system_clock::now() in a comment and #include <thread> are words, not deeds\n"
    "struct Thing { std::chrono::system_clock::time_point at; std::mt19937_64 seeded; };\n"
    'inline std::string text() { return "std::thread, getenv(x) and // no comment"; }\n'
    "inline long big() { return 1'000'000; }\n",
    "strategies/best.cpp": '#include "reaper/model/thing.hpp"\nint best() { return 1; }\n',
    "config/settings.hpp": '#pragma once\n#include "reaper/model/thing.hpp"\n',
    "config/loader.hpp": '#pragma once\n#include "config/settings.hpp"\n#include <yaml-cpp/yaml.h>\n',
    "reaper/runtime/task.hpp": "#pragma once\n#include <boost/asio/awaitable.hpp>\n",
    "clients/http/client.cpp": '#include "reaper/runtime/task.hpp"\n#include "config/settings.hpp"\n'
    "#include <boost/beast.hpp>\n",
    "reaper/daemon/service.hpp": '#pragma once\n#include "reaper/runtime/task.hpp"\n',
    "reaper/cli/cli.cpp": '#include "config/loader.hpp"\n#include "reaper/daemon/service.hpp"\n'
    '// "SELECT 1" in a comment\nauto a = "SELECTED, or an UPDATE of the SELECT";\n',
    "clients/journal/store.cpp": 'auto a = "SELECT 1";\n',
}

# what is planted: file, text, words of the complaint
PLANTED = {
    "Asio, included": ("tagging/a.hpp", "#include <boost/asio/awaitable.hpp>\n", "Boost.Asio"),
    "Asio, through a port": ("tagging/a.cpp", '#include "reaper/runtime/task.hpp"\n', "Boost.Asio"),
    "Beast": ("reaper/planner/a.cpp", "#include <boost/beast/http.hpp>\n", "Boost.Beast"),
    "JSON": ("reaper/request_spec/a.cpp", "#include <nlohmann/json.hpp>\n", "nlohmann"),
    "YAML, by macro": ("reaper/decision/a.cpp", "#define Y <yaml-cpp/yaml.h>\n#include Y\n", "yaml-cpp"),
    "SQLite": ("reaper/rooms/a.cpp", "#include <sqlite3.h>\n", "SQLite"),
    "spdlog": ("strategies/a.cpp", "#include <spdlog/spdlog.h>\n", "spdlog"),
    "librabbitmq": ("reaper/cloud/cache/a.cpp", "#include <amqp.h>\n", "librabbitmq"),
    "a clock": ("strategies/a.cpp", "#include <chrono>\nauto a = std::chrono::steady_clock::now();\n", "a clock"),
    "C's clock": ("strategies/a.cpp", "#include <chrono>\nlong a = time(nullptr);\n", "a clock"),
    "chance": ("strategies/a.cpp", "#include <random>\nstd::random_device a;\n", "unseeded chance"),
    "a thread": ("reaper/model/a.cpp", "#include <thread>\nstd::thread a;\n", "a thread"),
    "a thread's header": ("reaper/model/a.cpp", "#include <mutex>\n", "threads"),
    "the environment": ("tagging/a.cpp", '#include <cstdlib>\nauto a = getenv("A");\n', "the environment"),
    "output": ("tagging/a.cpp", "#include <iostream>\nvoid a() { std::cout << 1; }\n", "output"),
    "YAML outside of config": ("reaper/cli/a.cpp", "#include <yaml-cpp/yaml.h>\n", "yaml-cpp (<yaml-cpp/yaml.h>) belongs in"),
    "MariaDB outside of the journal": ("clients/a.cpp", "#include <mysql.h>\n", "libmariadb (<mysql.h>) belongs in"),
    "SQLite outside of the journal": ("clients/a.cpp", "#include <sqlite3.h>\n", "SQLite (<sqlite3.h>) belongs in"),
    "a statement": ("reaper/daemon/a.cpp", 'auto a = "DELETE FROM request";\n', "SQL (DELETE FROM) belongs in"),
    "a raw statement": ("reaper/cli/a.cpp", 'auto a = R"(\n  SELECT 1)";\n', "SQL (SELECT) belongs in"),
}


# Statements of a coroutine, and what is wrong with them; None: nothing is.
COROUTINES = {
    "co_await f(Request{a, b});": "a braced temporary",
    "auto r = co_await f({a, b});": "a braced temporary",
    "co_await f([x] { return x; });": "a capturing lambda",
    "co_await f(a ? b : c);": "?: inside co_await",
    "co_await (a ? f(b) : f(c));": "?: inside co_await",
    "co_spawn(io, [x]() -> Task<void> { co_return; }(), detached);": "a capturing lambda",
    "co_spawn(io, f(Request{a}), detached);": "a braced temporary",
    "co_await f(std::move(named));": None,
    'co_await f(a == b ? "one" : "");': None,
    "if (co_await f(a)) { g(a); }": "in a condition",
    "if (!a) co_await f(b);": None,
    "if (auto a = f(); !co_await g(a)) { h(); }": "in a condition",
    "co_spawn(io, f(a), [self](std::exception_ptr error) { self->end(error); });": None,
    "co_await f(a, b[x]);": None,
    "// co_await f({a, b});": None,
    "auto result = Request{co_await f(a), 1};": None,
}


class Coroutines(unittest.TestCase):
    def test_what_the_compiler_breaks_is_refused_and_only_that(self) -> None:
        for code, words in COROUTINES.items():
            with self.subTest(code), tempfile.TemporaryDirectory() as directory:
                source = Path(directory) / "clients/a.cpp"
                source.parent.mkdir()
                source.write_text(f"Task<void> a() {{\n    {code}\n}}\n")
                found = coroutines.check(checker.Tree(Path(directory)))
                if words is None:
                    self.assertEqual(found, [])
                else:
                    self.assertTrue(found and words in found[0], found)
                    self.assertTrue(found[0].startswith("clients/a.cpp:2: "), found)


class Planted(unittest.TestCase):
    def complaints(self, extra: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for name, text in {**CLEAN, **extra}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return checker.check(root, COMPILER)

    def test_a_clean_tree_has_no_complaints(self) -> None:
        self.assertEqual(self.complaints({}), [])

    def test_each_violation_is_caught(self) -> None:
        for what, (name, text, words) in PLANTED.items():
            with self.subTest(what):
                found = self.complaints({name: text})
                self.assertTrue(any(words in line for line in found), f"not caught: {found}")
                self.assertTrue(all(line.startswith(name) for line in found), f"blamed others: {found}")

    def test_a_tree_that_the_compiler_cannot_read_is_not_called_clean(self) -> None:
        with self.assertRaises(checker.CheckFailed):
            self.complaints({"tagging/a.cpp": "#include <no/such/header.hpp>\n"})

    def test_a_tree_without_a_core_is_not_called_clean(self) -> None:
        with tempfile.TemporaryDirectory() as directory, self.assertRaises(checker.CheckFailed):
            checker.check(Path(directory), COMPILER)


def run(compiler: list[str]) -> int:
    COMPILER[:] = compiler
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    return 0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1
