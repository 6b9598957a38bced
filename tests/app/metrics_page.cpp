#include "app/metrics_page.hpp"

#include <regex>
#include <sstream>
#include <stdexcept>

namespace reaper::test {

MetricsPage::MetricsPage(const std::string& text) {
    static const std::regex comment{"# (HELP|TYPE) ([a-z_:]+) (.+)"};
    static const std::regex sample{
        R"re(([a-z_:]+(?:\{(?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+\})?) ([-+0-9.eE]+|NaN|[-+]Inf))re"};
    if (text.empty() || text.back() != '\n') throw std::runtime_error("the last line has no end");
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        std::smatch parts;
        if (std::regex_match(line, parts, comment)) {
            auto& told = parts[1] == "HELP" ? helps : types;
            if (!told.emplace(parts[2], parts[3]).second)
                throw std::runtime_error("told twice: " + line);
        } else if (std::regex_match(line, parts, sample)) {
            if (!values.emplace(parts[1], std::stod(parts[2])).second)
                throw std::runtime_error("a series twice: " + line);
        } else {
            throw std::runtime_error("no line of a page: " + line);
        }
    }
}

double MetricsPage::operator[](const std::string& series) const {
    const auto found = values.find(series);
    return found == values.end() ? 0 : found->second;
}

double MetricsPage::sum(const std::string& name) const {
    double sum = 0;
    for (const auto& [series, value] : values)
        if (series == name || series.starts_with(name + "{")) sum += value;
    return sum;
}

std::set<std::string> MetricsPage::names() const {
    std::set<std::string> all;
    for (const auto& [name, type] : types) {
        if (type != "histogram") {
            all.insert(name);
            continue;
        }
        for (const char* const part : {"_bucket", "_count", "_sum"}) all.insert(name + part);
    }
    return all;
}

}  // namespace reaper::test
