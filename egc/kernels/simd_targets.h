// The instruction sets that are compiled: AVX-512, AVX2, SSE4 and plain scalar code. SSSE3 and the
// AVX-512 sub-levels add nothing to floating-point work, and the emulated 128-bit vectors are slow
// to compile and to run. Include before Highway.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#define HWY_BROKEN_EMU128 1
