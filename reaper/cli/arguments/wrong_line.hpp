// What is wrong with a command line that CLI11 refused.
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace reaper::cli {

/// One line: the word that nobody takes and what was meant, or what is missing.
std::string why_wrong(const CLI::App& app, const CLI::ParseError& error);

}  // namespace reaper::cli
