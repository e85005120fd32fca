// How the functions of egc.h run: exceptions become a status and a sentence, pointers tensors.
#pragma once

#include <new>
#include <string>

#include "egc/core/error.h"
#include "egc/egc.h"

namespace egc::c_api {

// Keeps the sentence for egc_last_error().
egc_status fail_with(egc_status status, const char* sentence) noexcept;

// Runs f; no exception leaves.
template <class F>
egc_status call(F&& f) noexcept {
  try {
    f();
    return EGC_OK;
  } catch (const Error& e) {
    return fail_with(static_cast<egc_status>(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    return fail_with(EGC_SYSTEM_ERROR, "out of memory");
  } catch (const std::exception& e) {
    return fail_with(EGC_SYSTEM_ERROR, e.what());
  }
}

// Refuses NULL.
template <class T>
T& given(T* pointer, const char* function, const char* what) {
  check(pointer != nullptr, "{}: {} is NULL", function, what);
  return *pointer;
}

// A text that may be NULL.
inline std::string text_of(const char* text) { return text == nullptr ? "" : text; }

// A text that egc_free() frees.
char* copy_of(const std::string& text);

}  // namespace egc::c_api
