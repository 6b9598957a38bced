#include "config/journal_url.hpp"

#include <algorithm>
#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>

#include "config/values.hpp"
#include "reaper/model/text.hpp"

namespace reaper::config {
namespace {

constexpr std::string_view url_scheme = "mysql://";
constexpr std::string_view socket_key = "unix_socket=";

Error bad_journal_url(std::string_view why) {
    return Error{Errc::bad_input, std::string{why}};
}

/// Of a user or a database: no escape is needed for what both may be called here.
bool is_plain_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == '$';
    });
}

Result<JournalUrl::Host> read_database_host(std::string_view text) {
    const auto parsed = boost::urls::parse_authority(text);
    if (text.empty() || !parsed || printable(text) != text ||
        text.find_first_of(" %@") != std::string_view::npos)
        return bad_journal_url("one of its hosts is not a name or address, with or without a port");
    JournalUrl::Host host;
    host.name = parsed->host_address();
    if (host.name.empty()) return bad_journal_url("one of its hosts has no name");
    if (!parsed->has_port()) return host;
    const std::string text_of_port = parsed->port();
    const auto port = integer_of(text_of_port);
    if (!port || *port < 1 || *port > 65535)
        return bad_journal_url("one of its ports is not a number from 1 to 65535");
    host.port = static_cast<std::uint16_t>(*port);
    return host;
}

Result<void> read_database_hosts(std::string_view text, JournalUrl& url) {
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        auto host = read_database_host(text.substr(0, end));
        if (!host) return host.error();
        url.hosts.push_back(std::move(*host));
        if (end + 1 == text.size()) return bad_journal_url("a host is missing behind a comma");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

}  // namespace

Result<JournalUrl> parse_journal_url(std::string_view text) {
    if (!text.starts_with(url_scheme)) return bad_journal_url("does not begin with mysql://");
    text.remove_prefix(url_scheme.size());
    JournalUrl url;
    if (const auto question = text.find('?'); question != std::string_view::npos) {
        std::string_view query = text.substr(question + 1);
        text = text.substr(0, question);
        if (!query.starts_with(socket_key) || query.find('&') != std::string_view::npos)
            return bad_journal_url("only unix_socket=PATH may follow its ?");
        query.remove_prefix(socket_key.size());
        if (!query.starts_with('/')) return bad_journal_url("its unix_socket is no absolute path");
        url.socket = query;
    }
    const auto at = text.rfind('@');
    if (at == std::string_view::npos) return bad_journal_url("names no user");
    const std::string_view user = text.substr(0, at);
    if (user.find(':') != std::string_view::npos)
        return bad_journal_url("has a password in it: write it to a file, for password_file");
    if (!is_plain_name(user)) return bad_journal_url("its user is not of letters, digits, _ - . $");
    url.user = user;
    text.remove_prefix(at + 1);
    const auto slash = text.find('/');
    const std::string_view database =
        slash == std::string_view::npos ? std::string_view{} : text.substr(slash + 1);
    if (!is_plain_name(database))
        return bad_journal_url("names no database, of letters, digits, _ - . $");
    url.database = database;
    if (const auto read = read_database_hosts(text.substr(0, slash), url); !read)
        return read.error();
    if (url.hosts.empty() == url.socket.empty())
        return bad_journal_url("needs hosts, or a unix_socket, and not both");
    return url;
}

}  // namespace reaper::config
