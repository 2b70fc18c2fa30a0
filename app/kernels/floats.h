// Products of unquantised weights, in the order in which ggml-cpu adds for one row: that row is left
// to ggml, and the others come out as it computes them one by one.
#pragma once
#include "activations.h"

namespace paceline::PACELINE_ISA {

constexpr int GROUP = 2 * ROWS;   // rows that are computed together

// A group of weight rows; rows beyond the matrix repeat its last one.
struct Group {
    const char * row[GROUP];
    int64_t      first;     // row of the matrix
    int          n_rows;    // that exist
    int64_t      k;         // weights of a row
    const char * ahead;     // the next group, or nullptr at the end: it is asked for meanwhile
};

#if defined(__AVX512VNNI__)
INLINE Floats load_bf16(const char * p) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *) p)), 16)); }
INLINE float all_of(Floats x) { return _mm512_reduce_add_ps(x); }
#else
INLINE Floats load_bf16(const char * p) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *) p)), 16)); }
INLINE float all_of(Floats x) {   // GGML_F32x8_REDUCE: halves, then neighbours
    const __m128 t = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 u = _mm_hadd_ps(t, t);
    return _mm_cvtss_f32(_mm_hadd_ps(u, u));
}
#endif

INLINE __m128 halves_of_4(__m128 x) { x = _mm_add_ps(x, _mm_movehl_ps(x, x)); return _mm_add_ss(x, _mm_movehdup_ps(x)); }

// Four sums, each of every fourth register, added up as ggml does (GGML_F32_VEC_REDUCE in
// simd-mappings.h; ggml_vec_dot_bf16 in vec.cpp has two).
// SUMS: how many sums there are; BYTES of a value of weights and of activations; VALUES of a register.
INLINE float total_of_4(const Floats * a) { return all_of(add(add(a[0], a[2]), add(a[1], a[3]))); }
[[maybe_unused]] INLINE float total_of_2(const Floats * a) { return (float) ((double) all_of(a[0]) + (double) all_of(a[1])); }

struct F32 {
    using Values = Floats; static constexpr int BYTES = 4, VALUES = LANES, SUMS = 4;
    static inline Floats get(const char * p) { return load_floats(p); }
    static inline Floats plus(Floats sum, Floats x, Floats y) { return fma(x, y, sum); }
    static inline float total(const Floats * a) { return total_of_4(a); }
};
struct F16 : F32 {
    static constexpr int BYTES = 2;
    static inline Floats get(const char * p) { return load_halves(p); }
};
// Where ggml has no instruction for it. It multiplies, then adds, which GCC fuses; that matters only
// for products beyond the range of floats, others are exact.
struct BF16 : F32 {
    static constexpr int BYTES = 2, SUMS = ROWS == 2 ? 2 : 4;
    static inline Floats get(const char * p) { return load_bf16(p); }
    static inline float total(const Floats * a) {
#if defined(__AVX512VNNI__)
        return total_of_2(a);
#else
        const Floats x = add(add(a[0], a[2]), add(a[1], a[3]));
        return _mm_cvtss_f32(halves_of_4(_mm_add_ps(_mm256_extractf128_ps(x, 1), _mm256_castps256_ps128(x))));
#endif
    }
};
#if defined(__AVX512BF16__)
struct BF16Pairs {
    using Values = __m512bh; static constexpr int BYTES = 2, VALUES = 2 * LANES, SUMS = 2;
    static inline __m512bh get(const char * p) { return (__m512bh) _mm512_loadu_si512(p); }
    static inline Floats plus(Floats sum, __m512bh x, __m512bh y) { return _mm512_dpbf16_ps(sum, x, y); }
    static inline float total(const Floats * a) { return total_of_2(a); }
};
#endif

// R rows and N columns, J of their sums at a time: as many as there are registers for.
template <class W, int R, int N, int J> void float_columns(const Group & g, const Tile & t, int first) {
    constexpr int VALUES = W::VALUES, CHUNK = VALUES * W::BYTES;
    const int64_t k = g.k;
    for (int r0 = 0; r0 < g.n_rows; r0 += R) {
        Floats sums[R][N][W::SUMS];
        for (int j0 = 0; j0 < W::SUMS; j0 += J) {
            Floats acc[R][N][J];
            for (int r = 0; r < R; r++) for (int c = 0; c < N; c++) for (int j = 0; j < J; j++) acc[r][c][j] = zero_f();
            const char * columns = t.plain + (size_t) (j0 * t.n + first) * CHUNK;
            for (int64_t i = 0; i < k; i += W::SUMS * VALUES, columns += W::SUMS * t.n * CHUNK) {
                for (int j = 0; j < J; j++) {
                    const size_t at = (size_t) (i + (j0 + j) * VALUES);
                    typename W::Values x[R];
                    for (int r = 0; r < R; r++) x[r] = W::get(g.row[r0 + r] + at * W::BYTES);
                    for (int c = 0; c < N; c++) {
                        const typename W::Values y = W::get(columns + (j * t.n + c) * CHUNK);
                        for (int r = 0; r < R; r++) acc[r][c][j] = W::plus(acc[r][c][j], x[r], y);
                    }
                }
                if (g.ahead && first == 0) for (int r = j0 / J; r < R; r += W::SUMS / J) {
                    const char * p = g.ahead + (g.row[r0 + r] - g.row[0]) + i * W::BYTES;
                    for (int l = 0; l < W::SUMS * CHUNK; l += 64) _mm_prefetch(p + l, _MM_HINT_T1);
                }
            }
            for (int r = 0; r < R; r++) for (int c = 0; c < N; c++) for (int j = 0; j < J; j++) sums[r][c][j0 + j] = acc[r][c][j];
        }
        for (int r = 0; r < R && r0 + r < g.n_rows; r++) for (int c = 0; c < N; c++) t.out[first + c][g.first + r0 + r] = W::total(sums[r][c]);
    }
}
// Few columns wait for the memory, which is read once and in order; more of them for the
// multiplications, of which there are then more for each value that is loaded and converted.
template <class W> void rows_float(const Group & g, const Tile & t) {
    constexpr int FEW = ROWS * 4 / W::SUMS, MOST = 6;
    constexpr void (*with[])(const Group &, const Tile &, int) = { nullptr,
        float_columns<W, FEW, 1, W::SUMS>, float_columns<W, FEW, 2, W::SUMS>, float_columns<W, FEW, 3, W::SUMS>,
        float_columns<W, GROUP, 4, 1>, float_columns<W, GROUP, 5, 1>, float_columns<W, GROUP, 6, 1> };
    const int n_parts = (t.n + MOST - 1) / MOST;
    for (int i = 0; i < n_parts; i++) {
        const int from = t.n * i / n_parts, to = t.n * (i + 1) / n_parts;
        with[to - from](g, t, from);
    }
}

using FloatKernel = void (*)(const Group &, const Tile &);

inline FloatKernel float_kernel(const WeightKind & kind) {
    switch (kind.type) {
        case GGML_TYPE_F32:  return rows_float<F32>;
        case GGML_TYPE_F16:  return rows_float<F16>;
#if defined(__AVX512BF16__)
        case GGML_TYPE_BF16: return bf16_pairs() ? rows_float<BF16Pairs> : rows_float<BF16>;
#else
        case GGML_TYPE_BF16: return rows_float<BF16>;
#endif
        default:             return nullptr;
    }
}

}  // namespace
