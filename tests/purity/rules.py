"""What the core may not know, where each library has its home.

The core is pure so that every decision to delete can be tested without a cloud, a clock or luck.
Which folder may use which is the build's to say: see reaper_folder in CMakeLists.txt, and ./arrows.
"""

import re

CORE = (
    "reaper/model/",
    "reaper/rooms/",
    "reaper/safeguards/",
    "reaper/request_spec/",
    "reaper/reservations/",
    "reaper/setup/",
    "reaper/oversubscription/",
    "reaper/duties/",
    "reaper/planner/",
    "reaper/cloud/cache/",
    "reaper/decision/",
    "strategies/",
    "tagging/",
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
    "libmariadb": r"/mysql\.h$",
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
    "libmariadb": (r"^(mariadb/)?mysql\.h$", ("clients/journal/",)),
    "Beast": (r"^boost/beast", ("clients/http/", "clients/http_server/", "clients/http_proxy/")),
    "CLI11": (r"^CLI/", ("reaper/cli/",)),
    "prometheus-cpp": (r"^prometheus/", ("reaper/monitoring/",)),
    "zlib": (r"^zlib\.h$", ("reaper/recording/", "clients/amqp/")),
    "other compression": (r"^(bzlib|lzma|zstd|brotli/decode)\.h$", ("clients/amqp/",)),
    "libsystemd": (r"^systemd/", ("reaper/daemon/",)),
}

# A text that begins with one of these is a statement for a database.
SQL = re.compile(
    r'"(?:\w{0,16}\()?\s*(?P<verb>SELECT|INSERT(?: OR \w+)? INTO|UPDATE \S+ SET|DELETE FROM|ALTER TABLE|PRAGMA'
    r"|CREATE (?:TABLE|(?:UNIQUE )?INDEX|TRIGGER|DATABASE)|DROP (?:TABLE|INDEX))\s"
)
SQL_HOME = "clients/journal/"


def compiled(table: dict[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    return [(name, re.compile(pattern)) for name, pattern in table.items()]
