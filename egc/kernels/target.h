// Which instruction set the kernels run on.
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)  // the only ones of this module that users see
namespace egc::kernels {

// Names of the instruction sets that were compiled in and that this machine has, best first.
std::vector<std::string> available_targets();

// The one in use. The first call reads EGC_FORCE_TARGET.
std::string current_target();

// Forces one by name; an empty name goes back to the best. An unknown name lists the available.
void force_target(const std::string& name);

// Called by every kernel entry: makes sure that EGC_FORCE_TARGET has been read.
void apply_target_from_environment();

}  // namespace egc::kernels
#pragma GCC visibility pop
