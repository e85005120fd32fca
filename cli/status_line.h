// One line at the bottom of a terminal that is written over while something long goes on.
//
// It stands on stderr. Whatever else is written there comes after clear(): the log does so by
// itself. Nothing happens where stderr is no terminal, TERM is dumb, or NO_COLOR asks for plain
// text.
#pragma once

#include <string>
#include <vector>

#include "egc/core/progress.h"

namespace egc::cli::status_line {

// Whether show() has an effect.
bool is_possible();

// The parts that fit beside each other within 80 columns, or the terminal if it is narrower. The
// first parts matter most; they are ASCII.
void show(const std::vector<std::string>& parts);

// Shows "12 of 34 images (35 %)", a few times a second. Empty where it should be quiet.
OnProgress counts(std::string what, bool quiet);

// Takes the line away, if there is one.
void clear();

// Clears at the end of a scope, also when an error ends it.
struct Cleared {
  ~Cleared() { clear(); }
};

}  // namespace egc::cli::status_line
