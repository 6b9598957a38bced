"""Who may include what: the layers of the source tree and the rules of each.

The core is pure so that every decision to delete can be tested without a cloud, a clock or luck.
Dependencies point one way, so that a layer can be read without the ones above it.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """Some folders, and the project headers that they may reach (prefixes of paths)."""

    name: str
    folders: tuple[str, ...]
    may_reach: tuple[str, ...]
    pure: bool = False


CORE = (
    "reaper/model/",
    "reaper/plugin/",
    "reaper/planner/",
    "reaper/ledger/",
    "reaper/snapshot/",
    "reaper/trigger/",
    "reaper/picture/",
    "reaper/brakes/",
    "reaper/setup/",
    "reaper/restype/",
    "reaper/usage/",
    "strategies/",
    "tagging/",
)
# The settings are plain data that everybody may read; the loader is the composition root's.
SETTINGS = ("config/settings.hpp", "config/secret.hpp")

LAYERS = (
    Layer("core", CORE, CORE, pure=True),
    Layer("config", ("config/",), CORE + ("config/",)),
    Layer("ports", ("reaper/ports/",), CORE + SETTINGS + ("reaper/ports/",)),
    Layer("report", ("reaper/report/",), CORE + SETTINGS + ("reaper/ports/", "reaper/report/")),
    Layer(
        "clients",
        ("clients/",),
        CORE + SETTINGS + ("reaper/ports/", "reaper/report/", "clients/"),
    ),
    # These work on ports only: what a client is, the composition root (reaper/cli) knows.
    Layer(
        "service",
        ("reaper/executor/", "reaper/service/"),
        CORE
        + SETTINGS
        + ("reaper/ports/", "reaper/report/", "reaper/executor/", "reaper/service/")
        # Functions from and to a message's text, and the words for what is in it.
        + ("reaper/notifications/nova_notification.hpp", "reaper/notifications/own_message.hpp"),
    ),
    # What the running daemon can be asked.
    Layer(
        "admin",
        ("reaper/admin/",),
        CORE
        + SETTINGS
        + ("reaper/ports/", "reaper/report/", "reaper/executor/", "reaper/service/", "reaper/admin/"),
    ),
)

# What no header of the pure core may bring in, however deep. Matched against the compiler's list
# of the files that a source depends on.
IMPURE_FILES = {
    "Boost.Asio": r"/boost/asio[./]",
    "Boost.Beast": r"/boost/beast[./]",
    "Boost.URL": r"/boost/url[./]",
    "Boost.Thread": r"/boost/thread[./]",
    "nlohmann/json": r"/nlohmann/",
    "Boost.JSON": r"/boost/json[./]",
    "yaml-cpp": r"/yaml-cpp/",
    "SQLite": r"/sqlite3(ext)?\.h$",
    "spdlog": r"/(spdlog|fmt)/",
    "librabbitmq": r"/(amqp[a-z_]*\.h$|rabbitmq-c/)",
    "OpenSSL": r"/openssl/",
    "libsystemd": r"/systemd/sd-",
    "CLI11": r"/CLI/",
}

# Standard headers that have no business in the core, where it includes them itself.
IMPURE_HEADERS = {
    "threads": r"^(thread|mutex|shared_mutex|condition_variable|future|stop_token|semaphore|barrier|latch)$",
    "files": r"^(fstream|filesystem|cstdio|stdio\.h|fcntl\.h|unistd\.h)$",
    "console": r"^(iostream|print)$",
    "sockets": r"^(sys/.*|netdb\.h|netinet/.*|arpa/.*)$",
    "C time": r"^(ctime|time\.h)$",
}

# Words that read a clock, the environment or chance, or that share work between threads.
IMPURE_WORDS = {
    "a clock": r"\b(system_clock|steady_clock|high_resolution_clock|utc_clock|file_clock)\s*::\s*now\b"
    r"|\b(gettimeofday|clock_gettime|timespec_get|localtime(_r)?|time)\s*\(\s*(NULL|nullptr|0|&|CLOCK)",
    "unseeded chance": r"\brandom_device\b|\b(rand|srand|random|drand48|getrandom|arc4random)\s*\(\s*\)",
    "a thread": r"\bstd\s*::\s*(jthread|thread|async|mutex|recursive_mutex|shared_mutex|this_thread)\b"
    r"|\bthread_local\b",
    "the environment": r"\b(getenv|secure_getenv|setenv)\s*\(",
    "output": r"\bstd\s*::\s*(cout|cerr|clog|cin)\b|\b(printf|puts|fprintf)\s*\(",
    "a coroutine": r"\bco_(await|return|yield)\b",
}

# Libraries with one home: others go through its words.
HOMES = {
    "yaml-cpp": (r"^yaml-cpp/", ("config/",)),
    "librabbitmq": (r"^(amqp[a-z_]*\.h|rabbitmq-c/.*)$", ("clients/amqp/",)),
    "SQLite": (r"^sqlite3\.h$", ("clients/journal/",)),
    "Beast": (r"^boost/beast", ("clients/http/", "clients/admin/")),
    "CLI11": (r"^CLI/", ("reaper/cli/",)),
    "libsystemd": (r"^systemd/", ("reaper/cli/",)),
}


def compiled(table: dict[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    return [(name, re.compile(pattern)) for name, pattern in table.items()]
