// Numbers from text, whatever the locale. fast_float is twice as fast as the standard library, and
// some standard libraries have it for whole numbers only.
#pragma once

#ifdef EGC_HAS_FAST_FLOAT
#include <fast_float/fast_float.h>
#else
#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>
#include <type_traits>
#endif

namespace egc::data {

#ifdef EGC_HAS_FAST_FLOAT
using fast_float::from_chars;
#else
// As fast_float has it: a number that is too small is 0, one that is too large infinite.
template <class T>
std::from_chars_result from_chars(const char* begin, const char* end, T& value) {
  const std::from_chars_result result = std::from_chars(begin, end, value);
  if constexpr (std::is_floating_point_v<T>)
    if (result.ec == std::errc::result_out_of_range) {
      const std::string text(begin, result.ptr);
      value = static_cast<T>(std::strtod(text.c_str(), nullptr));
      return {result.ptr, std::errc()};
    }
  return result;
}
#endif

}  // namespace egc::data
