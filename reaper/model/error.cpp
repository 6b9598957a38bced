#include "reaper/model/error.hpp"

namespace reaper {

std::string_view to_string(Errc code) {
    switch (code) {
        case Errc::unreachable: return "unreachable";
        case Errc::timeout: return "timeout";
        case Errc::unauthorized: return "unauthorized";
        case Errc::bad_token: return "bad token";
        case Errc::forbidden: return "forbidden";
        case Errc::not_found: return "not found";
        case Errc::conflict: return "conflict";
        case Errc::rejected: return "rejected";
        case Errc::server_error: return "server error";
        case Errc::bad_answer: return "bad answer";
        case Errc::bad_input: return "bad input";
        case Errc::tls: return "tls";
        case Errc::storage: return "storage";
        case Errc::cancelled: return "cancelled";
    }
    return "unknown";
}

bool surely_not_done(Errc code) {
    return code == Errc::forbidden || code == Errc::rejected || code == Errc::unauthorized ||
           code == Errc::bad_token || code == Errc::not_found || code == Errc::conflict ||
           code == Errc::bad_input;
}

}  // namespace reaper
