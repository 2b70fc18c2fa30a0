// Matrix products for up to 512 rows of activations; see README.md.
#pragma once
#include <cstdint>
#include <cstring>

#include "ggml-cpu-impl.h"

namespace paceline {

constexpr int MAX_ROWS = 512;   // tokens in one decode; more are not asked for
constexpr int MAX_TILE = 512;   // columns that are computed together

// Limits of a mixture of experts, of which a token uses up to 32; others are left to ggml.
constexpr int MAX_USED = 32, MAX_SLOTS = MAX_USED * MAX_ROWS, MAX_EXPERTS = 1024;

// A kind of weights that there is a kernel for.
struct WeightKind {
    const char * name;
    ggml_type    type;
    bool         repacked = false;   // eight rows interleaved, as ggml's repack.cpp leaves them
    bool is_float() const { return ggml_blck_size(type) == 1; }
    int  block() const { return is_float() ? 32 : (int) ggml_blck_size(type); }   // weights that are read together
};

// Faults that the self-test has to find; see paceline_kernels.h.
enum Fault { NONE, OTHER_ORDER, LOST_BLOCK, WRONG_SCALE, OVERRUN, ONE_WIDTH, ONE_THREAD, WRONG_MINIMUM, ONE_ISA };
extern Fault planted;
constexpr int MOST_IN_ORDER = 3;   // OTHER_ORDER: so many rows at most are added as they should be
constexpr int THE_WIDTH = 7;       // ONE_WIDTH: the number of rows of which one is wrong
constexpr int THE_THREAD = 2;      // ONE_THREAD: the third

// Change a result by its last bit.
inline void spoil(float & x) { uint32_t bits; memcpy(&bits, &x, 4); bits ^= 1; memcpy(&x, &bits, 4); }

#define PACELINE_FOR_ISA(ISA)                                                                      \
    namespace ISA {                                                                                \
    /* Bytes of params->wdata that a product needs. */                                             \
    size_t matmul_work_size(const WeightKind & kind, int n_threads, const ggml_tensor * op);       \
    /* Compute a MUL_MAT or MUL_MAT_ID of this kind; called by every thread of the pool. False,    \
       for all of them: it names an expert that does not exist, nothing was done. */               \
    bool matmul(const WeightKind & kind, const ggml_compute_params * params, ggml_tensor * op);    \
    }
PACELINE_FOR_ISA(avx512)
PACELINE_FOR_ISA(avxvnni)
PACELINE_FOR_ISA(avx2)
#undef PACELINE_FOR_ISA

}  // namespace paceline
