// What an answer means to a caller who hoped for another one, in plain words. Pure.
#pragma once

#include <string>
#include <string_view>

#include "clients/http/message.hpp"
#include "reaper/model/error.hpp"

namespace reaper::http {

/// The kind of failure that a status is.
Errc failure_kind(int status);

/// What to do about a redirect, beginning with `; `; empty for any other answer.
std::string redirect_hint(const Response& response);

/// Proxies answer in HTML: the words between the tags, of the beginning.
std::string without_tags(std::string_view body);

/// `text` with every occurrence of `secret` taken out: a server may repeat what it was sent.
std::string without(std::string text, const std::string& secret);

}  // namespace reaper::http
