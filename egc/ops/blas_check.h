// A remark about a BLAS that runs far below what the processor can do.
#pragma once

namespace egc::ops {

// Once per process: warns in the log when OpenBLAS took this processor for a much older one.
void warn_of_slow_blas();

}  // namespace egc::ops
