// Numbers from text, whatever the locale. fast_float is twice as fast as the standard library, and
// some standard libraries have it for whole numbers only.
#pragma once

#ifdef EGC_HAS_FAST_FLOAT
#include <fast_float/fast_float.h>
#else
#include <charconv>
#endif

namespace egc::data {

#ifdef EGC_HAS_FAST_FLOAT
using fast_float::from_chars;
#else
using std::from_chars;
#endif

}  // namespace egc::data
