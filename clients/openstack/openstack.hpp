// OpenStack as the reaper sees it: the real Identity, Compute and Placement ports over one Keystone
// session and one HTTP client.
//
// Every call brings its token: it is fetched by the first call, renewed before it expires, and once
// more when a service answers 401. Calls that need a token at the same time share one
// authentication. Refused credentials are not sent again for a minute, then for longer: no
// account is locked because of us. Answers never lead to other addresses than the catalog's or the
// settings'.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "clients/http/client.hpp"
#include "config/settings.hpp"
#include "reaper/ports/openstack.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

/// Sends nothing yet. `bad_input` if the settings can't work (no URL, no user, a certificate that
/// can't be read). `clock` must outlive the parts and their calls. Destroy the parts before the
/// executor's context, or with it. `on_try`: see http::Options.
Result<OpenStack> connect_openstack(boost::asio::any_io_executor executor,
                                    const config::Cloud& cloud, const config::Http& http,
                                    Clock& clock, http::CallObserver on_try = {});

/// The same over a client that is there already.
Result<OpenStack> connect_over(boost::asio::any_io_executor executor, const config::Cloud& cloud,
                               std::unique_ptr<http::Client> client, Clock& clock);

/// The client's options that these settings mean.
http::Options http_options(const config::Cloud& cloud, const config::Http& http);

}  // namespace reaper
