// A compared table for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "egc/reproduce/comparison.h"

namespace egc::reproduce {

std::string to_text(const Table& table, const std::vector<TableBlock>& groups);
std::string to_markdown(const Table& table, const std::vector<TableBlock>& groups);
// One line for each cell and figure.
std::string to_json_lines(const Table& table, const std::vector<TableBlock>& groups);

// A page with the tables and their pictures. `scores`: the compared main table, for accuracy
// against memory; empty: without it.
std::string to_html(const Table& table, const std::vector<TableBlock>& groups,
                    const std::vector<TableBlock>& scores);

}  // namespace egc::reproduce
