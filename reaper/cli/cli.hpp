// The command line: parses, runs the command, returns the exit code. Throws nothing.
#pragma once

namespace reaper::cli {

/// The whole program. Answers go to stdout; logs and errors, one line each, to stderr.
int run(int argc, char** argv);

}  // namespace reaper::cli
