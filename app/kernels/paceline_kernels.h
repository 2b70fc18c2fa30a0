// What the rest of Paceline sees of the kernels: a few C functions, called by ctypes.
//
// Everything is switched off until `enable` is called, and is process-wide. Call `install` and
// `enable` while no decode runs on any thread; they take effect with the next decode.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#define PACELINE_API __attribute__((visibility("default")))

// Number of this interface; a library with another number is not used.
PACELINE_API int paceline_kernels_interface(void);

// The instructions that the kernels use: "avx512-vnni", "avx-vnni", "avx2", at first the best that the
// processor has, or "" where the processor or the build of ggml lacks what they need.
PACELINE_API const char * paceline_kernels_isa(void);

// For tests and measurements: use other instructions, those of products of floats excepted. Call it
// while no decode runs. 0: done; 1: the library or the processor lacks them.
PACELINE_API int paceline_kernels_use(const char * isa);

// How many kernels there are, at most 64, and the name of each: "q8_0", "q4_0-repacked",
// "attention-f16", ... A kernel's number is its bit in the masks below.
PACELINE_API int          paceline_kernels_count(void);
PACELINE_API const char * paceline_kernels_name(int kernel);

// The ggml_type whose weights (or cache) a kernel reads, whether it reads them in ggml's repacked
// layout, and which operation it computes: 0 MUL_MAT and MUL_MAT_ID, 1 FLASH_ATTN_EXT.
PACELINE_API int paceline_kernels_type(int kernel);
PACELINE_API int paceline_kernels_is_repacked(int kernel);
PACELINE_API int paceline_kernels_operation(int kernel);

// Put the kernels into the list that ggml-cpu asks before it computes a node. 0: done, now or
// earlier; 1: this processor or build cannot use them.
PACELINE_API int paceline_kernels_install(void);

// Switch on the kernels whose bits are set, all others off.
PACELINE_API void paceline_kernels_enable(uint64_t kernels);

// How many nodes a kernel has computed since the last call of this function.
PACELINE_API long paceline_kernels_calls(int kernel);

// Prove a kernel: that its rows are close to the exact result, and the same bits at widths 1 to 512,
// wherever they are cut, with one and three threads, in both layouts of a type and, products of floats
// excepted, by all instruction sets. 1: proved, or this ggml has no such weights; 0: wrong; -1: not run.
// Leaves all kernels switched off. `fault` other than 0 plants a fault in the kernel, which has to be
// found; for tests: 1 another order of adding in more than 3 rows, 2 a block left out, 3 a wrong scale,
// 4 a write beyond the end, 5 a wrong bit with 7 rows alone, 6 one in the third thread's share, 7 wrong
// minima of weights that have some, 8 a wrong bit with AVX2 alone, not of products of floats.
PACELINE_API int paceline_kernels_self_test(int kernel, int fault);

// From now on a crash (SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT) of a thread inside a kernel first
// creates this file, which holds the kernel's name, and then goes on as it would have. NULL: no longer.
PACELINE_API void paceline_kernels_mark_crashes(const char * path);

// For tests: raise this signal in the next call of any kernel. 0: do not.
PACELINE_API void paceline_kernels_raise(int signal);

#ifdef __cplusplus
}
#endif
