// A page of its own: one file, nothing loaded, readable in light and dark and on a phone.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace egc::report {

std::string escape_html(const std::string& text);

// Names and values: "test MAE", "0.2810".
using Facts = std::vector<std::pair<std::string, std::string>>;
// A card for each.
std::string cards(const Facts& facts);

// `body` is HTML, below the title as a heading. The style sheet has the classes of the charts.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace egc::report
