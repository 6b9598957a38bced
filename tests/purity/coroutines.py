"""The house rule for g++ 12, which destroys some temporaries of a co_await expression twice: braced
ones, capturing lambdas, results of ?:. So does a capturing lambda as the coroutine of co_spawn.
At -O2 it also loses the way after a co_await in a condition. Named locals are clean.

A check of the text: it may refuse what would be harmless (?: between numbers). Name it then.
"""

import re

from checker import Tree, code_of

AWAIT = re.compile(r"\bco_await\b")
CONDITION = re.compile(r"\b(if|while|switch)\s*(constexpr\s*)?\(")
SPAWN = re.compile(r"\bco_spawn\s*\(")
BRACED = re.compile(r"[\w>]\s*\{|[(,]\s*\{")
CAPTURING = re.compile(r"[(,]\s*\[\s*[^\]\s]")
# Between literals (which are blank here) nothing is destroyed.
CHOICE = re.compile(r"\?(?!\s*[\d.]*\s*:\s*[\d.]*\s*([,)]|$))")
OPENING, CLOSING = "([{", ")]}"


def expression(code: str, start: int) -> str:
    """From `start` to the end of the expression: a `;`, a `,` or a closing bracket of its level."""
    depth = 0
    for position in range(start, len(code)):
        letter = code[position]
        if letter in OPENING:
            depth += 1
        elif letter in CLOSING:
            depth -= 1
        if depth < 0 or (depth == 0 and letter in ";,"):
            return code[start:position]
    return code[start:]


def without_lambda_bodies(text: str) -> str:
    """What a lambda's body holds is no temporary of the expression around it."""
    while match := re.search(r"\]\s*(\([^()]*\))?\s*(mutable|noexcept|->\s*[\w:<>]+|\s)*\{", text):
        depth = 0
        for position in range(match.end() - 1, len(text)):
            depth += (text[position] == "{") - (text[position] == "}")
            if depth == 0:
                break
        text = text[: match.start()] + "]lambda" + text[position + 1 :]
    return text


def problems_of_await(whole: str) -> list[str]:
    text, found = without_lambda_bodies(whole), []
    if BRACED.search(text):
        found.append("a braced temporary inside co_await: name it first")
    if CAPTURING.search(whole):
        found.append("a capturing lambda inside co_await: name it first")
    if CHOICE.search(text):
        found.append("?: inside co_await: name the result first")
    return found


def awaits_in_conditions(code: str) -> list[tuple[int, str]]:
    found = []
    for match in CONDITION.finditer(code):
        condition = expression(code, match.end())
        if code[match.end() + len(condition)] == ";":  # if (initialiser; condition)
            condition += expression(code, match.end() + len(condition) + 1)
        if AWAIT.search(without_lambda_bodies(condition)):
            found.append((match.start(), "co_await in a condition: name the result first"))
    return found


def problems_of_spawn(code: str, start: int) -> list[str]:
    """The coroutine is the second argument; the handler after it is called, not kept in a frame."""
    executor = expression(code, start)
    coroutine = expression(code, start + len(executor) + 1)
    found = []
    if CAPTURING.search(f"({coroutine.strip()}"):
        found.append("a capturing lambda as the coroutine of co_spawn: name it first")
    if BRACED.search(without_lambda_bodies(coroutine)):
        found.append("a braced temporary in the coroutine of co_spawn: name it first")
    return found


def check(tree: Tree) -> list[str]:
    problems = []
    for name in tree.files:
        code = code_of(tree.text[name])
        found = [(m.start(), p) for m in AWAIT.finditer(code) for p in problems_of_await(expression(code, m.end()))]
        found += [(m.start(), p) for m in SPAWN.finditer(code) for p in problems_of_spawn(code, m.end())]
        found += awaits_in_conditions(code)
        for place, problem in sorted(found):
            problems.append(f"{name}:{code.count(chr(10), 0, place) + 1}: {problem}")
    return problems
