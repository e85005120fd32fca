#include "egc/graph/batch_group.h"

namespace egc {
namespace {

BatchGroup* current = nullptr;

}  // namespace

BatchGroup* batch_group() { return current; }
void set_batch_group(BatchGroup* group) { current = group; }

}  // namespace egc
