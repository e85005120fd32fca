// A page of its own: one file, nothing loaded, readable in light and dark and on a phone.
#pragma once

#include <string>

namespace egc::report {

std::string escape_html(const std::string& text);

// `body` is HTML, below the title as a heading. The style sheet has the classes of the charts.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace egc::report
