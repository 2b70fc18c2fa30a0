// Products of a weight matrix with 1 to 512 rows of activations, reading the weights seldom.
//
// ggml computes a product with several rows as that many products with one row (or, for some types
// and from some width on, by kernels that round differently). Here a group of weight rows is
// unpacked once, and every column (a row of activations; a token) is multiplied by it. Each sum runs
// in the order in which ggml-cpu adds for one row on one thread, so a result depends on its row and
// the weights alone: not on the other rows, their number, the grouping or the threads.
// The exception are rows that hold an infinity or no number. ggml quantises those to -128, whose
// product with a negative weight has the wrong sign in some of its kernels, and not here.
//
// A product of a mixture of experts (MUL_MAT_ID) is the same with one group of columns per expert.
#include "matmul.h"

#include "ggml-cpu.h"
#include "weights.h"

#include <unistd.h>

extern "C" {
void ggml_barrier(struct ggml_threadpool * threadpool);
void ggml_threadpool_chunk_set(struct ggml_threadpool * threadpool, int value);
int  ggml_threadpool_chunk_add(struct ggml_threadpool * threadpool, int value);
}

namespace paceline::PACELINE_ISA {
namespace {

constexpr int GROUP = 2 * ROWS;   // rows of plain weights that are computed together
constexpr int UNIT  = 16;         // rows that a thread takes at least; a multiple of every group
constexpr int TILE  = 64;         // columns that are computed together

// Weights are read once and in order: the next group of rows is asked for while this one is
// computed. Into L1 where it fits, else into L2; reading on from there to L1 is left to the
// processor. With an L1 of 32 KB that is also better for few columns, whose little
// work hides no wait (Zen 4; Zen 5 and Intel's since Ice Lake have 48 KB).
const long L1_BYTES = sysconf(_SC_LEVEL1_DCACHE_SIZE) > 32 << 10 ? sysconf(_SC_LEVEL1_DCACHE_SIZE) : 32 << 10;
const long L2_BYTES = sysconf(_SC_LEVEL2_CACHE_SIZE) > 256 << 10 ? sysconf(_SC_LEVEL2_CACHE_SIZE) : 256 << 10;
struct Prefetch {
    bool into_l1;
    Prefetch(int n_columns, size_t group) : into_l1((n_columns >= 8 || L1_BYTES >= 48 << 10) && group <= 20480) {}
    template <int N> void ahead(const char * p) const {
        if (into_l1) for (int i = 0; i < N; i += 64) _mm_prefetch(p + i, _MM_HINT_T0);
        else for (int i = 0; i < N; i += 64) _mm_prefetch(p + i, _MM_HINT_T1);
    }
};

// ---------------------------------------------------------------------------------- activations

// A column's superblock of 256, with the sums that minima and biases need.
struct Superblock {
    int8_t  q[256];
    int16_t sums[16];      // of 16
    int16_t sums_of_32[8];
    float   d, padding[3];
};
static_assert(sizeof(Superblock) == 320, "read by 32 bytes");

// Up to TILE columns, interleaved by blocks, so that one pass over the weights reads them in order.
// BLOCKS_32: 32 bytes per (block, column); scales and sums as four floats per (4 blocks, column).
struct Tile {
    int n;
    const uint8_t *    q;
    const float *      d;
    const float *      s;
    const Superblock * super;
    const char *       plain;   // FLOATS: a register's worth of each column, then the next
    float **           out;     // where each column's results go
};

// Does ggml multiply BF16 by the processor's own instruction?
bool bf16_pairs() {
#if defined(__AVX512BF16__)
    return ggml_cpu_has_avx512_bf16();
#else
    return false;
#endif
}
// FLOATS: values that are multiplied by one instruction, and their bytes.
int chunk_values(const WeightKind & kind) { return kind.activations == GGML_TYPE_BF16 && bf16_pairs() ? 2 * LANES : LANES; }

size_t column_bytes(const WeightKind & kind, int64_t k) {
    size_t size = 0;
    switch (kind.layout) {
        case BLOCKS_32: case INTERLEAVED_32: size = k + (k / 32 + 3) / 4 * 16 * (kind.activations == GGML_TYPE_Q8_1 ? 2 : 1); break;
        case BLOCKS_256: case INTERLEAVED_256: size = k / 256 * sizeof(Superblock); break;
        case FLOATS: size = k * ggml_type_size(kind.activations); break;
    }
    return (size + 63) & ~(size_t) 63;
}

// Where the parts of a tile of `n` columns lie, from the address of its first column on.
Tile tile_at(char * base, int64_t k, int n, float ** out) {
    Tile t {};
    t.n = n; t.out = out;
    t.q = (const uint8_t *) base;
    t.d = (const float *) (base + (size_t) n * k);
    t.s = t.d + (size_t) n * ((k / 32 + 3) / 4 * 4);
    t.super = (const Superblock *) base;
    t.plain = base;
    return t;
}

// Quantise blocks [b0, b1) of column c as ggml does, and put them where the kernels want them.
void put_column(const WeightKind & kind, const Tile & t, int c, const float * x, int64_t b0, int64_t b1, char * scratch) {
    const auto from_float = ggml_get_type_traits_cpu(kind.activations)->from_float;
    const size_t block = block_values(kind);
    if (kind.layout == FLOATS) {
        const int64_t n = (b1 - b0) * block;
        const size_t bytes = ggml_type_size(kind.activations), chunk = chunk_values(kind);
        if (kind.activations != GGML_TYPE_F32) from_float(x + b0 * block, scratch, n);
        const char * from = kind.activations == GGML_TYPE_F32 ? (const char *) (x + b0 * block) : scratch;
        for (int64_t i = 0; i < n; i += chunk) {
            char * to = (char *) t.plain + ((b0 * block + i) / chunk * t.n + c) * chunk * bytes;
            memcpy(to, from + i * bytes, chunk * bytes);
            if (planted == WRONG_SCALE && b0 + i == 0) to[1] ^= 1;
        }
        return;
    }
    from_float(x + b0 * block, scratch, (b1 - b0) * block);
    if (block == 256) {   // block_q8_K: float d, 256 bytes, 16 sums
        for (int64_t b = b0; b < b1; b++) {
            const char * from = scratch + (b - b0) * 292;
            Superblock & to = ((Superblock *) t.super)[b * t.n + c];
            memcpy(&to.d, from, 4); memcpy(to.q, from + 4, 256); memcpy(to.sums, from + 260, 32);
            if (planted == WRONG_SCALE && b == 0) to.d *= 1.0001f;
            if (planted == WRONG_MINIMUM) to.sums[0]++;
            for (int i = 0; i < 8; i++) to.sums_of_32[i] = (int16_t) (to.sums[2 * i] + to.sums[2 * i + 1]);
        }
        return;
    }
    const bool has_sum = kind.activations == GGML_TYPE_Q8_1;   // block_q8_1: halves d and s; block_q8_0: half d
    const size_t head = has_sum ? 4 : 2;
    for (int64_t b = b0; b < b1; b++) {
        const char * from = scratch + (b - b0) * (head + 32);
        const __m256i q = _mm256_loadu_si256((const __m256i *) (from + head));
        _mm256_storeu_si256((__m256i *) (t.q + (b * t.n + c) * 32), _mm256_xor_si256(q, _mm256_set1_epi8((char) ACTIVATION_FLIP)));
        const size_t at = (b & ~3) * t.n + c * 4 + (b & 3);
        ((float *) t.d)[at] = half_to_float(half_at(from));
        if (has_sum) ((float *) t.s)[at] = half_to_float(half_at(from + 2));
        if (planted == WRONG_SCALE && b == 0) ((float *) t.d)[at] *= 1.0001f;
        if (planted == WRONG_MINIMUM && has_sum) ((float *) t.s)[at] += ((float *) t.d)[at];
    }
}

// ----------------------------------------------------------------------------------- weight rows

// A group of weight rows; rows beyond the matrix repeat its last one.
struct Group {
    const char * row[GROUP];
    int n_rows;           // that exist
    int n_blocks;
    size_t bytes;         // of the group
    const char * ahead;   // the next group, or nullptr at the end
};

// Add up the eight lanes of each row of a group, in ggml's order (hsum_float_8), and store them.
INLINE __m128 halves(__m128 x) { x = _mm_add_ps(x, _mm_movehl_ps(x, x)); return _mm_add_ss(x, _mm_movehdup_ps(x)); }
INLINE void store_sums(Floats a, Floats b, const float * more, int n_rows, float * out) {
    alignas(16) float sums[4];
#if defined(__AVX512VNNI__)
    const __m512i low = _mm512_setr_epi32(0,1,2,3, 8,9,10,11, 16,17,18,19, 24,25,26,27);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(4));
    __m512 x = _mm512_add_ps(_mm512_permutex2var_ps(a, high, b), _mm512_permutex2var_ps(a, low, b));
    x = _mm512_add_ps(x, _mm512_permute_ps(x, 0x4e));
    x = _mm512_add_ps(x, _mm512_permute_ps(x, 0xb1));
    _mm_store_ps(sums, _mm512_castps512_ps128(_mm512_permutexvar_ps(_mm512_setr_epi32(0,4,8,12, 0,0,0,0, 0,0,0,0, 0,0,0,0), x)));
#else
    sums[0] = _mm_cvtss_f32(halves(_mm_add_ps(_mm256_extractf128_ps(a, 1), _mm256_castps256_ps128(a))));
    sums[1] = _mm_cvtss_f32(halves(_mm_add_ps(_mm256_extractf128_ps(b, 1), _mm256_castps256_ps128(b))));
#endif
    for (int r = 0; r < n_rows; r++) out[r] = more ? sums[r] + more[r] : sums[r];
}

// The scales of four blocks of ROWS rows, four floats in each half of a row's lanes.
INLINE Floats scales_of_4(const char * const * row, size_t at, size_t step) {
#if defined(__AVX512VNNI__)
    const char * a = row[0] + at, * b = row[1] + at;
    const __m128i h = _mm_setr_epi16((short) half_at(a), (short) half_at(a + step), (short) half_at(a + 2 * step), (short) half_at(a + 3 * step),
                                     (short) half_at(b), (short) half_at(b + step), (short) half_at(b + 2 * step), (short) half_at(b + 3 * step));
    const __m512 f = _mm512_castps256_ps512(_mm256_cvtph_ps(h));
    return _mm512_shuffle_f32x4(f, f, 0x50);
#else
    const char * a = row[0] + at;
    const __m128i h = _mm_setr_epi16((short) half_at(a), (short) half_at(a + step), (short) half_at(a + 2 * step), (short) half_at(a + 3 * step), 0, 0, 0, 0);
    const __m128 f = _mm_cvtph_ps(h);
    return _mm256_setr_m128(f, f);
#endif
}
// One half of each of ROWS rows, in all lanes of the row.
INLINE Floats scale_of_1(const char * const * row, size_t at) {
#if defined(__AVX512VNNI__)
    const __m128i h = _mm_set1_epi16((short) half_at(row[0] + at)), i = _mm_set1_epi16((short) half_at(row[1] + at));
    return _mm512_cvtph_ps(_mm256_setr_m128i(h, i));
#else
    return floats(half_to_float(half_at(row[0] + at)));
#endif
}
// One half of each row of a group, one after the other.
INLINE __m128 of_each_row(const char * const * row, size_t at) {
    if (ROWS == 2) return _mm_cvtph_ps(_mm_setr_epi16((short) half_at(row[0] + at), (short) half_at(row[1] + at), (short) half_at(row[GROUP - 2] + at), (short) half_at(row[GROUP - 1] + at), 0, 0, 0, 0));
    return _mm_cvtph_ps(_mm_setr_epi16((short) half_at(row[0] + at), (short) half_at(row[GROUP - 1] + at), 0, 0, 0, 0, 0, 0));
}

// Blocks of 32 weights: the sum of four products each in eight lanes, times both scales, block by block.
template <class W> void rows_32(const Group & g, const Tile & t) {
    const int n = t.n; const Prefetch P(n, g.bytes);
    alignas(64) Floats acc[W::SETS][2 * TILE]; __m128 minima[TILE];
    for (int s = 0; s < W::SETS; s++) for (int i = 0; i < 2 * n; i++) acc[s][i] = zero_f();
    if (W::MIN) for (int c = 0; c < n; c++) minima[c] = _mm_setzero_ps();
    int b = 0;
    for (; b + 4 <= g.n_blocks; b += 4) {
        const size_t at = (size_t) b * W::BYTES;
        Signed q[2][4]; Floats d[2]; __m128 m[4];
        for (int p = 0; p < 2; p++) {
            for (int j = 0; j < 4; j++) q[p][j] = prepared(W::unpack(g.row + p * ROWS, at + j * W::BYTES));
            d[p] = scales_of_4(g.row + p * ROWS, at, W::BYTES);
        }
        if (W::MIN) for (int j = 0; j < 4; j++) m[j] = of_each_row(g.row, at + j * W::BYTES + 2);
        if (g.ahead) P.ahead<GROUP * 4 * W::BYTES>(g.ahead + GROUP * at);
        const uint8_t * y = t.q + (size_t) b * n * 32; const float * e = t.d + (size_t) b * n;
        for (int c = 0; c < n; c++) {
            const Floats ey = four(e + c * 4), d0 = mul(d[0], ey), d1 = mul(d[1], ey);
            Floats * a = acc[0] + 2 * c, * o = acc[W::SETS - 1] + 2 * c;
            const Ints y0 = same32(y + c * 32), y1 = same32(y + (n + c) * 32), y2 = same32(y + (2 * n + c) * 32), y3 = same32(y + (3 * n + c) * 32);
            if (W::SETS == 1) {
                Floats a0 = a[0], a1 = a[1];
                a0 = fma(quad<0>(d0), to_floats(dot(q[0][0], y0)), a0); a1 = fma(quad<0>(d1), to_floats(dot(q[1][0], y0)), a1);
                a0 = fma(quad<1>(d0), to_floats(dot(q[0][1], y1)), a0); a1 = fma(quad<1>(d1), to_floats(dot(q[1][1], y1)), a1);
                a0 = fma(quad<2>(d0), to_floats(dot(q[0][2], y2)), a0); a1 = fma(quad<2>(d1), to_floats(dot(q[1][2], y2)), a1);
                a0 = fma(quad<3>(d0), to_floats(dot(q[0][3], y3)), a0); a1 = fma(quad<3>(d1), to_floats(dot(q[1][3], y3)), a1);
                a[0] = a0; a[1] = a1;
            } else {
                Floats a0 = a[0], a1 = a[1], o0 = o[0], o1 = o[1];
                a0 = fma(quad<0>(d0), to_floats(dot(q[0][0], y0)), a0); a1 = fma(quad<0>(d1), to_floats(dot(q[1][0], y0)), a1);
                o0 = fma(quad<1>(d0), to_floats(dot(q[0][1], y1)), o0); o1 = fma(quad<1>(d1), to_floats(dot(q[1][1], y1)), o1);
                a0 = fma(quad<2>(d0), to_floats(dot(q[0][2], y2)), a0); a1 = fma(quad<2>(d1), to_floats(dot(q[1][2], y2)), a1);
                o0 = fma(quad<3>(d0), to_floats(dot(q[0][3], y3)), o0); o1 = fma(quad<3>(d1), to_floats(dot(q[1][3], y3)), o1);
                a[0] = a0; a[1] = a1; o[0] = o0; o[1] = o1;
            }
            if (W::MIN) {
                const float * s = t.s + (size_t) b * n + c * 4;
                for (int j = 0; j < 4; j++) minima[c] = _mm_fmadd_ps(m[j], _mm_set1_ps(s[j]), minima[c]);
            }
        }
    }
    for (; b < g.n_blocks; b++) {
        const size_t at = (size_t) b * W::BYTES, step = (size_t) (b & ~3) * n + (b & 3);
        for (int p = 0; p < 2; p++) {
            const Signed q = prepared(W::unpack(g.row + p * ROWS, at)); const Floats d = scale_of_1(g.row + p * ROWS, at);
            for (int c = 0; c < n; c++) {
                Floats & a = acc[W::SETS == 2 ? b & 1 : 0][2 * c + p];
                a = fma(mul(d, floats(t.d[step + c * 4])), to_floats(dot(q, same32(t.q + ((size_t) b * n + c) * 32))), a);
            }
        }
        if (W::MIN) for (int c = 0; c < n; c++) minima[c] = _mm_fmadd_ps(of_each_row(g.row, at + 2), _mm_set1_ps(t.s[step + c * 4]), minima[c]);
    }
    for (int c = 0; c < n; c++) {
        Floats a0 = acc[0][2 * c], a1 = acc[0][2 * c + 1];
        if (W::SETS == 2) { a0 = add(a0, acc[W::SETS - 1][2 * c]); a1 = add(a1, acc[W::SETS - 1][2 * c + 1]); }
        alignas(16) float more[4];
        if (W::MIN) _mm_store_ps(more, minima[c]);
        store_sums(a0, a1, W::MIN ? more : nullptr, g.n_rows, t.out[c]);
    }
}

// Superblocks of 256: everything within one is added up in integers.
template <class W> void rows_256(const Group & g, const Tile & t) {
    constexpr bool FLIP = W::SIGNED && VNNI; const Ints flip = bytes(0x80);
    const int n = t.n; const Prefetch P(n, g.bytes);
    alignas(64) Floats acc[2 * TILE], minima[TILE];
    for (int c = 0; c < n; c++) acc[2 * c] = acc[2 * c + 1] = minima[c] = zero_f();
    for (int b = 0; b < g.n_blocks; b++) {
        const size_t at = (size_t) b * W::BYTES; const Superblock * y = t.super + (size_t) b * n;
        Ints scales[2], mins; Floats d[2];
        W::scales(g.row, at, scales, mins);
        for (int p = 0; p < 2; p++) d[p] = scale_of_1(g.row + p * ROWS, at + W::D);
        Ints q[2][8], bias[2]; PairScale scale[2][4];
        for (int p = 0; p < 2; p++) {
            W::template unpack<0>(g.row + p * ROWS, at, q[p]);
            W::template unpack<1>(g.row + p * ROWS, at, q[p] + 4);
            for (int i = 0; i < 4; i++) scale[p][i] = W::scale(scales[p], i);
            // ggml takes the bias out by the activations' sums of 16, in their lanes and not in the weights'.
            if constexpr (W::BIAS != 0) bias[p] = W::bias(g.row + p * ROWS, at);
        }
        Ints start[2] = {zero(), zero()};   // takes out the 128 that flipped activations carry
        [[maybe_unused]] Ints low[2][8];    // SCALED: q holds the high parts
        if constexpr (FLIP) for (int p = 0; p < 2; p++) {
            for (int i = 0; i < 4; i++) {
                if constexpr (W::SCALED) {
                    for (int t = 2 * i; t < 2 * i + 2; t++) {
                        Ints highs, lows; scaled_tables(W::TABLE, t & 1 ? scale[p][i].second : scale[p][i].first, highs, lows);
                        low[p][t] = lookup(lows, q[p][t]); q[p][t] = lookup(highs, q[p][t]);
                    }
                    start[p] = dot8(dot8(start[p], flip, q[p][2 * i]), flip, q[p][2 * i + 1]);
                } else start[p] = W::mac(start[p], q[p][2 * i], q[p][2 * i + 1], flip, flip, scale[p][i]);
            }
            start[p] = sub32(zero(), start[p]);
        }
        if (g.ahead) P.ahead<GROUP * W::BYTES>(g.ahead + GROUP * at);
        Floats dmin = zero_f();
        if (W::MINS) {
            const __m128 m = of_each_row(g.row, at + W::DMIN);
#if defined(__AVX512VNNI__)
            dmin = _mm512_permutexvar_ps(_mm512_setr_epi32(0,0,0,0, 1,1,1,1, 2,2,2,2, 3,3,3,3), _mm512_castps128_ps512(m));
#else
            dmin = _mm256_setr_m128(_mm_permute_ps(m, 0), _mm_permute_ps(m, 0x55));
#endif
        }
        for (int c = 0; c < n; c++) {
            Ints a = start[0], z = start[1];
            if constexpr (W::BIAS != 0) {
                const Ints v = same32(y[c].sums);
                a = madd(v, bias[0]); z = madd(v, bias[1]);
            }
            if constexpr (W::SCALED) {
                Ints rest[2] = {zero(), zero()};
                for (int i = 0; i < 8; i++) {
                    const Ints v = same32(y[c].q + 32 * i), flipped = xor_(v, flip);
                    a = dot8(a, flipped, q[0][i]); rest[0] = dot8(rest[0], low[0][i], v);
                    z = dot8(z, flipped, q[1][i]); rest[1] = dot8(rest[1], low[1][i], v);
                }
                a = add32(left32<6>(a), rest[0]); z = add32(left32<6>(z), rest[1]);
            } else for (int i = 0; i < 4; i++) {
                Ints y0 = same32(y[c].q + 64 * i), y1 = same32(y[c].q + 64 * i + 32);
                if (FLIP) { y0 = xor_(y0, flip); y1 = xor_(y1, flip); }
                a = W::mac(a, q[0][2 * i], q[0][2 * i + 1], y0, y1, scale[0][i]);
                z = W::mac(z, q[1][2 * i], q[1][2 * i + 1], y0, y1, scale[1][i]);
            }
            const Floats dy = floats(y[c].d);
            acc[2 * c]     = fma(mul(d[0], dy), to_floats(a), acc[2 * c]);
            acc[2 * c + 1] = fma(mul(d[1], dy), to_floats(z), acc[2 * c + 1]);
            if (W::MINS) {
                Ints products = madd(mins, same16(y[c].sums_of_32));
                if (W::MINS == 2) {   // one integer per superblock
#if defined(__AVX512VNNI__)
                    products = add32(products, _mm512_shuffle_epi32(products, (_MM_PERM_ENUM) 0x4e));
                    products = add32(products, _mm512_shuffle_epi32(products, (_MM_PERM_ENUM) 0xb1));
#else
                    products = add32(products, _mm256_shuffle_epi32(products, 0x4e));
                    products = add32(products, _mm256_shuffle_epi32(products, 0xb1));
#endif
                }
                minima[c] = fma(mul(floats(-y[c].d), dmin), to_floats(products), minima[c]);
            }
        }
    }
    for (int c = 0; c < n; c++) {
        alignas(16) float more[4];
        if (W::MINS) {
            alignas(64) float lanes[4 * GROUP];
            memcpy(lanes, &minima[c], sizeof(Floats));
            for (int r = 0; r < GROUP; r++) more[r] = W::MINS == 2 ? lanes[4 * r] : _mm_cvtss_f32(halves(_mm_load_ps(lanes + 4 * r)));
        }
        store_sums(acc[2 * c], acc[2 * c + 1], W::MINS ? more : nullptr, g.n_rows, t.out[c]);
    }
}

// ------------------------------------------------------------------- many columns, rows of 32s
// For a prompt's many columns LANES rows are unpacked and laid out anew, with one lane a row: then
// nothing moves across lanes, and each of ggml's eight sums stays in a register over all blocks.
struct Panel {
    int n_blocks;
    int32_t * value, * other;   // `Signed`: [block][four weights][row]
    float *   d, * m;           // scales and minima: [block][row]
};
constexpr int MANY = 64;        // columns from which on that is done; no draft has so many

size_t panel_bytes(int64_t k) { return (size_t) k * LANES * 2 + (size_t) k / 32 * LANES * 8 + 64; }
Panel panel_at(char * base, int64_t k) {
    Panel p;
    p.n_blocks = (int) (k / 32);
    p.value = (int32_t *) (((uintptr_t) base + 63) & ~(uintptr_t) 63);
    p.other = p.value + k / 4 * LANES;
    p.d = (float *) (p.other + k / 4 * LANES);
    p.m = p.d + p.n_blocks * LANES;
    return p;
}

template <class W> void fill(const Panel & p, const char * rows, size_t stride) {
    for (int b = 0; b < p.n_blocks; b++) {
        int32_t * value = p.value + (size_t) b * 8 * LANES;
        for (int r = 0; r < LANES; r += ROWS) {
            const char * row[2] = { rows + r * stride, rows + (r + ROWS - 1) * stride };
            alignas(64) int32_t unpacked[8 * ROWS];
            const Ints x = W::unpack(row, (size_t) b * W::BYTES);
            memcpy(unpacked, &x, sizeof x);
            for (int i = 0; i < ROWS; i++) {
                for (int j = 0; j < 8; j++) value[j * LANES + r + i] = unpacked[8 * i + j];
                p.d[b * LANES + r + i] = half_to_float(half_at(row[i] + (size_t) b * W::BYTES));
                if (W::MIN) p.m[b * LANES + r + i] = half_to_float(half_at(row[i] + (size_t) b * W::BYTES + 2));
            }
        }
        for (int j = 0; j < 8; j++) {
            const Ints other = prepared(load(value + j * LANES)).other;
            memcpy(p.other + (size_t) (b * 8 + j) * LANES, &other, sizeof other);
        }
    }
}

template <class W, int N> INLINE void many_columns(const Panel & p, const Tile & t, int c0) {
    static_assert(W::SETS == 1, "even and odd blocks would need sums of their own");
    Floats acc[N][8], minima[N];
    for (int c = 0; c < N; c++) {
        minima[c] = zero_f();
        for (int j = 0; j < 8; j++) acc[c][j] = zero_f();
    }
    for (int b = 0; b < p.n_blocks; b++) {
        const uint8_t * y = t.q + ((size_t) b * t.n + c0) * 32;
        const size_t step = (size_t) (b & ~3) * t.n + (b & 3) + c0 * 4;
        const Floats row_d = load_floats(p.d + b * LANES);
        Floats d[N];
        for (int c = 0; c < N; c++) d[c] = mul(row_d, floats(t.d[step + c * 4]));
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            const size_t at = (size_t) (b * 8 + j) * LANES;
            const Signed q = { load(p.value + at), load(p.other + at) };
#pragma GCC unroll 4
            for (int c = 0; c < N; c++) acc[c][j] = fma(d[c], to_floats(dot(q, same4(y + c * 32 + 4 * j))), acc[c][j]);
        }
        if (W::MIN) for (int c = 0; c < N; c++) minima[c] = fma(load_floats(p.m + b * LANES), floats(t.s[step + c * 4]), minima[c]);
    }
    for (int c = 0; c < N; c++) {
        Floats * x = acc[c];
        for (int j = 0; j < 4; j++) x[j] = add(x[j + 4], x[j]);
        Floats sum = add(add(x[0], x[2]), add(x[1], x[3]));
        if (W::MIN) sum = add(sum, minima[c]);
        store_floats(t.out[c0 + c], sum);
    }
}

template <class W> void many_32(const Panel & p, const Tile & t) {
    constexpr int N = LANES == 16 ? 3 : 1;   // columns whose sums the registers hold
    int c = 0;
    for (; c + N <= t.n; c += N) many_columns<W, N>(p, t, c);
    for (; c < t.n; c++) many_columns<W, 1>(p, t, c);
}

struct Many {
    void (*fill)(const Panel &, const char *, size_t) = nullptr;
    void (*columns)(const Panel &, const Tile &) = nullptr;
};
Many many_of(const WeightKind & kind) {
    if (kind.repacked) return {};
    switch (kind.type) {
        case GGML_TYPE_Q8_0:   return { fill<Q8_0>, many_32<Q8_0> };
        case GGML_TYPE_Q4_0:   return { fill<Q4_0>, many_32<Q4_0> };
        case GGML_TYPE_Q4_1:   return { fill<Q4_1>, many_32<Q4_1> };
        case GGML_TYPE_Q5_0:   return { fill<Q5_0>, many_32<Q5_0> };
        case GGML_TYPE_Q5_1:   return { fill<Q5_1>, many_32<Q5_1> };
        default:               return {};
    }
}

// ---------------------------------------------------------------- rows interleaved by eights
// ggml's repacked types hold eight rows together, eight bytes of each in turn (repack.cpp). Two
// registers hold as many rows as a register has floats: with AVX-512 those of two such groups.
constexpr int INTERLEAVED_ROWS = LANES;

// Sums of the pairs of lanes of two registers. The rows come in the order that `in_order` puts right.
INLINE Ints pair_sums(Ints a, Ints b) {
#if defined(__AVX512VNNI__)
    const __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);
    return add32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)), _mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xdd)));
#else
    const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    return add32(_mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88)), _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xdd)));
#endif
}
// Floats of consecutive rows into the order of `pair_sums`, and back.
INLINE Floats as_pairs(Floats x) {
#if defined(__AVX512VNNI__)
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0,1,8,9, 2,3,10,11, 4,5,12,13, 6,7,14,15), x);
#else
    return _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(0,1,4,5, 2,3,6,7));
#endif
}
INLINE Floats in_order(Floats x) {
#if defined(__AVX512VNNI__)
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0,1,4,5, 8,9,12,13, 2,3,6,7, 10,11,14,15), x);
#else
    return _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(0,1,4,5, 2,3,6,7));
#endif
}
// Two registers of quants: chunk k of both groups of eight rows, or of both halves of one.
INLINE void load_chunk(const char * a, const char * b, int k, Ints & x, Ints & y) {
#if defined(__AVX512VNNI__)
    x = load(a + 64 * k); y = load(b + 64 * k);
#else
    (void) b;
    x = load(a + 64 * k); y = load(a + 64 * k + 32);
#endif
}
// Eight halves of each group.
INLINE Floats halves_of(const char * a, const char * b) {
#if defined(__AVX512VNNI__)
    return _mm512_cvtph_ps(_mm256_setr_m128i(_mm_loadu_si128((const __m128i *) a), _mm_loadu_si128((const __m128i *) b)));
#else
    (void) b;
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) a));
#endif
}
INLINE void store_rows(Floats x, int n_rows, float * out) {
#if defined(__AVX512VNNI__)
    _mm512_mask_storeu_ps(out, n_rows >= 16 ? 0xffff : 0xff, x);
#else
    (void) n_rows;
    _mm256_storeu_ps(out, x);
#endif
}

// BYTES of a block of eight rows, HEAD of it before the quants; BIAS: added to the table's values,
// where that makes them small and unsigned.
struct Q4_0x8   { static constexpr int BYTES = 144, HEAD = 16, BIAS = 8;
    static inline Ints table() { return same16(TABLE_Q4_0); }
    static inline Floats scales(const char * a, const char * b) { return halves_of(a, b); } };
struct IQ4_NLx8 { static constexpr int BYTES = 144, HEAD = 16, BIAS = 0;
    static inline Ints table() { return same16(TABLE_IQ4_NL); }
    static inline Floats scales(const char * a, const char * b) { return halves_of(a, b); } };
struct MXFP4x8  { static constexpr int BYTES = 136, HEAD = 8, BIAS = 12;
    static inline Ints table() { return same16(TABLE_MXFP4); }
    // Half of 2 to the power of (e - 127), as bits of a float (ggml-impl.h).
    static inline Floats scales(const char * a, const char * b) {
        alignas(64) uint32_t bits[INTERLEAVED_ROWS];
        for (int i = 0; i < INTERLEAVED_ROWS; i++) {
            const uint8_t e = (uint8_t) (i < 8 ? a[i] : b[i - 8]);
            bits[i] = e < 2 ? 0x00200000u << e : (uint32_t) (e - 1) << 23;
        }
        Floats f; memcpy(&f, bits, sizeof f); return f;
    } };

template <class W> void interleaved_32(const Group & g, const Tile & t) {
    const int n = t.n; const Prefetch P(n, g.bytes);
    alignas(64) Floats acc[TILE];
    for (int c = 0; c < n; c++) acc[c] = zero_f();
    const Ints low = bytes(15);
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
    const Ints table = W::table();
#else
    const Ints table = _mm256_add_epi8(W::table(), bytes(W::BIAS));
#endif
    for (int b = 0; b < g.n_blocks; b++) {
        const char * pa = g.row[0] + (size_t) b * W::BYTES, * pb = g.row[1] + (size_t) b * W::BYTES;
        Ints a[4], z[4];
        for (int k = 0; k < 2; k++) {
            Ints x, y; load_chunk(pa + W::HEAD, pb + W::HEAD, k, x, y);
            a[k] = lookup(table, and_(x, low)); a[k + 2] = lookup(table, and_(right16<4>(x), low));
            z[k] = lookup(table, and_(y, low)); z[k + 2] = lookup(table, and_(right16<4>(y), low));
        }
        const Floats d = as_pairs(W::scales(pa, pb));
        if (g.ahead) P.ahead<ROWS * W::BYTES>(g.ahead + (size_t) b * ROWS * W::BYTES);
        const uint8_t * q = t.q + (size_t) b * n * 32; const float * e = t.d + (size_t) (b & ~3) * n + (b & 3);
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
        Ints ca = zero(), cz = zero();
        for (int k = 0; k < 4; k++) { ca = dot8(ca, bytes(0x80), a[k]); cz = dot8(cz, bytes(0x80), z[k]); }
        const Ints fix = sub32(zero(), pair_sums(ca, cz));
#endif
        for (int c = 0; c < n; c++) {
            const uint8_t * y = q + c * 32; Ints total;
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
            Ints sa = zero(), sz = zero();
            for (int k = 0; k < 4; k++) { const Ints v = same8(y + 8 * k); sa = dot8(sa, v, a[k]); sz = dot8(sz, v, z[k]); }
            total = add32(fix, pair_sums(sa, sz));
#else
            if (W::BIAS) {   // four products of at most 24 and 127, twice, fit into 16 bits
                Ints sa = zero(), sz = zero();
                for (int k = 0; k < 4; k++) { const Ints v = same8(y + 8 * k); sa = _mm256_add_epi16(sa, maddubs(a[k], v)); sz = _mm256_add_epi16(sz, maddubs(z[k], v)); }
                const Ints sum = madd(maddubs(bytes(1), same32(y)), words(W::BIAS));   // eight lanes
                __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
                s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e)); s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
                total = sub32(pair_sums(madd(sa, words(1)), madd(sz, words(1))), _mm256_broadcastd_epi32(s));
            } else {
                Ints sa = zero(), sz = zero();
                for (int k = 0; k < 4; k++) {
                    const Ints v = same8(y + 8 * k);
                    sa = add32(sa, dot(prepared(a[k]), v)); sz = add32(sz, dot(prepared(z[k]), v));
                }
                total = pair_sums(sa, sz);
            }
#endif
            acc[c] = fma(to_floats(total), mul(d, floats(e[c * 4])), acc[c]);
        }
    }
    for (int c = 0; c < n; c++) store_rows(in_order(acc[c]), g.n_rows, t.out[c]);
}

// Q4_K by eights: 8 d, 8 dmin, 8 x 12 bytes of scales and minima, 1,024 bytes of quants.
struct Q4_Kx8 { static constexpr int BYTES = 1152, SCALES = 32, QUANTS = 128; };

// The scales and minima of eight rows: eight bytes for each of the eight sub-blocks, whose six bits
// are packed into 12 bytes as in a plain Q4_K.
INLINE void interleaved_scales(const char * p, uint64_t * scales, uint64_t * mins) {
    const __m256i three = _mm256_setr_epi32(0,3,6,9, 12,15,18,21);
#if defined(__AVX512VNNI__)
    const __m512i first = _mm512_loadu_si512(p), rest = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *) (p + 64)));
    const __m512i at = _mm512_castsi256_si512(three), one = _mm512_set1_epi32(1);
    const __m256i a = _mm512_castsi512_si256(_mm512_permutex2var_epi32(first, at, rest));
    const __m256i b = _mm512_castsi512_si256(_mm512_permutex2var_epi32(first, _mm512_add_epi32(at, one), rest));
    const __m256i c = _mm512_castsi512_si256(_mm512_permutex2var_epi32(first, _mm512_add_epi32(at, _mm512_add_epi32(one, one)), rest));
#else
    const __m256i a = _mm256_i32gather_epi32((const int *) p, three, 4), b = _mm256_i32gather_epi32((const int *) (p + 4), three, 4);
    const __m256i c = _mm256_i32gather_epi32((const int *) (p + 8), three, 4);
#endif
    const __m256i six = _mm256_set1_epi8(63), low = _mm256_set1_epi8(15), two = _mm256_set1_epi8(0x30);
    const __m256i s0 = _mm256_and_si256(a, six), m0 = _mm256_and_si256(b, six);
    const __m256i s1 = _mm256_or_si256(_mm256_and_si256(c, low), _mm256_and_si256(_mm256_srli_epi16(a, 2), two));
    const __m256i m1 = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(c, 4), low), _mm256_and_si256(_mm256_srli_epi16(b, 2), two));
    const __m256i s01 = _mm256_unpacklo_epi32(s0, s1), s23 = _mm256_unpackhi_epi32(s0, s1), m01 = _mm256_unpacklo_epi32(m0, m1), m23 = _mm256_unpackhi_epi32(m0, m1);
    _mm256_storeu_si256((__m256i *) scales, _mm256_permute2x128_si256(s01, s23, 0x20)); _mm256_storeu_si256((__m256i *) (scales + 4), _mm256_permute2x128_si256(s01, s23, 0x31));
    _mm256_storeu_si256((__m256i *) mins, _mm256_permute2x128_si256(m01, m23, 0x20));   _mm256_storeu_si256((__m256i *) (mins + 4), _mm256_permute2x128_si256(m01, m23, 0x31));
}
// For each of eight rows a word of a, a word of b.
INLINE __m256i row_pairs(const uint64_t * two) { return _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(_mm_cvtsi64_si128((long long) two[0]), _mm_cvtsi64_si128((long long) two[1]))); }

// The scales of two sub-blocks for the lanes of both registers; s: those of each group of eight rows.
INLINE void lane_scales(const uint64_t (*s)[8], int i, PairScale & a, PairScale & z) {
#if defined(__AVX512VNNI__)
    const __m512i twice = _mm512_setr_epi32(0,0,1,1, 2,2,3,3, 4,4,5,5, 6,6,7,7);
    a.first = _mm512_permutexvar_epi32(twice, _mm512_castsi256_si512(row_pairs(s[0] + i)));
    z.first = _mm512_permutexvar_epi32(twice, _mm512_castsi256_si512(row_pairs(s[1] + i)));
#else
    const __m128i first = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long) s[0][i])), second = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long) s[0][i + 1]));
    const auto four_times = [](__m128i w) { return _mm256_setr_m128i(_mm_unpacklo_epi32(w, w), _mm_unpackhi_epi32(w, w)); };
    a = { four_times(_mm_unpacklo_epi16(first, first)), four_times(_mm_unpacklo_epi16(second, second)) };
    z = { four_times(_mm_unpackhi_epi16(first, first)), four_times(_mm_unpackhi_epi16(second, second)) };
#endif
}
// The sums of four chunks of both sub-blocks, times their scales.
INLINE Ints scaled_dots(Ints sum, const Ints * low, const Ints * high, const Ints * y, PairScale scale) {
#if defined(__AVX512VNNI__)
    Ints s = zero(), t = zero();   // 16 products of at most 15 and 128 fit into 16 bits
    for (int k = 0; k < 4; k++) { s = dot8(s, low[k], y[k]); t = dot8(t, high[k], y[k + 4]); }
    return dot16(sum, low_and_high(s, t), scale.first);
#else
    Ints s = maddubs(low[0], y[0]), t = maddubs(high[0], y[4]);
    for (int k = 1; k < 4; k++) { s = _mm256_add_epi16(s, maddubs(low[k], y[k])); t = _mm256_add_epi16(t, maddubs(high[k], y[k + 4])); }
    return dot16(dot16(sum, s, scale.first), t, scale.second);
#endif
}

void interleaved_256(const Group & g, const Tile & t) {
    const int n = t.n; const Prefetch P(n, g.bytes);
    alignas(64) Floats acc[TILE], minima[TILE]; alignas(64) Ints sa[TILE], sz[TILE], sm[TILE];
    for (int c = 0; c < n; c++) acc[c] = minima[c] = zero_f();
    const Ints low = bytes(15);
    for (int b = 0; b < g.n_blocks; b++) {
        const char * pa = g.row[0] + (size_t) b * Q4_Kx8::BYTES, * pb = g.row[1] + (size_t) b * Q4_Kx8::BYTES;
        const Superblock * y = t.super + (size_t) b * n;
        uint64_t scales[2][8], mins[2][8];
        interleaved_scales(pa + Q4_Kx8::SCALES, scales[0], mins[0]);
        if (ROWS == 2) interleaved_scales(pb + Q4_Kx8::SCALES, scales[1], mins[1]);
        for (int c = 0; c < n; c++) sa[c] = sz[c] = sm[c] = zero();
        for (int s = 0; s < 4; s++) {   // two sub-blocks of 32: low and high nibbles
            PairScale scale_a, scale_z;
            lane_scales(scales, 2 * s, scale_a, scale_z);
#if defined(__AVX512VNNI__)
            const Ints minima_of_2 = half_each(row_pairs(mins[0] + 2 * s), row_pairs(mins[1] + 2 * s));
#else
            const Ints minima_of_2 = row_pairs(mins[0] + 2 * s);
#endif
            if (g.ahead) P.ahead<ROWS * Q4_Kx8::BYTES / 4>(g.ahead + (size_t) b * ROWS * Q4_Kx8::BYTES + s * (ROWS * Q4_Kx8::BYTES / 4));
            Ints la[4], lz[4], ha[4], hz[4];
            for (int k = 0; k < 4; k++) {
                Ints x, v; load_chunk(pa + Q4_Kx8::QUANTS + 256 * s, pb + Q4_Kx8::QUANTS + 256 * s, k, x, v);
                la[k] = and_(x, low); lz[k] = and_(v, low); ha[k] = and_(right16<4>(x), low); hz[k] = and_(right16<4>(v), low);
            }
            for (int c = 0; c < n; c++) {
                const int8_t * q = y[c].q + 64 * s; Ints v[8];
                for (int k = 0; k < 8; k++) v[k] = same8(q + 8 * k);
                sa[c] = scaled_dots(sa[c], la, ha, v, scale_a);
                sz[c] = scaled_dots(sz[c], lz, hz, v, scale_z);
                sm[c] = dot16(sm[c], minima_of_2, same4(y[c].sums_of_32 + 2 * s));
            }
        }
        const Floats d = as_pairs(halves_of(pa, pb)), dmin = halves_of(pa + 16, pb + 16);
        for (int c = 0; c < n; c++) {
            const Floats dy = floats(y[c].d);
            acc[c]    = fma(to_floats(pair_sums(sa[c], sz[c])), mul(d, dy), acc[c]);
            minima[c] = fma(to_floats(sm[c]), mul(dmin, dy), minima[c]);
        }
    }
    for (int c = 0; c < n; c++) store_rows(sub(in_order(acc[c]), minima[c]), g.n_rows, t.out[c]);
}

// ------------------------------------------------------------------------------ unquantised rows
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
        return _mm_cvtss_f32(halves(_mm_add_ps(_mm256_extractf128_ps(x, 1), _mm256_castps256_ps128(x))));
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
    const int64_t k = (int64_t) g.n_blocks * 32;
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
        for (int r = 0; r < R && r0 + r < g.n_rows; r++) for (int c = 0; c < N; c++) t.out[first + c][r0 + r] = W::total(sums[r][c]);
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

using Kernel = void (*)(const Group &, const Tile &);

Kernel kernel_of(const WeightKind & kind) {
    switch (kind.type) {
        case GGML_TYPE_Q8_0:   return rows_32<Q8_0>;
        case GGML_TYPE_Q4_0:   return kind.repacked ? interleaved_32<Q4_0x8> : rows_32<Q4_0>;
        case GGML_TYPE_Q4_1:   return rows_32<Q4_1>;
        case GGML_TYPE_Q5_0:   return rows_32<Q5_0>;
        case GGML_TYPE_Q5_1:   return rows_32<Q5_1>;
        case GGML_TYPE_IQ4_NL: return kind.repacked ? interleaved_32<IQ4_NLx8> : rows_32<IQ4_NL>;
        case GGML_TYPE_MXFP4:  return interleaved_32<MXFP4x8>;
        case GGML_TYPE_Q3_K:   return rows_256<Q3_K>;
        case GGML_TYPE_Q4_K:   return kind.repacked ? interleaved_256 : rows_256<Q4_K>;
        case GGML_TYPE_Q5_K:   return rows_256<Q5_K>;
        case GGML_TYPE_Q6_K:   return rows_256<Q6_K>;
        case GGML_TYPE_IQ4_XS: return rows_256<IQ4_XS>;
        case GGML_TYPE_F32:    return rows_float<F32>;
        case GGML_TYPE_F16:    return rows_float<F16>;
#if defined(__AVX512BF16__)
        case GGML_TYPE_BF16:   return bf16_pairs() ? rows_float<BF16Pairs> : rows_float<BF16>;
#else
        case GGML_TYPE_BF16:   return rows_float<BF16>;
#endif
        default:               return nullptr;
    }
}

// ------------------------------------------------------------------------------------ the product

// Which columns meet which matrix: one matrix, or those of the experts that were chosen.
struct Plan {
    struct Part { const char * weights; int first, n; };   // slots
    int n_slots = 0, n_parts = 0, n_used = 1;
    Part part[MAX_EXPERTS];
    int  use[MAX_SLOTS];   // token * n_used + which of its experts
    const ggml_tensor * x, * y;
    const float * from(int slot) const {
        const int token = use[slot] / n_used, i = use[slot] % n_used;
        return (const float *) ((const char *) x->data + (has_experts() ? i % x->ne[1] * x->nb[1] + token * x->nb[2] : token * x->nb[1]));
    }
    float * to(int slot) const {
        const int token = use[slot] / n_used, i = use[slot] % n_used;
        return (float *) ((char *) y->data + (has_experts() ? i * y->nb[1] + token * y->nb[2] : token * y->nb[1]));
    }
    bool has_experts() const { return y->op == GGML_OP_MUL_MAT_ID; }
};

bool make_plan(Plan & plan, const ggml_tensor * op) {
    const ggml_tensor * w = op->src[0], * x = op->src[1];
    plan.x = x; plan.y = op;
    if (!plan.has_experts()) {
        plan.n_parts = 1; plan.n_slots = (int) x->ne[1];
        plan.part[0] = { (const char *) w->data, 0, plan.n_slots };
        for (int c = 0; c < plan.n_slots; c++) plan.use[c] = c;
        return true;
    }
    const ggml_tensor * ids = op->src[2];
    const int n_used = plan.n_used = (int) ids->ne[0], n_tokens = (int) ids->ne[1], n_experts = (int) w->ne[2];
    int count[MAX_EXPERTS + 1] = {};
    const auto expert = [&](int token, int i) { return *(const int32_t *) ((const char *) ids->data + token * ids->nb[1] + i * ids->nb[0]); };
    for (int t = 0; t < n_tokens; t++) for (int i = 0; i < n_used; i++) {
        const int e = expert(t, i);
        if (e < 0 || e >= n_experts) return false;
        count[e]++;
    }
    int next[MAX_EXPERTS];
    for (int e = 0; e < n_experts; e++) {
        next[e] = plan.n_slots;
        if (count[e]) plan.part[plan.n_parts++] = { (const char *) w->data + e * w->nb[2], plan.n_slots, count[e] };
        plan.n_slots += count[e];
    }
    for (int t = 0; t < n_tokens; t++) for (int i = 0; i < n_used; i++) plan.use[next[expert(t, i)]++] = t * n_used + i;
    return true;
}

// The columns of a part in tiles of about equal width.
int n_tiles(int n) { return (n + TILE - 1) / TILE; }
int tile_start(int n, int i) { return (int) ((int64_t) n * i / n_tiles(n)); }

size_t scratch_bytes(int64_t k) { return (size_t) k * 2 + 512; }   // a column in any type

// A planted fault: the first and the last blocks are added up apart.
void in_two_parts(const WeightKind & kind, Kernel kernel, Group g, Tile t) {
    const int per = block_values(kind) == 256 ? 1 : 4, first = g.n_blocks / 2 / per * per;
    float keep[TILE][UNIT];
    Group head = g; head.n_blocks = first;
    kernel(head, t);
    for (int c = 0; c < t.n; c++) memcpy(keep[c], t.out[c], g.n_rows * sizeof(float));
    const size_t bytes = g.bytes / (kind.repacked ? INTERLEAVED_ROWS : GROUP) / g.n_blocks * first * (kind.repacked ? 8 : 1);
    for (const char * & row : g.row) row += bytes;
    g.n_blocks -= first; g.ahead = nullptr;
    t.q += (size_t) first * t.n * 32; t.d += (size_t) first * t.n; t.s += (size_t) first * t.n; t.super += (size_t) first * t.n; t.plain += (size_t) first * 32 * ggml_type_size(kind.activations) * t.n;
    kernel(g, t);
    for (int c = 0; c < t.n; c++) for (int r = 0; r < g.n_rows; r++) t.out[c][r] += keep[c][r];
}

// Tiles of a part that are computed with one group of rows before the next: as many as stay in L2
// beside the weights, so that few passes over the weights are needed, and one over the tiles.
int tiles_together(size_t column) {
    const size_t fit = L2_BYTES / 2 / (TILE * column);
    return fit > 1 ? (int) fit : 1;
}

// Rows [r0, r1) of one part and its tiles [i0, i1); the weights of a group stay in the cache meanwhile.
void compute_rows(const WeightKind & kind, Kernel kernel, const ggml_tensor * w, const Plan & plan, const Plan::Part & part, char * activations, char * panel, int64_t r0, int64_t r1, int i0, int i1) {
    const int64_t k = w->ne[0], n_all = w->ne[1];
    const size_t stride = w->nb[1], column = column_bytes(kind, k);
    const int step = kind.repacked ? INTERLEAVED_ROWS : GROUP;
    const bool contiguous = stride == ggml_row_size(w->type, k);
    const int64_t groups_ahead = L1_BYTES / 4 / (step * stride) + 1;   // enough to hide how long the memory takes
    const Many many = many_of(kind);
    const bool in_order = planted != OTHER_ORDER || part.n <= MOST_IN_ORDER, has_many = many.columns && part.n >= MANY && in_order;
    for (int64_t r = r0; r < r1; r += step) {
        if (has_many && r + LANES <= n_all) {
            const Panel p = panel_at(panel, k);
            many.fill(p, part.weights + r * stride, stride);
            for (int i = i0; i < i1; i++) {
                const int c = tile_start(part.n, i), n = tile_start(part.n, i + 1) - c, slot = part.first + c;
                float * out[TILE];
                for (int j = 0; j < n; j++) out[j] = plan.to(slot + j) + r;
                many.columns(p, tile_at(activations + slot * column, k, n, out));
            }
            r += LANES - step;
            continue;
        }
        Group g;
        g.n_rows = (int) (n_all - r < step ? n_all - r : step);
        g.n_blocks = (int) (k / block_values(kind));
        g.bytes = step * stride;
        const char * base = part.weights + r * stride;
        for (int i = 0; i < GROUP; i++) {
            if (kind.repacked) g.row[i] = base + (i && g.n_rows > 8 ? 8 * stride : 0);
            else g.row[i] = base + (i < g.n_rows ? i : g.n_rows - 1) * stride;
        }
        g.ahead = contiguous && r + (groups_ahead + 1) * step <= n_all ? base + groups_ahead * step * stride : nullptr;
        for (int i = i0; i < i1; i++) {
            const int c = tile_start(part.n, i), n = tile_start(part.n, i + 1) - c, slot = part.first + c;
            float * out[TILE];
            for (int j = 0; j < n; j++) out[j] = plan.to(slot + j) + r;
            const Tile t = tile_at(activations + slot * column, k, n, out);
            if (in_order) kernel(g, t);
            else in_two_parts(kind, kernel, g, t);
            g.ahead = nullptr;
        }
    }
}

}  // namespace

size_t matmul_work_size(const WeightKind & kind, int n_threads, const ggml_tensor * op) {
    const int64_t k = op->src[0]->ne[0];
    const int64_t slots = op->op == GGML_OP_MUL_MAT ? op->src[1]->ne[1] : op->src[2]->ne[0] * op->src[2]->ne[1];
    return 64 + slots * column_bytes(kind, k) + n_threads * (scratch_bytes(k) + (many_of(kind).fill ? panel_bytes(k) : 0));
}

bool matmul(const WeightKind & kind, const ggml_compute_params * params, ggml_tensor * op) {
    const ggml_tensor * w = op->src[0];
    const int64_t k = w->ne[0];
    const int ith = params->ith, nth = params->nth;
    const Kernel kernel = kernel_of(kind);
    Plan plan;
    if (!make_plan(plan, op)) return false;
    const size_t column = column_bytes(kind, k);
    char * activations = (char *) (((uintptr_t) params->wdata + 63) & ~(uintptr_t) 63);
    char * scratch = activations + plan.n_slots * column + ith * scratch_bytes(k);
    char * panel = activations + plan.n_slots * column + nth * scratch_bytes(k) + ith * panel_bytes(k);
    const int64_t blocks = k / block_values(kind);
    const int64_t b0 = blocks * ith / nth, b1 = blocks * (ith + 1) / nth;
    for (int p = 0; p < plan.n_parts && b0 < b1; p++) for (int i = 0; i < n_tiles(plan.part[p].n); i++) {
        const int c = tile_start(plan.part[p].n, i), n = tile_start(plan.part[p].n, i + 1) - c, slot = plan.part[p].first + c;
        const Tile t = tile_at(activations + slot * column, k, n, nullptr);
        for (int j = 0; j < n; j++) put_column(kind, t, j, plan.from(slot + j), b0, b1, scratch);
        if (planted == LOST_BLOCK && b1 == blocks) for (int j = 0; j < n; j++) {
            static const float nothing[256] = {};
            put_column(kind, t, j, nothing - (blocks - 1) * (k / blocks), blocks - 1, blocks, scratch);
        }
    }
    // Rows are dealt out in chunks, so that a thread that was held up leaves its rest to others.
    const int64_t units = (w->ne[1] + UNIT - 1) / UNIT;
    const int64_t wanted = nth == 1 ? 1 : (nth * 8 + plan.n_parts - 1) / plan.n_parts;
    const int per_part = (int) (units < wanted ? units : wanted), n_chunks = per_part * plan.n_parts;
    if (ith == 0) ggml_threadpool_chunk_set(params->threadpool, nth);
    ggml_barrier(params->threadpool);
    for (int chunk = ith; chunk < n_chunks; chunk = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int at = chunk % per_part;
        const int64_t r0 = units * at / per_part * UNIT, r1 = units * (at + 1) / per_part * UNIT;
        const Plan::Part & part = plan.part[chunk / per_part];
        const int n = n_tiles(part.n), together = tiles_together(column);
        for (int i0 = 0; i0 < n; i0 += together) {
            compute_rows(kind, kernel, w, plan, part, activations, panel, r0, r1 < w->ne[1] ? r1 : w->ne[1], i0, i0 + together < n ? i0 + together : n);
        }
        if ((planted == ONE_WIDTH && part.n == THE_WIDTH) || (planted == ONE_THREAD && ith == THE_THREAD) || (planted == ONE_ISA && !VNNI)) {
            spoil(plan.to(part.first)[r0]);
        }
    }
    if (planted == OVERRUN && ith == 0) plan.to(plan.n_slots - 1)[w->ne[1]] = 1.0f;
    return true;
}

}  // namespace paceline::PACELINE_ISA
