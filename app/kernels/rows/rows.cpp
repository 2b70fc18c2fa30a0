// The library's entry, and which instructions it uses. `draw.h` is compiled once for each set of them.
#include "rows.h"

#include <math.h>
#include <string.h>

#include <algorithm>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"   // vectors are passed within this file alone
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#define PACELINE_X86 1
#endif

namespace generic {
#define VECTOR 16
#include "draw.h"
#undef VECTOR
}

#ifdef PACELINE_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace avx2 {
#define VECTOR 32
#include "draw.h"
#undef VECTOR
}
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif
namespace avx512 {
#define VECTOR 64
#include "draw.h"
#undef VECTOR
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

namespace {

struct Isa {
    const char * name;
    decltype(&generic::draw) draw;
};

// From the best one to the one that every processor has.
const Isa ISAS[] = {
#ifdef PACELINE_X86
    {"avx512", avx512::draw}, {"avx2", avx2::draw},
#endif
    {"generic", generic::draw},
};

bool has(const char * isa) {
#ifdef PACELINE_X86
    unsigned a, b, c, d;
    unsigned saved = 0, high;   // which registers the system keeps for each thread
    if (__get_cpuid(1, &a, &b, &c, &d) && (c >> 27 & 1)) __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) b = 0;
    const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;   // F, DQ, BW, VL
    if (!strcmp(isa, "avx512")) return (b & avx512) == avx512 && (saved & 0xe6) == 0xe6;
    if (!strcmp(isa, "avx2")) return (b >> 5 & 1) && (saved & 6) == 6;
#endif
    return !strcmp(isa, "generic");
}

const Isa * best() {
    const Isa * isa = ISAS;
    while (!has(isa->name)) isa++;
    return isa;
}

const Isa * used = best();

}  // namespace

int paceline_rows_interface(void) { return 1; }

int64_t paceline_rows_request_size(void) { return sizeof(paceline_rows_request); }

const char * paceline_rows_isa(void) { return used->name; }

int paceline_rows_use(const char * name) {
    for (const Isa & isa : ISAS) {
        if (!strcmp(isa.name, name) && has(name)) {
            used = &isa;
            return 0;
        }
    }
    return 1;
}

int64_t paceline_rows_scratch(int64_t n_vocab, int32_t n_biased) { return generic::scratch_bytes(n_vocab, n_biased); }

int paceline_rows_draw(paceline_rows_request * request, float * rows, int64_t n_vocab, int64_t position, int32_t n_rows) {
    return used->draw(*request, rows, n_vocab, position, n_rows);
}
