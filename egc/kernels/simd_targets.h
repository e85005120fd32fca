// The instruction sets that are compiled: AVX-512, AVX2 and plain scalar code, a megabyte each.
// Machines between the last two are more than ten years old, the AVX-512 sub-levels add nothing to
// floating-point work, and the emulated 128-bit vectors are slow to compile and to run. Include
// before Highway.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_BROKEN_EMU128 1
