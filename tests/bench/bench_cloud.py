"""A reaper against cloudsim and a real RabbitMQ, for benchmarks that look at it from the outside:
cloudsim's own record of what was done to it, the kernel's account of the reaper's process.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 300
# What outlived a killed run would hold ports and memory.
DIES_WITH_US = ("/usr/bin/setpriv", "--pdeathsig", "KILL", "--")
CONFIG = """
cloud:
  region: {region}
  auth:
    auth_url: {auth_url}
    username: reaper
    user_domain_id: default
    password: {password}
    project_name: service
    project_domain_id: default
broker:
  urls: [{amqp}]
taggers:
  - name: project
{taggers}cull: {{promise: {promise}, max_parallel_deletions: {parallel}}}
# No server takes the freed room, and much is requested.
limits: {{victims_per_request: 0, share_per_request: 0, share_per_requester: 0}}
breaker: {{wasted: 0}}
project_breaker: {{wasted: 0, unproven: 0}}
shape_cooldown: {{wasted: 0}}
host_cooldown: 0s
pause_file: {directory}/paused
journal: {{{journal}}}
cache:
  hosts_per_second: {rate}
log:
  target: terminal
"""


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read() or b"{}")


def eventually(what, done, every=0.05, limit=PATIENCE_S):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = done()
        if value:
            return value
        time.sleep(every)
    raise SystemExit(f"bench: not within {limit} s: {what}")


def resident_kib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise SystemExit("bench: the reaper is gone")


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Cloud:
    def __init__(self, binaries, directory, description, amqp):
        config = directory / "cloud.yaml"
        config.write_text(description)
        ready = directory / "ready.json"
        started = time.monotonic()
        self.process = subprocess.Popen(
            [*DIES_WITH_US, binaries / "cloudsim", "--config", config, "--amqp", amqp, "--ready-file", ready],
            stdout=subprocess.DEVNULL,
            stderr=(directory / "cloudsim.log").open("w"),
        )
        self.place = json.loads(
            eventually("cloudsim is ready", lambda: self.alive() and ready.exists()
                       and ready.read_text())
        )
        self.start_s = time.monotonic() - started

    def alive(self):
        if self.process.poll() is not None:
            raise SystemExit(f"bench: cloudsim ended with {self.process.returncode}")
        return True

    def admin(self, path, body=None):
        return ask(f"{self.place['admin_url']}/{path}", body)

    def log(self, since, **query):
        entries, text = [], "".join(f"&{key}={value}" for key, value in query.items())
        while True:
            answer = self.admin(f"log?since={since}&limit=50000{text}")
            entries += answer["entries"]
            if answer["next"] == since or not answer["entries"]:
                return entries, answer["next"]
            since = answer["next"]

    def user_session(self):
        user = self.place["users"]["admin"]
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": {
            "name": "admin", "domain": {"id": "default"}, "password": user["password"]}}},
            "scope": {"project": {"name": "regular", "domain": {"id": "default"}}}}}
        request = urllib.request.Request(
            self.place["auth_url"] + "/auth/tokens", json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.headers["X-Subject-Token"]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


class User:
    """Asks Nova of cloudsim."""

    def __init__(self, cloud):
        self.url = cloud.place["url"] + "/compute/v2.1"
        self.headers = {
            "Content-Type": "application/json",
            "X-Auth-Token": cloud.user_session(),
            "OpenStack-API-Version": "compute 2.72",
        }
        self.image = cloud.place["image"]

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), self.headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def make_flavor(self, spots):
        """As large as so many servers of 2 VCPU, 2 GiB and 20 GB."""
        size = {"name": "wanted", "vcpus": 2 * spots, "ram": 2048 * spots, "disk": 20 * spots}
        return self.post("/flavors", {"flavor": size})["flavor"]["id"]

    def ask(self, flavor):
        wanted = {"name": "wanted", "flavorRef": flavor, "imageRef": self.image, "networks": "none"}
        self.post("/servers", {"server": wanted})


class Reaper:
    def __init__(self, binaries, directory, cloud, amqp, rate, promise="0s", parallel=8, more="",
                 first=(), taggers="", journal=""):
        config = directory / "reaper.yaml"
        config.write_text(CONFIG.format(
            region=cloud.place.get("region", "RegionOne"), auth_url=cloud.place["auth_url"],
            password=cloud.place["users"]["reaper"]["password"], amqp=amqp,
            directory=directory, rate=rate, promise=promise,
            parallel=parallel, taggers=taggers,
            journal=journal or f"path: {directory}/journal.db") + more)
        config.chmod(0o600)
        if first:
            subprocess.run([binaries / "reaper", "--config", config, *first], check=True,
                           stdout=subprocess.DEVNULL)
        self.log = directory / "reaper.log"
        self.process = subprocess.Popen(
            [binaries / "reaper", "--config", config, "run"],
            stdout=subprocess.DEVNULL, stderr=self.log.open("w"))

    def wait_for(self, words):
        def said():
            if self.process.poll() is not None:
                raise SystemExit(f"bench: the reaper ended with {self.process.returncode}: "
                                 + self.log.read_text()[-400:])
            return words in self.log.read_text()

        return eventually(f"the reaper says '{words}'", said)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)


class Figures:
    """What is printed, a line for each figure and a column for each size."""

    def __init__(self):
        self.rows = {}

    def add(self, name, value):
        self.rows.setdefault(name, []).append(value)

    def save(self, file):
        """For programs: numbers by name, one for each size."""
        numbers = {name: [float(value) for value in values] for name, values in self.rows.items()}
        file.write_text(json.dumps(numbers))

    def show(self, sizes):
        width = max(len(name) for name in self.rows) + 2
        print(f"{'':{width}}" + "".join(f"{size:>14}" for size in sizes), flush=True)
        for name, values in self.rows.items():
            print(f"{name:{width}}" + "".join(f"{value:>14}" for value in values), flush=True)


def is_delete(entry):
    return entry["kind"] == "request" and entry["user"] == "reaper" and (
        entry["method"] == "DELETE" or entry.get("action") == "forceDelete")


def wait_quiet(pid, still_s=2.0, limit=300):
    """Until the process uses less than 5 % of a core; returns its CPU seconds."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        before = cpu_s(pid)
        time.sleep(still_s)
        if cpu_s(pid) - before < 0.05 * still_s:
            return cpu_s(pid)
    raise SystemExit("bench: the reaper does not come to rest")


def with_broker() -> str | None:
    """The URL of the broker that this is run with; none if that was started just now, and this with it."""
    port = os.environ.get("REAPER_BROKER_PORT")
    if port:
        return f"amqp://reaper:p%40ss%2Fw%3Ard%25@127.0.0.1:{port}"
    return None


def run_again() -> int:
    broker = ROOT / "tests/rabbitmq/broker"
    return subprocess.run([broker, "run", sys.executable, "-B", *sys.argv]).returncode
