"""Words and phrases to avoid, each with a better one, and names that no file has to have.

A phrase is a regular expression over lower-case text in which a line break is a blank. In sources, the
words of an identifier count like those of a sentence: `who_asks` and `WhoAsks` are "who asks".
"""

AVOID = {
    r"(?:is|are|was|were|be|been|being) told": "reports, is reported, is given",
    r"nobodys?": "no client, no request, no server",
    r"somebodys?": "another client, a user, an operator",
    r"whoever": "any client that, any user who",
    r"whomever": "any client that",
    r"who asks": "the caller, the requester",
    r"anew": "again",
    r"looks? only|only looks?": "is read-only",
    r"in (?:its|his|their) hands": "in its control",
    r"of before": "previous, earlier",
    r"of now": "current",
    r"in any letters": "case-insensitive",
    r"(?:in )?small letters|capital letters": "lower case, upper case",
    r"for ever": "forever",
    r"no tests? can't": "every test must be able to fail",
    r"in vain": "for nothing, without effect",
    r"likewise": "the same, similarly",
    r"altogether": "in total",
    r"let go of|let(?:s)? go|letting go": "release",
    r"as ever": "as usual, as before",
    r"to be seen": "visible",
    r"looks? on(?! the| a| each| its| this)": "observe",
    r"looking on": "observing",
    r"tells? apart": "distinguish",
    r"told apart": "distinguished",
    r"is as none": "does not count",
    r"that is none": "invalid",
    r"makes? it right": "corrects",
    r"put right": "corrected",
    r"mend(?:s|ed|ing)?": "fix",
    r"must not go": "must not be deleted",
    r"who may (?:it be|that be)": "who has the right",
    r"who he is": "their identity",
    r"on (?:its|their) way out": "being deleted",
    r"so long(?! as)": "that long, for that time",
    r"so much later": "after that time",
    r"thereof|therein|thereby": "of it, in it",
    r"whither|whence": "where to, from where",
    r"dies? for": "is deleted for",
    r"anybodys?": "any client, any request",
    r"everybodys?": "all clients",
    r"what for": "why",
    r"to and fro": "back and forth",
    r"now and then": "sometimes",
    r"glance(?:s|d)? at": "look at",
    r"any more": "no longer",
    r"all the same": "still",
    r"as is(?=\s*[.,;:)])": "unchanged",
    r"what is there": "existing, present",
    r"what became of": "the result of",
    r"has (?:its|their) say|ha(?:s|ve) a say": "has an effect",
    r"who (?:acts|owes|waits|borrows)": "name the client, the project or the server",
    r"by (?:its|his|their) word": "according to it",
}

# Names of functions, types and variables.
AVOID_NAMES = {
    r"know ?\( ?\)": "load()",
    r"tell drift": "report_drift",
    r"in small letters": "to_lower",
    r"harmless": "for_dry_run()",
    r"never paused": "NullSwitch",
    r"meaning ?\(": "parse_enum()",
    r"(?<!\ba )(?<!\bthe )moments?": "poll_interval, now, time",
}

# Paths in documents and comments that are not in the repository, and need not be.
ELSEWHERE = (
    r"^build/",
    # The sources of Nova, Placement, kombu and openstacksdk.
    r"^(?:nova|placement|kombu|compute)/",
    r"^(?:cloud_region|loader)\.py$",
    # A file that the reader is to write.
    r"^strategies/mine\.cpp$",
)
