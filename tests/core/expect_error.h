// Expecting an egc::Error of a kind whose message holds all that a user needs.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "egc/core/error.h"

namespace egc::testing {

template <class F>
void expect_error(ErrorKind kind, std::initializer_list<std::string> fragments, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(kind)) << message;
    for (const std::string& fragment : fragments)
      EXPECT_TRUE(message.find(fragment) != std::string::npos)
          << '"' << fragment << "\" in: " << message;
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

}  // namespace egc::testing
