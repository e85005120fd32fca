#include "egc/app/version.h"

#include <string_view>

#include "egc_revision.h"

namespace egc::app {

std::string version_with_revision() {
  constexpr std::string_view kRevision = EGC_REVISION;
  return kRevision.empty() ? EGC_VERSION : std::string(EGC_VERSION "+").append(kRevision);
}

}  // namespace egc::app
