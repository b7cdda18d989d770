// SPDX-License-Identifier: Apache-2.0
#include "apps/report/page.hpp"

#include "apps/report/page_bundle.hpp"
#include "core/check.hpp"
#include "io/timeline/atomic_file.hpp"

#include <span>

namespace orrery {
namespace {

std::string escaped(std::string const& text) {
    std::string out;
    for (char const c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
}

// Inside <script> only "</" could end it, and "<!--" could change how it is read.
std::string inside_script(nlohmann::ordered_json const& data) {
    std::string out;
    for (char const c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    }
    return out;
}

}  // namespace

void require_page_bundle() {
    ORRERY_VALIDATE(!page_bundle().empty(),
                    "orrery report makes no pages in this build (no npm, or no access to its registry, when it was "
                    "built) install npm and build again; orrery compare and orrery export work without");
}

void write_page(std::filesystem::path const& path, std::string const& title, nlohmann::ordered_json const& data) {
    require_page_bundle();
    auto const text = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n</head>\n<body>\n"
        "<main id=\"page\"><noscript>This page draws its charts with JavaScript, all of it inside this "
        "file.</noscript></main>\n"
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
        escaped(title), inside_script(data), page_bundle());
    replace_file(path, std::as_bytes(std::span(text)));
}

}  // namespace orrery
