// The lines that another program prints.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace egc::data {

// Starts `arguments` (no shell between), calls f for every line of its standard output. Throws
// kSystem where it cannot be started or ends with an error.
void for_each_output_line(const std::vector<std::string>& arguments,
                          const std::function<void(std::string_view)>& f);

}  // namespace egc::data
