// Stands in for cut_by_metis.cpp in a build without METIS.
#include "egc/core/error.h"
#include "egc/graph/cut_by_metis.h"

namespace egc {

std::vector<int32_t> cut_by_metis(const HeteroSchema&, const HeteroGraph&, int64_t) {
  fail(ErrorKind::kUsage,
       "cannot partition with METIS: this egc was built without it; use \"egc data partition "
       "--method ranges\", or install libmetis-dev and rebuild");
}

}  // namespace egc
