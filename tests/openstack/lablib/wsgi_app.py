"""What uwsgi loads: an API of OpenStack, with a record of every request.

REAPER_LAB_API names the API, REAPER_LAB_APPLICATION its module and what is in it. Each
request becomes a line in DIR/log/access.jsonl, written before the client has the answer,
so that a test that has seen the effect of a request also finds it in the record. See
access_log for reading it.
"""

import importlib
import io
import json
import os
import threading
import time
import traceback

API = os.environ["REAPER_LAB_API"]
RECORD = os.open(os.environ["REAPER_LAB_ACCESS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def load():
    """The application itself, or what makes it."""
    module, _, name = os.environ["REAPER_LAB_APPLICATION"].partition(":")
    found = getattr(importlib.import_module(module), name)
    return found if name == "application" else found()


def action_of(environ) -> str | None:
    """The action in the body of a POST to .../action, such as forceDelete."""
    if environ["REQUEST_METHOD"] != "POST" or not environ.get("PATH_INFO", "").endswith("/action"):
        return None
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    try:
        return next(iter(json.loads(body)))
    except (ValueError, TypeError, StopIteration):
        return None


def user_of(environ) -> str | None:
    """Who asked: keystonemiddleware leaves the name, Keystone itself the token."""
    token = environ.get("KEYSTONE_AUTH_CONTEXT", {}).get("token")
    return environ.get("HTTP_X_USER_NAME") or (token.user["name"] if token else None)


ASKED = threading.local()


def record_rules():
    """Notes every rule of the policy that a request is held to, with the verdict."""
    from oslo_policy import policy

    enforce = policy.Enforcer.enforce

    def noting(self, rule, *arguments, **options):
        try:
            verdict = enforce(self, rule, *arguments, **options)
        except Exception:
            note(rule, False)
            raise
        note(rule, bool(verdict))
        return verdict

    def note(rule, verdict):
        rules = getattr(ASKED, "rules", None)
        if rules is not None and isinstance(rule, str):
            rules[rule] = rules.get(rule, False) or verdict

    policy.Enforcer.enforce = noting


def recorded(application):
    def wrapped(environ, start_response):
        ASKED.rules = {}
        entry = {
            "time": time.time(),
            "api": API,
            "method": environ["REQUEST_METHOD"],
            "path": environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", ""),
            "query": environ.get("QUERY_STRING", ""),
            "agent": environ.get("HTTP_USER_AGENT", ""),
            "action": action_of(environ),
        }

        def start(status, headers, *rest):
            entry.update(status=int(status.split()[0]), user=user_of(environ), rules=ASKED.rules)
            os.write(RECORD, json.dumps(entry).encode() + b"\n")
            return start_response(status, headers, *rest)

        try:
            return application(environ, start)
        except Exception:
            # As Apache does. uwsgi's router would leave the client without an answer for ten minutes.
            traceback.print_exc()
            start("500 Internal Server Error", [("Content-Type", "text/plain")])
            return [b"unhandled error"]

    return wrapped


# First of all the API, which may patch Python.
loaded = load()
record_rules()
application = recorded(loaded)
