// What the configuration takes for a URL, and what the HTTP client can take apart: the same.
#include <gtest/gtest.h>

#include "config/values.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::test::urls_test {
namespace {

TEST(Urls, TheConfigurationTakesWhatTheClientTakesAndNoMore) {
    const std::string good[]{"http://nova",
                             "https://nova.example:8774/v2.1",
                             "HTTPS://Nova.Example/",
                             "http://[::1]:8080/x",
                             "http://10.0.0.1:1/",
                             "http://h:65535?x=1",
                             "http://h/%20/a;b?q=%00",
                             "http://h:/x",
                             "http://h)x"};
    const std::string bad[]{"",
                            "nova",
                            "//nova",
                            "ftp://nova",
                            "httpx://nova",
                            "http:/nova",
                            "http://",
                            "http:///x",
                            "http://:80",
                            "http://h:0",
                            "http://h:65536",
                            "http://h:80x",
                            "http://h:+80",
                            "http://h:80)x",
                            "http://u@h",
                            "http://u:p@h/",
                            "http://@h",
                            "http://h/#f",
                            "http://h#",
                            "http://h /x",
                            "http://h/a b",
                            "http://h\n/x",
                            "http://h\t",
                            "http://%0a/x",
                            "http://a%20b/",
                            "http://h/%",
                            "http://[::1",
                            "http://h\x7f",
                            "http://\xc3\xa4/",
                            std::string{"http://h\0/", 10}};
    const auto both = [](const std::string& url, bool fits) {
        EXPECT_EQ(!config::url_problem(url, {"http", "https"}).has_value(), fits) << url;
        EXPECT_EQ(http::parse_url(url).has_value(), fits) << url;
    };
    for (const std::string& url : good) both(url, true);
    for (const std::string& url : bad) both(url, false);
}

TEST(Urls, EachCharacterIsJudgedAlikeWhereverItStands) {
    for (const std::string whole : {"http://host:80/path?q=1", "https://[::1]:8774/"})
        for (std::size_t at = 0; at <= whole.size(); ++at)
            for (int c = 0; c < 256; ++c) {
                std::string url = whole;
                url.insert(at, 1, static_cast<char>(c));
                EXPECT_EQ(!config::url_problem(url, {"http", "https"}).has_value(),
                          http::parse_url(url).has_value())
                    << url << " (" << c << " at " << at << ")";
            }
}

}  // namespace
}  // namespace reaper::test::urls_test
