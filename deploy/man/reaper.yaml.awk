#!/usr/bin/awk -f
# reaper.yaml(5), from the sample configuration: its comments are the documentation, so they are
# shown as they are, a section for each key of the first level.
#
#   awk -v version=0.1.0 -f reaper.yaml.awk reaper.yaml >reaper.yaml.5

function escaped(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    gsub(/'/, "\\(aq", line)
    gsub(/`/, "\\(ga", line)
    gsub(/\^/, "\\(ha", line)
    gsub(/~/, "\\(ti", line)
    return line ~ /^\./ ? "\\\\&" line : line
}

# The name of a key of the first level, commented out or not: `broker:`, `# http:`.
function key_of(line) {
    sub(/^# /, "", line)
    return match(line, /^[a-z_]+:/) ? substr(line, 1, RLENGTH - 1) : ""
}

# What was kept: prose, then the key's lines.
function write_block(    i, name) {
    for (i = 1; i <= kept && name == ""; i++) name = key_of(lines[i])
    if (name != "") print ".SS " name
    print (name != "" ? ".nf" : ".PP\n.nf")
    for (i = 1; i <= kept; i++) print escaped(lines[i])
    print ".fi"
    kept = 0
}

BEGIN {
    print ".\\\" From the sample configuration, by deploy/man/reaper.yaml.awk"
    print ".TH REAPER.YAML 5 \"\" \"reaper " version "\" \"Reaper for OpenStack\""
    print ".SH NAME\nreaper.yaml \\- configuration of the reaper"
    print ".SH SYNOPSIS\n.I /etc/reaper/reaper.yaml"
    print ".SH DESCRIPTION"
    print "A YAML file. The reaper reads it when it starts, and again when it gets SIGHUP. All mistakes"
    print "are told at once, with file and line:"
    print ".PP\n.RS 4\n.nf\nreaper config \\-\\-check\n.fi\n.RE"
    print ".PP\nThe sample follows, as it is installed: every key, with its unit and default."
    print ".SH KEYS"
}
/^$/ { if (kept) { pending = 1 } next }
{
    # A blank line ends a section, unless the next lines are indented: they belong to it.
    if (pending) {
        if ($0 ~ /^(  |#   )/) lines[++kept] = ""
        else write_block()
        pending = 0
    }
    lines[++kept] = $0
}
END {
    if (kept) write_block()
    print ".SH FILES\n.TP\n.I /etc/reaper/reaper.yaml"
    print "Read by root and the group reaper: it carries secrets, or names the files that have them."
    print ".TP\n.I /usr/share/doc/reaper/examples/reaper.yaml\nThe sample."
    print ".TP\n.I /usr/share/doc/reaper/deploy/README.md\nThe index of the manual."
    print ".SH SEE ALSO\n.BR reaper (1)"
}
