#include "egc/models/fit_width.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "egc/core/error.h"
#include "egc/models/network.h"
#include "egc/nn/conv.h"
#include "egc/nn/conv_table.h"

namespace egc::models {
namespace {

// Of the network of that width; nothing where there is none.
std::optional<int64_t> count(ModelConfig& config, int64_t width) {
  config.hidden = width;
  try {
    check_config(config);
    return make_network(config)->num_parameters();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kUsage) throw;
    return std::nullopt;
  }
}

// The least width all of whose larger multiples there are too. Layers know what they allow; nobody
// else needs to.
int64_t step_of(ModelConfig& config) {
  constexpr int64_t kMax = 1024;
  // Less is too narrow, whatever the step: without an encoder the outputs are columns of the last
  // layer, and a head halves the width.
  const int64_t least =
      config.encoder == Encoder::kNone ? config.outputs : int64_t{1} << (config.head_layers - 1);
  for (int64_t step = 1; step <= kMax; ++step) {
    const int64_t first = std::max<int64_t>(7, least / step + 1);
    bool all = true;
    for (const int64_t more : {0, 1, 2, 4, 6}) all = all && count(config, (first + more) * step);
    if (all) return step;
  }
  count(config, kMax);
  make_network(config);  // tells why there is none
  fail(ErrorKind::kUsage, "no width of the network was found up to {}", kMax);
}

}  // namespace

int64_t fit_width(ModelConfig config, int64_t parameters) {
  constexpr int64_t kMax = int64_t{1} << 33;  // networks are made to be counted
  check(parameters >= 1 && parameters <= kMax, "--parameters must be from 1 to {}, got {}", kMax,
        parameters);
  if (nn::layer_descriptor(config.model).takes("mean_log_degree") && !config.mean_log_degree)
    config.mean_log_degree = 1;  // changes no size
  const int64_t step = step_of(config);
  const auto size = [&](int64_t steps) { return count(config, steps * step); };
  // Counts rise with the width: the largest number of steps that is not above, then the nearer of
  // it and the next.
  int64_t low = 0;
  int64_t high = 1;
  for (int64_t before = 0;;) {
    const auto here = size(high);
    const bool too_narrow = !here && before == 0;
    check(too_narrow ? high * step < nn::kMaxChannels : here && *here > before,
          "--parameters {} cannot be reached; the largest network tried has {}", parameters,
          before);
    if (here && *here > parameters) break;
    before = here.value_or(0);
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (size(middle).value_or(0) <= parameters ? low : high) = middle;
  }
  const int64_t above = size(high).value_or(0) - parameters;
  const auto below = low > 0 ? size(low) : std::nullopt;
  if (below && parameters - *below <= above) return low * step;
  check(above <= parameters,
        "the smallest network, of width {}, has {} parameters; --parameters {} is too few",
        high * step, above + parameters, parameters);
  return high * step;
}

}  // namespace egc::models
