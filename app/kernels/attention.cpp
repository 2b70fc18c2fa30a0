// Attention (FLASH_ATTN_EXT) for 1 to 512 query rows.
//
// What it promises. Each query row comes out bit for bit as ggml-cpu computes it when it is the
// only row of the node and there is one thread, whatever the number of rows and threads. ggml does
// not: with several threads it splits a long cache among them for one row, but not for two.
//
// What is computed. A "pair" is one query row with one of its heads. For a pair, ggml goes over
// the cells of the cache one by one. It takes the product of query and key, scales it, caps it,
// adds the mask; keeps the greatest score so far; and adds exp(score - greatest) times the value
// to a sum, which it first multiplies by exp(old - new) where the greatest score has risen. Cells
// whose mask is minus infinity are left out. All of that rounds, so all of it has to happen in
// this order: with F16 values the sum is even rounded to F16 after each cell.
//
// How it is made fast. All pairs that use the same KV head are computed together, over blocks of
// CELLS cells, in three steps that wait for different things:
//
//   1. The block's keys are converted once, then multiplied by every pair's query. The products of
//      a block do not depend on each other. F16: sums of LANES lanes as ggml's build has them, the
//      lanes of several cells added up at once by transposing (`sum_lanes`). Q8_0: keys are stored
//      with one lane a cell, so that nothing has to be added across lanes.
//   2. The chain of greatest scores gives the arguments of exp, before any exp is computed, so the
//      exps of a block are computed together. The chain that adds up weights is left running beside
//      step 3.
//   3. The block's values are converted once, then added to every pair's sums, which stay in
//      registers for the whole block. Sixteen registers are sixteen independent chains. What is added in
//      F16 registers (`add_halves`) needs no conversion.
//
// With one or two pairs, F16 rows are converted where they are used instead (DIRECT).
//
// exp. ggml calls expf of the C library, and a vector exp of our own would differ from it in a few
// results of a thousand. But it can only differ where exp lies close to the middle between two
// floats. `exp_block` computes exp in double, exact to 2^-13 of a float's last place, and leaves to
// expf itself what comes within 1/256 of a last place of such a middle, and arguments below -87. So
// the results are those of any expf that is right to within 1/2 + 1/300 of a last place; glibc's and
// musl's are right to within 0.502.
//
// How it is shared. A piece of work is up to MAX_PAIRS pairs of a KV head, over all cells. Threads
// take pieces by the pool's counter. Cells are never divided, so threads cannot change a sum.
//
// What the order depends on. ggml's F16 product uses four sums of 16 lanes where it was built for
// AVX-512, and four of 8 where it was built for AVX2; what is left of a head beyond whole groups
// of four is added in double. This file, compiled for either, does the same as ggml compiled for
// it. Built for AVX512-FP16 ggml adds F16 values in F16 registers, and so does this file where the
// compiler knows that; whether ggml was built so is tried out, see `adds_in_halves`. GCC and Clang
// fuse the same multiplications and additions in ggml, but for one, see `with_sink`. Not-a-numbers
// come out as such, perhaps with other sign and payload bits.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"         // GCC 12 says both of its own AVX-512 header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "attention.h"

#include "ggml-cpu.h"
#include "matmul.h"
#include "simd.h"

#include <math.h>
#include <string.h>

#if defined(__AVX512VNNI__) && !defined(PACELINE_WITHOUT_AVX512FP16)
#include <avx512fp16intrin.h>   // Clang leaves it out where not all of a file is compiled for it
#define WITH_FP16 __attribute__((target("avx512fp16")))
#endif

namespace paceline::PACELINE_ISA {

// ---- vectors of floats and doubles -------------------------------------------------------------

#if defined(__AVX512VNNI__)
using Doubles = __m512d;
template <int HOW> INLINE uint32_t compare(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, HOW); }
INLINE Floats from_bytes(const int8_t * p) { return to_floats(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *) p))); }

INLINE Doubles wide(const float * p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
INLINE void narrow(float * p, Doubles x) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(x)); }

// x * 2^k, where k stands in the last bits of t.
INLINE Doubles times_power(Doubles x, Doubles t) {
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(x), _mm512_slli_epi64(_mm512_castpd_si512(t), 52)));
}

// Which of x have last bits from `low` to `high`, as many bits as `mask` has.
INLINE uint32_t last_bits_between(Doubles x, long long mask, long long low, long long high) {
    const __m512i above = _mm512_and_si512(_mm512_sub_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(low)), _mm512_set1_epi64(mask));
    return _mm512_cmplt_epi64_mask(above, _mm512_set1_epi64(high - low));
}

// The sum of the lanes of each of t[0..15], in order: lanes 8 apart are added first, then 4, 2, 1.
INLINE Floats sum_lanes(Floats * t) {
    for (int j = 0; j < LANES; j += 8)
        for (int i = j; i < j + 4; i++) t[i] = add(_mm512_shuffle_f32x4(t[i], t[i + 4], 0x44), _mm512_shuffle_f32x4(t[i], t[i + 4], 0xEE));
    for (int i = 0; i < 4; i++) t[i] = add(_mm512_shuffle_f32x4(t[i], t[i + 8], 0x88), _mm512_shuffle_f32x4(t[i], t[i + 8], 0xDD));
    for (int i = 0; i < 4; i += 2) t[i] = add(_mm512_shuffle_ps(t[i], t[i + 1], 0x44), _mm512_shuffle_ps(t[i], t[i + 1], 0xEE));
    return add(_mm512_shuffle_ps(t[0], t[2], 0x88), _mm512_shuffle_ps(t[0], t[2], 0xDD));
}
#else
using Doubles = __m256d;
template <int HOW> INLINE uint32_t compare(Floats a, Floats b) { return (uint32_t) _mm256_movemask_ps(_mm256_cmp_ps(a, b, HOW)); }
INLINE Floats from_bytes(const int8_t * p) { return to_floats(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *) p))); }

INLINE Doubles wide(const float * p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
INLINE void narrow(float * p, Doubles x) { _mm_storeu_ps(p, _mm256_cvtpd_ps(x)); }

INLINE Doubles times_power(Doubles x, Doubles t) {
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(x), _mm256_slli_epi64(_mm256_castpd_si256(t), 52)));
}

INLINE uint32_t last_bits_between(Doubles x, long long mask, long long low, long long high) {
    const __m256i above = _mm256_and_si256(_mm256_sub_epi64(_mm256_castpd_si256(x), _mm256_set1_epi64x(low)), _mm256_set1_epi64x(mask));
    return (uint32_t) _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_set1_epi64x(high - low), above)));
}

// The sum of the lanes of each of t[0..7], in order: lanes 4 apart are added first, then 1, then 2.
INLINE Floats sum_lanes(Floats * t) {
    for (int i = 0; i < 4; i++) t[i] = add(_mm256_permute2f128_ps(t[i], t[i + 4], 0x20), _mm256_permute2f128_ps(t[i], t[i + 4], 0x31));
    for (int i = 0; i < 4; i += 2) t[i] = add(_mm256_shuffle_ps(t[i], t[i + 1], 0x88), _mm256_shuffle_ps(t[i], t[i + 1], 0xDD));
    return add(_mm256_shuffle_ps(t[0], t[2], 0x88), _mm256_shuffle_ps(t[0], t[2], 0xDD));
}
#endif
INLINE float as_half(float x) { return half_to_float(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)); }
INLINE Floats as_half(Floats x) { return OP(cvtph_ps)(OP(cvtps_ph)(x, _MM_FROUND_TO_NEAREST_INT)); }
INLINE Doubles doubles(double x) { return OP(set1_pd)(x); }
INLINE Doubles add(Doubles a, Doubles b) { return OP(add_pd)(a, b); }
INLINE Doubles fma(Doubles a, Doubles b, Doubles c) { return OP(fmadd_pd)(a, b, c); }

namespace {

constexpr int CELLS     = 16;   // cells of a block
constexpr int ALL       = (1 << CELLS) - 1;   // a bit for each
constexpr int MAX_PAIRS = 32;   // pairs of a piece of work
constexpr int DIRECT    = 2;    // up to so many pairs, F16 rows are converted as they are used, not before
constexpr int MAX_HEAD  = 256;
constexpr int QUANT     = 32;   // elements of a block of Q8_0
constexpr int SPLIT     = 512;  // from so many cells on, ggml adds up partial results; see `finish`

struct Quantised { uint16_t scale; int8_t value[QUANT]; };   // ggml's block_q8_0

constexpr int HALF_LANES = LANES / 2;   // doubles
constexpr int GROUP      = 4 * LANES;   // elements that ggml's F16 product takes at a time
constexpr int HALVES     = 128;         // elements of a value that it adds at a time in F16 registers
bool adds_in_halves();

// ---- exp ---------------------------------------------------------------------------------------

// exp(x) = 2^k (1 + r + r^2 g(r)) with x = k ln 2 + r; g is a Chebyshev interpolation, and the result
// exact to 2^-37. Of a double's last bits, 29 are those that a float has not.
constexpr double    LOG2_E = 0x1.71547652b82fep+0, LN_2 = 0x1.62e42fefa39efp-1, ROUND = 0x1.8p52;
constexpr double    G[] = { 0x1p-1, 0x1.5555556750652p-3, 0x1.5555555c85d4fp-5, 0x1.1110c63a525e8p-7,
                            0x1.6c168592105ccp-10, 0x1.a15169db3e5d0p-13, 0x1.a113129d71ddep-16 };
constexpr long long LAST = 1ll << 29, MIDDLE = LAST / 2, MARGIN = LAST / 256;
constexpr float     LEAST = -87.0f;   // below, results come close to what floats cannot hold

// y = exp(x) for CELLS values that are at most 0, or not a number. Returns a bit for each that expf
// has to compute instead.
INLINE uint32_t exp_block(const float * x, float * y) {
    uint32_t unsure = 0;
    for (int i = 0; i < CELLS; i += HALF_LANES) {
        const Doubles d = wide(x + i), t = fma(d, doubles(LOG2_E), doubles(ROUND));
        const Doubles r = fma(add(t, doubles(-ROUND)), doubles(-LN_2), d);
        Doubles p = doubles(G[6]);
        for (int j = 5; j >= 0; j--) p = fma(p, r, doubles(G[j]));
        for (int j = 0; j < 2; j++) p = fma(p, r, doubles(1.0));
        p = times_power(p, t);
        unsure |= last_bits_between(p, LAST - 1, MIDDLE - MARGIN, MIDDLE + MARGIN) << i;
        narrow(y + i, p);
    }
    for (int i = 0; i < CELLS; i += LANES) unsure |= compare<_CMP_NGE_UQ>(load_floats(x + i), floats(LEAST)) << i;
    return unsure;
}

// ---- a node, a pair, a thread's memory ---------------------------------------------------------

struct Node {
    const ggml_tensor * q, * k, * v, * mask, * sinks;
    int     head, rows, group, kv_heads, sequences;   // group: query heads of a KV head
    int     in_halves = 0;   // elements of a value that ggml adds in F16 registers, from the first on
    int64_t cells;
    bool    half, split;
    float   scale, cap;

    explicit Node(const ggml_tensor * op)
        : q(op->src[0]), k(op->src[1]), v(op->src[2]), mask(op->src[3]), sinks(op->src[4]),
          head((int) k->ne[0]), rows((int) q->ne[1]), group((int) (q->ne[2] / k->ne[2])),
          kv_heads((int) k->ne[2]), sequences((int) q->ne[3]), cells(k->ne[1]),
          half(k->type == GGML_TYPE_F16), split(half && sequences == 1 && cells >= SPLIT) {
        memcpy(&scale, op->op_params, sizeof(scale));
        memcpy(&cap, op->op_params + 2, sizeof(cap));
        if (cap != 0.0f) scale /= cap;
        if (half && head >= HALVES && adds_in_halves()) in_halves = head / HALVES * HALVES;
        if (planted == WRONG_SCALE) scale *= 1.0001f;
    }
    int pairs() const { return rows * group; }   // of one KV head
    int heads() const { return kv_heads * sequences; }
};

struct Pair {
    float    weight[CELLS];    // of the block's cells; first, their scores
    float    argument[CELLS];  // of exp
    float    factor[CELLS];    // what the sums are multiplied by before a cell of `rises` is added
    uint32_t live, rises;      // cells that the mask lets through; cells that raise the greatest score
    uint32_t unsure;           // cells whose exp is to be computed by expf
    float    greatest, total;  // score; sum of weights
    float *  query;            // `head` floats, or as `quantise_query` leaves it
    float *  sum;              // `head` floats
    const uint16_t * mask;     // the row's, or null
    int      row, query_head;
};

struct alignas(64) Memory {
    float keys[CELLS * MAX_HEAD];     // F16: by cells; Q8_0: see `load_keys_q8`
    float tail[CELLS * GROUP];        // F16: the elements beyond whole groups, by elements
    float key_scale[CELLS * MAX_HEAD / QUANT];
    float values[CELLS * MAX_HEAD];   // by cells
    float query[MAX_PAIRS * MAX_HEAD], sum[MAX_PAIRS * MAX_HEAD];
    Pair  pair[MAX_PAIRS];
};

// Rows of LANES and more elements: converted ones, or (AS_HALVES) those of a cache.
struct Rows {
    const char * data;
    size_t       stride;
    int          count;
    template <bool AS_HALVES> __attribute__((always_inline)) Floats at(int row, int i) const {
        const char * p = data + stride * (size_t) (AS_HALVES && row >= count ? count - 1 : row);
        return AS_HALVES ? load_halves((const uint16_t *) p + i) : load_floats((const float *) p + i);
    }
};

// ---- step 1: products of queries and keys ------------------------------------------------------

// Cells beyond `count` repeat the last; nothing uses them.
INLINE const char * cell(const char * p, size_t stride, int i, int count) { return p + stride * (size_t) (i < count ? i : count - 1); }

static void load_keys_f16(const char * p, size_t stride, int count, int head, Memory & m) {
    const int whole = head / GROUP * GROUP;
    for (int c = 0; c < CELLS; c++) {
        const uint16_t * from = (const uint16_t *) cell(p, stride, c, count);
        float * to = m.keys + c * head;
        for (int i = 0; i < head; i += LANES) store_floats(to + i, load_halves(from + i));
        for (int i = whole; i < head; i++) m.tail[(i - whole) * CELLS + c] = to[i];
    }
}

// Add the products of the elements beyond whole groups to the sums s, one after the other, in double.
static void add_tail(const float * tail, const float * query, int n, float * s) {
    constexpr int PARTS = CELLS / HALF_LANES;
    Doubles sum[PARTS];
    float product[CELLS];
    for (int j = 0; j < PARTS; j++) sum[j] = wide(s + j * HALF_LANES);
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < CELLS; c += LANES) store_floats(product + c, mul(load_floats(tail + i * CELLS + c), floats(query[i])));
        for (int j = 0; j < PARTS; j++) sum[j] = add(sum[j], wide(product + j * HALF_LANES));
    }
    for (int j = 0; j < PARTS; j++) narrow(s + j * HALF_LANES, sum[j]);
}

// s[c] = query * key c for a block. GROUPS: head / GROUP.
template <int GROUPS, bool AS_HALVES> static void products_f16(const Memory & m, const Rows & keys, int head, const float * query, float * s) {
    for (int c0 = 0; c0 < CELLS; c0 += LANES) {
        Floats t[LANES];
#pragma GCC unroll 16
        for (int c = 0; c < LANES; c++) {
            Floats a[4] = { zero_f(), zero_f(), zero_f(), zero_f() };
#pragma GCC unroll 8
            for (int i = 0; i < GROUPS; i++) {
#pragma GCC unroll 4
                for (int j = 0; j < 4; j++) {
                    const int at = i * GROUP + j * LANES;
                    const Floats key = keys.at<AS_HALVES>(c0 + c, at);
                    a[j] = i == 0 ? mul(key, load_floats(query + at)) : fma(key, load_floats(query + at), a[j]);
                }
            }
            t[c] = add(add(a[0], a[2]), add(a[1], a[3]));
        }
        store_floats(s + c0, sum_lanes(t));
    }
    const int whole = GROUPS * GROUP;
    if (whole < head) add_tail(m.tail, query + whole, head - whole, s);
}

// Keys as groups of four bytes, one lane a cell: [head / 4][CELLS][4].
static void load_keys_q8(const char * p, size_t stride, int count, int head, Memory & m) {
    for (int c = 0; c < CELLS; c++) {
        const Quantised * from = (const Quantised *) cell(p, stride, c, count);
        for (int b = 0; b < head / QUANT; b++) m.key_scale[b * CELLS + c] = half_to_float(from[b].scale);
    }
    for (int c = 0; c < CELLS; c += 8) {
        for (int b = 0; b < head / QUANT; b++) {
            __m256i x[8], y[8];   // eight cells, turned into eight groups
            for (int i = 0; i < 8; i++) x[i] = _mm256_loadu_si256((const __m256i *) ((const Quantised *) cell(p, stride, c + i, count))[b].value);
            for (int i = 0; i < 8; i += 2) {
                y[i] = _mm256_unpacklo_epi32(x[i], x[i + 1]);
                y[i + 1] = _mm256_unpackhi_epi32(x[i], x[i + 1]);
            }
            for (int i = 0; i < 8; i += 4) {
                for (int j = 0; j < 2; j++) {
                    x[i + 2 * j] = _mm256_unpacklo_epi64(y[i + j], y[i + 2 + j]);
                    x[i + 2 * j + 1] = _mm256_unpackhi_epi64(y[i + j], y[i + 2 + j]);
                }
            }
            int8_t * to = (int8_t *) m.keys + (size_t) (b * 8 * CELLS + c) * 4;
            for (int i = 0; i < 4; i++) {
                __m256i low = _mm256_permute2x128_si256(x[i], x[i + 4], 0x20), high = _mm256_permute2x128_si256(x[i], x[i + 4], 0x31);
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
                low = _mm256_xor_si256(low, _mm256_set1_epi8((char) 0x80));   // 128 more, unsigned: see `quantise_query`
                high = _mm256_xor_si256(high, _mm256_set1_epi8((char) 0x80));
#endif
                _mm256_storeu_si256((__m256i *) (to + i * CELLS * 4), low);
                _mm256_storeu_si256((__m256i *) (to + (i + 4) * CELLS * 4), high);
            }
        }
    }
}

// A query as `head` bytes, then for each four of them -128 times their sum (which takes out the 128
// that was added to the keys), then the scales.
static void quantise_query(const Quantised * from, int head, float * to) {
    int8_t * value = (int8_t *) to;
    int32_t * less = (int32_t *) (value + head);
    float * scale = (float *) (value + 2 * head);
    for (int b = 0; b < head / QUANT; b++) {
        scale[b] = half_to_float(from[b].scale);
        for (int i = 0; i < QUANT; i++) value[b * QUANT + i] = from[b].value[i];
    }
    for (int i = 0; i < head / 4; i++) less[i] = -128 * (value[4 * i] + value[4 * i + 1] + value[4 * i + 2] + value[4 * i + 3]);
}

INLINE Floats four_products(const int8_t * keys, const int8_t * query, const int32_t * less) {
    int four;
    memcpy(&four, query, 4);
#if defined(__AVX512VNNI__)
    return to_floats(_mm512_dpbusd_epi32(_mm512_set1_epi32(*less), _mm512_loadu_si512(keys), _mm512_set1_epi32(four)));
#elif defined(__AVXVNNI__)
    return to_floats(_mm256_dpbusd_avx_epi32(_mm256_set1_epi32(*less), _mm256_loadu_si256((const __m256i *) keys), _mm256_set1_epi32(four)));
#else
    (void) less;
    const __m256i k = _mm256_loadu_si256((const __m256i *) keys);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_sign_epi8(k, k), _mm256_sign_epi8(_mm256_set1_epi32(four), k));
    return to_floats(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#endif
}

// s[c] = query * key c for a block; a[j] is lane j of the one register that ggml adds up in.
static void products_q8(const Memory & m, const Rows &, int head, const float * q, float * s) {
    const int8_t * query = (const int8_t *) q;
    const int32_t * less = (const int32_t *) (query + head);
    const float * scale = (const float *) (query + 2 * head);
    for (int c = 0; c < CELLS; c += LANES) {
        Floats a[8];
        for (int j = 0; j < 8; j++) a[j] = zero_f();
        for (int b = 0; b < head / QUANT; b++) {
            const Floats d = mul(load_floats(m.key_scale + b * CELLS + c), floats(scale[b]));
#pragma GCC unroll 8
            for (int j = 0; j < 8; j++) {
                const int four = b * 8 + j;
                a[j] = fma(d, four_products((const int8_t *) m.keys + (size_t) (four * CELLS + c) * 4, query + 4 * four, less + four), a[j]);
            }
        }
        for (int j = 0; j < 4; j++) a[j] = add(a[j + 4], a[j]);
        store_floats(s + c, add(add(a[0], a[2]), add(a[1], a[3])));
    }
}

// ---- step 2: scores to weights -----------------------------------------------------------------

static void mask_row(const uint16_t * mask, int count, uint16_t * to) {
    for (int c = 0; c < CELLS; c++) to[c] = c < count ? mask[c] : 0xFC00;   // minus infinity
}

INLINE uint32_t live_cells(const uint16_t * mask, int count) {
    if (!mask) return ALL >> (CELLS - count);
    uint16_t copy[CELLS];
    if (count < CELLS) mask_row(mask, count, copy), mask = copy;
    uint32_t live = 0;
    for (int c = 0; c < CELLS; c += LANES) live |= compare<_CMP_NEQ_UQ>(load_halves(mask + c), floats(-INFINITY)) << c;
    return live;
}

// Products to scores.
INLINE void score(const Node & n, Pair & p, int64_t first, int count) {
    for (int c = 0; c < CELLS; c += LANES) store_floats(p.weight + c, mul(load_floats(p.weight + c), floats(n.scale)));
    if (n.cap != 0.0f) {
        for (int c = 0; c < count; c++) p.weight[c] = n.cap * tanhf(p.weight[c]);
    }
    uint16_t copy[CELLS] = { 0 };
    const uint16_t * mask = copy;
    if (p.mask && count == CELLS) mask = p.mask + first;
    else if (p.mask) mask_row(p.mask + first, count, copy);
    for (int c = 0; c < CELLS; c += LANES) store_floats(p.weight + c, add(load_floats(p.weight + c), load_halves(mask + c)));
}

// Scores to arguments of exp: the greatest score goes from cell to cell.
INLINE void find_arguments(Pair & p) {
    p.rises = 0;
    for (int c = 0; c < CELLS; c += LANES) {
        p.rises |= compare<_CMP_GT_OQ>(load_floats(p.weight + c), floats(p.greatest)) << c;
        store_floats(p.argument + c, sub(load_floats(p.weight + c), floats(p.greatest)));
    }
    p.rises &= p.live;
    if (p.rises) {
        p.rises = 0;
        for (int c = 0; c < CELLS; c++) {
            if (!(p.live >> c & 1)) continue;
            const float s = p.weight[c];
            const bool rise = s > p.greatest;
            p.argument[c] = rise ? p.greatest - s : s - p.greatest;
            p.greatest = rise ? s : p.greatest;
            p.rises |= (uint32_t) rise << c;
        }
    }
    if (p.live != ALL) {
        for (int c = 0; c < CELLS; c++) p.argument[c] = p.live >> c & 1 ? p.argument[c] : 0.0f;
    }
}

// What exp_block left to do.
INLINE void settle(Pair & p) {
    for (; p.unsure; p.unsure &= p.unsure - 1) {
        const int c = __builtin_ctz(p.unsure);
        p.weight[c] = expf(p.argument[c]);
    }
    for (uint32_t left = p.rises; left; left &= left - 1) {
        const int c = __builtin_ctz(left);
        p.factor[c] = p.weight[c];
        p.weight[c] = 1.0f;
    }
}

INLINE bool plain(const Pair & p) { return p.live == ALL && !p.rises; }

// The sum of weights goes from cell to cell too; nothing waits for it.
INLINE void add_weights(Pair & p) {
    if (plain(p)) {
        for (int c = 0; c < CELLS; c++) p.total += p.weight[c];
        return;
    }
    for (uint32_t left = p.live; left; left &= left - 1) {
        const int c = __builtin_ctz(left);
        p.total = __builtin_fmaf(p.total, p.rises >> c & 1 ? p.factor[c] : 1.0f, p.weight[c]);
    }
}

// ---- step 3: values ----------------------------------------------------------------------------

static void load_values(const Node & n, const char * p, size_t stride, int count, float * to) {
    for (int c = 0; c < count; c++, p += stride, to += n.head) {
        if (n.half) {
            for (int i = n.in_halves; i < n.head; i += LANES) store_floats(to + i, load_halves((const uint16_t *) p + i));
        } else {
            for (int i = 0; i < n.head; i += LANES) {
                const Quantised & b = ((const Quantised *) p)[i / QUANT];
                store_floats(to + i, mul(from_bytes(b.value + i % QUANT), floats(half_to_float(b.scale))));
            }
        }
    }
}

template <bool HALF> INLINE Floats rounded(Floats x) { return HALF ? as_half(x) : x; }

// Add a block's values to the sums of PAIRS pairs, for N registers of the head from `at` on.
template <bool HALF, bool AS_HALVES, int N, int PAIRS> INLINE void add_plain(const Rows & values, int at, Pair * p) {
    Floats sum[PAIRS][N];
    for (int j = 0; j < PAIRS; j++)
        for (int i = 0; i < N; i++) sum[j][i] = load_floats(p[j].sum + at + i * LANES);
    for (int c = 0; c < CELLS; c++) {
#pragma GCC unroll 4
        for (int j = 0; j < PAIRS; j++) {
            const Floats w = floats(p[j].weight[c]);
#pragma GCC unroll 8
            for (int i = 0; i < N; i++) sum[j][i] = rounded<HALF>(fma(values.at<AS_HALVES>(c, at + i * LANES), w, sum[j][i]));
        }
    }
    for (int j = 0; j < PAIRS; j++)
        for (int i = 0; i < N; i++) store_floats(p[j].sum + at + i * LANES, sum[j][i]);
}

// The same for one pair, with cells left out or that raise the greatest score.
template <bool HALF, bool AS_HALVES, int N> INLINE void add_chosen(const Rows & values, int at, Pair & p) {
    Floats sum[N];
    for (int i = 0; i < N; i++) sum[i] = load_floats(p.sum + at + i * LANES);
    for (uint32_t left = p.live; left; left &= left - 1) {
        const int c = __builtin_ctz(left);
        if (p.rises >> c & 1) {
            for (int i = 0; i < N; i++) sum[i] = rounded<HALF>(mul(sum[i], floats(p.factor[c])));
        }
        for (int i = 0; i < N; i++) sum[i] = rounded<HALF>(fma(values.at<AS_HALVES>(c, at + i * LANES), floats(p.weight[c]), sum[i]));
    }
    for (int i = 0; i < N; i++) store_floats(p.sum + at + i * LANES, sum[i]);
}

template <bool HALF, bool AS_HALVES, int N> static void add_values(const Rows & values, int at, Pair * p, int n_pairs) {
    constexpr int TOGETHER = 16 / N;   // chains that hide how long an addition and two conversions take
    for (int i = 0; i < n_pairs;) {
        int together = 0;
        while (together < TOGETHER && i + together < n_pairs && plain(p[i + together])) together++;
        if (together < TOGETHER) together = 1;
        if (at == 0) for (int j = i; j < i + together; j++) add_weights(p[j]);
        if (together > 1) add_plain<HALF, AS_HALVES, N, TOGETHER>(values, at, p + i);
        else if (plain(p[i])) add_plain<HALF, AS_HALVES, N, 1>(values, at, p + i);
        else add_chosen<HALF, AS_HALVES, N>(values, at, p[i]);
        i += together;
    }
}

// Add values for elements [from, head).
template <bool HALF, bool AS_HALVES> static void add_all_values(const Rows & values, int from, int head, Pair * p, int n_pairs) {
    constexpr void (*with[])(const Rows &, int, Pair *, int) = {   // as many registers
        nullptr, add_values<HALF, AS_HALVES, 1>, add_values<HALF, AS_HALVES, 2>, add_values<HALF, AS_HALVES, 3>, add_values<HALF, AS_HALVES, 4>,
        add_values<HALF, AS_HALVES, 5>, add_values<HALF, AS_HALVES, 6>, add_values<HALF, AS_HALVES, 7>, add_values<HALF, AS_HALVES, 8>,
    };
    for (int at = from; at < head; at += 8 * LANES) with[head - at < 8 * LANES ? (head - at) / LANES : 8](values, at, p, n_pairs);
}

// Attention by ggml of one row to two cells, by which is tried out how it rounds. Query and keys are
// 0, so that the mask alone weighs the cells: 0 and `second`, a half.
struct Trial {
    ggml_context * ctx;
    ggml_tensor  * out = nullptr;
    uint16_t     * values = nullptr;   // 2 * head halves, 0 at first

    Trial(int head, int heads, uint16_t second, float bias)
        : ctx(ggml_init({ 1 << 21, nullptr, false })) {   // ggml's work takes 164 KB, and too little would end the program
        if (!ctx) return;
        ggml_tensor * q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, head, 1, heads), * k = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, head, 2);
        ggml_tensor * v = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, head, 2), * mask = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 2, 1);
        for (ggml_tensor * each : { q, k, v, mask }) memset(each->data, 0, ggml_nbytes(each));
        ((uint16_t *) mask->data)[1] = second;
        values = (uint16_t *) v->data;
        out = ggml_flash_attn_ext(ctx, q, k, v, mask, 1.0f, bias, 0.0f);
    }
    ~Trial() { if (ctx) ggml_free(ctx); }
    const float * result() const { return (const float *) out->data; }
    bool compute() {
        ggml_cgraph * graph = ggml_new_graph(ctx);
        ggml_build_forward_expand(graph, out);
        return ggml_graph_compute_with_ctx(ctx, graph, 1) == GGML_STATUS_SUCCESS;
    }
};

// ggml built for AVX512-FP16 rounds weights to F16, and multiplies and adds whole groups of HALVES
// elements in F16, in one rounding. What is left of a head it adds as everywhere.
#if defined(WITH_FP16)
WITH_FP16 INLINE __m512h all_halves(float x) { return _mm512_castsi512_ph(_mm512_set1_epi16((short) _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT))); }

// Add a block's values to a pair's sums, for HALVES elements from `at` on; `values` are a cache's.
WITH_FP16 static void add_halves(const Rows & values, int at, Pair & p) {
    constexpr int N = HALVES / 32;
    __m512h sum[N];
    for (int i = 0; i < N; i++) {   // they are halves already
        const float * from = p.sum + at + 32 * i;
        const __m256i low = _mm512_cvtps_ph(load_floats(from), _MM_FROUND_TO_NEAREST_INT), high = _mm512_cvtps_ph(load_floats(from + LANES), _MM_FROUND_TO_NEAREST_INT);
        sum[i] = _mm512_castsi512_ph(half_each(low, high));
    }
    for (uint32_t left = p.live; left; left &= left - 1) {
        const int c = __builtin_ctz(left);
        const __m512h w = all_halves(p.weight[c]);
        if (p.rises >> c & 1) {
            const __m512h factor = all_halves(p.factor[c]);
            for (int i = 0; i < N; i++) sum[i] = _mm512_mul_ph(sum[i], factor);
        }
        const uint16_t * value = (const uint16_t *) (values.data + values.stride * (size_t) c) + at;
        for (int i = 0; i < N; i++) sum[i] = _mm512_fmadd_ph(_mm512_loadu_ph(value + 32 * i), w, sum[i]);
    }
    for (int i = 0; i < N; i++) {
        store_floats(p.sum + at + 32 * i, _mm512_cvtph_ps(_mm512_castsi512_si256(_mm512_castph_si512(sum[i]))));
        store_floats(p.sum + at + 32 * i + LANES, _mm512_cvtph_ps(_mm512_extracti64x4_epi64(_mm512_castph_si512(sum[i]), 1)));
    }
}

// Let ggml add HALVES values, of 1 to 2, with a weight that is no half. It has a bias, so it is not ours.
static bool try_halves() {
    unsigned a = 7, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (!(d >> 23 & 1)) return false;
    constexpr uint16_t MASK = 0xBD9A;   // about -1.4, of which the bias leaves half
    Trial trial(HALVES, 1, MASK, 1.0f);
    if (!trial.ctx) return false;
    uint16_t * second = trial.values + HALVES;
    for (int i = 0; i < HALVES; i++) second[i] = (uint16_t) (0x3C00 + 8 * i);
    bool in_halves = trial.compute();
    const float weight = expf(0.5f * half_to_float(MASK));
    for (int i = 0; i < HALVES; i++) {
        in_halves &= trial.result()[i] == as_half(half_to_float(second[i]) * as_half(weight)) * (1.0f / (1.0f + weight));
    }
    return in_halves;
}
#else
static void add_halves(const Rows &, int, Pair &) {}
static bool try_halves() { return false; }
#endif

bool adds_in_halves() {
    static const bool answer = try_halves();
    return answer;
}

// ---- a piece of work ---------------------------------------------------------------------------

static void begin(const Node & n, int sequence, int kv_head, int number, int i, Memory & m) {
    Pair & p = m.pair[i];
    p.row = number / n.group;
    p.query_head = kv_head * n.group + number % n.group;
    p.query = m.query + i * MAX_HEAD;
    p.sum = m.sum + i * MAX_HEAD;
    p.greatest = -INFINITY;
    p.total = 0.0f;
    memset(p.sum, 0, n.head * sizeof(float));
    p.mask = nullptr;
    if (n.mask) {
        p.mask = (const uint16_t *) ((const char *) n.mask->data + p.row * n.mask->nb[1]
            + p.query_head % n.mask->ne[2] * n.mask->nb[2] + sequence % n.mask->ne[3] * n.mask->nb[3]);
    }
    const float * from = (const float *) ((const char *) n.q->data + p.row * n.q->nb[1] + p.query_head * n.q->nb[2] + sequence * n.q->nb[3]);
    ggml_get_type_traits_cpu(n.k->type)->from_float(from, m.keys, n.head);   // ggml rounds queries to the keys' type
    if (n.half) for (int j = 0; j < n.head; j += LANES) store_floats(p.query + j, load_halves((const uint16_t *) m.keys + j));
    else quantise_query((const Quantised *) m.keys, n.head, p.query);
}

// A sink is one more score, without a value. Compilers differ in whether they fuse this multiplication
// and addition of ggml's, so it is tried out once.
enum SinkOrder { FUSED, ROUNDED, UNKNOWN };

INLINE float with_sink(float total, float factor, SinkOrder order) {
    const volatile float product = total * factor;
    return order == FUSED ? __builtin_fmaf(total, factor, 1.0f) : product + 1.0f;
}

// Let ggml compute heads with different sinks. A head of 8 is none that is known here.
static SinkOrder try_sinks() {
    constexpr int HEAD = 8, HEADS = 64;
    constexpr uint16_t MASK = 0xB99A;   // about -0.7
    Trial trial(HEAD, HEADS, MASK, 0.0f);
    if (!trial.ctx) return UNKNOWN;
    for (int i = 0; i < 2 * HEAD; i++) trial.values[i] = 0x3C00;   // 1
    ggml_tensor * sinks = ggml_new_tensor_1d(trial.ctx, GGML_TYPE_F32, HEADS);
    for (int i = 0; i < HEADS; i++) ((float *) sinks->data)[i] = 0.03f * (float) (i + 1);
    ggml_flash_attn_ext_add_sinks(trial.out, sinks);
    const bool done = trial.compute();
    bool alike[] = { done, done };   // to FUSED, ROUNDED
    const float weight = expf(half_to_float(MASK)), sum = as_half(1.0f + weight);
    for (int i = 0; i < HEADS; i++) {
        const float factor = expf(-((float *) sinks->data)[i]);
        for (int j = 0; j < 2; j++) {
            alike[j] &= trial.result()[i * HEAD] == sum * factor * (1.0f / with_sink(1.0f + weight, factor, (SinkOrder) j));
        }
    }
    return alike[FUSED] == alike[ROUNDED] ? UNKNOWN : alike[FUSED] ? FUSED : ROUNDED;
}

static SinkOrder sink_order() {
    static const SinkOrder order = try_sinks();
    return order;
}

static void add_sink(const Node & n, Pair & p, float s) {
    if (s > p.greatest) {
        const float factor = expf(p.greatest - s);
        for (int i = 0; i < n.head; i += LANES) store_floats(p.sum + i, mul(load_floats(p.sum + i), floats(factor)));
        p.total = with_sink(p.total, factor, sink_order());
        p.greatest = s;
    } else {
        p.total += expf(s - p.greatest);
    }
}

static void finish(const Node & n, int sequence, Pair & p, ggml_tensor * op) {
    if (n.sinks) add_sink(n, p, ((const float *) n.sinks->data)[p.query_head]);
    float * to = (float *) ((char *) op->data + p.query_head * op->nb[1] + p.row * op->nb[2] + sequence * op->nb[3]);
    // ggml's sum over the parts of a split cache, here of one part: plus 0 makes no difference but
    // to the sign of 0, and a greatest score that is infinite gives no number.
    const Floats part = floats(n.split && p.total != 0.0f ? expf(p.greatest - p.greatest) : 1.0f);
    const Floats inverse = floats(p.total == 0.0f ? 0.0f : 1.0f / p.total);
    for (int i = 0; i < n.head; i += LANES) {
        const Floats x = load_floats(p.sum + i);
        store_floats(to + i, mul(n.split ? fma(x, part, zero_f()) : x, inverse));
    }
}

using Products = void (*)(const Memory & m, const Rows & keys, int head, const float * query, float * s);

template <bool AS_HALVES> static Products products_for(int groups) {
    constexpr Products with[] = {
        products_f16<0, AS_HALVES>, products_f16<1, AS_HALVES>, products_f16<2, AS_HALVES>, products_f16<3, AS_HALVES>, products_f16<4, AS_HALVES>,
        products_f16<5, AS_HALVES>, products_f16<6, AS_HALVES>, products_f16<7, AS_HALVES>, products_f16<8, AS_HALVES>,
    };
    return with[groups];
}

// Ask for a head's rows of the next block: they lie far apart, for what a processor foresees.
INLINE void ask_for(const ggml_tensor * cache, const char * block, int64_t next, int64_t cells) {
    const int count = (int) (cells - next < CELLS ? cells - next : CELLS);
    const size_t stride = cache->nb[1], bytes = ggml_row_size(cache->type, cache->ne[0]);
    block += CELLS * stride;
    for (int c = 0; c < count; c++, block += stride)
        for (size_t i = 0; i < bytes; i += 64) _mm_prefetch(block + i, _MM_HINT_T0);
}

static void piece(const Node & n, int sequence, int kv_head, int pair_0, int n_pairs, Memory & m, ggml_tensor * op) {
    const bool direct = n.half && n_pairs <= DIRECT && n.head % GROUP == 0;
    const Products products = !n.half ? products_q8 : direct ? products_for<true>(n.head / GROUP) : products_for<false>(n.head / GROUP);
    const auto add_block = !n.half ? add_all_values<false, false> : direct ? add_all_values<true, true> : add_all_values<true, false>;
    const size_t row = n.head * sizeof(float);
    for (int i = 0; i < n_pairs; i++) begin(n, sequence, kv_head, pair_0 + i, i, m);
    const int64_t blocks = (n.cells + CELLS - 1) / CELLS;
    for (int64_t block = 0; block < blocks - (planted == LOST_BLOCK); block++) {
        const int64_t first = CELLS * (planted == OTHER_ORDER && n.rows > MOST_IN_ORDER ? blocks - 1 - block : block);
        const int count = (int) (n.cells - first < CELLS ? n.cells - first : CELLS);
        uint32_t any = 0;
        for (int i = 0; i < n_pairs; i++) {
            Pair & p = m.pair[i];
            const Pair & last = m.pair[i ? i - 1 : 0];   // heads often share a mask
            p.live = i && p.mask == last.mask ? last.live : live_cells(p.mask ? p.mask + first : nullptr, count);
            any |= p.live;
        }
        if (!any) continue;
        const char * k = (const char *) n.k->data + first * n.k->nb[1] + kv_head * n.k->nb[2] + sequence * n.k->nb[3];
        const char * v = (const char *) n.v->data + first * n.v->nb[1] + kv_head * n.v->nb[2] + sequence * n.v->nb[3];
        ask_for(n.k, k, first + CELLS, n.cells);
        ask_for(n.v, v, first + CELLS, n.cells);
        Rows keys = { k, n.k->nb[1], count }, values = { v, n.v->nb[1], count };
        if (!direct) {
            (n.half ? load_keys_f16 : load_keys_q8)(k, n.k->nb[1], count, n.head, m);
            keys = { (const char *) m.keys, row, CELLS };
        }
        for (int i = 0; i < n_pairs; i++) {
            products(m, keys, n.head, m.pair[i].query, m.pair[i].weight);
            score(n, m.pair[i], first, count);
            find_arguments(m.pair[i]);
        }
        for (int i = 0; i < n_pairs; i++) m.pair[i].unsure = exp_block(m.pair[i].argument, m.pair[i].weight);
        for (int i = 0; i < n_pairs; i++) settle(m.pair[i]);
        for (int i = 0; i < n_pairs && n.in_halves; i++) {
            add_weights(m.pair[i]);
            for (int at = 0; at < n.in_halves; at += HALVES) add_halves(values, at, m.pair[i]);
        }
        if (n.in_halves == n.head) continue;
        if (!direct) {
            load_values(n, v, n.v->nb[1], count, m.values);
            values = { (const char *) m.values, row, CELLS };
        }
        add_block(values, n.in_halves, n.head, m.pair, n_pairs);
    }
    for (int i = 0; i < n_pairs; i++) finish(n, sequence, m.pair[i], op);
}

// Into how many pieces the pairs of a KV head are divided. More pieces share better, but each has
// to convert keys and values again, which takes about as long as CONVERT pairs.
static int divide(const Node & n, int n_threads) {
    constexpr double CONVERT = 0.6;
    const int pairs = n.pairs(), least = (pairs + MAX_PAIRS - 1) / MAX_PAIRS;
    int best = least;
    double best_time = INFINITY;
    for (int pieces = least; pieces <= pairs && pieces <= least + 2 * n_threads; pieces++) {
        const int rounds = (n.heads() * pieces + n_threads - 1) / n_threads;
        const double time = rounds * (CONVERT + (pairs + pieces - 1) / pieces);
        if (time < best_time) best = pieces, best_time = time;
    }
    return best;
}

static bool sane(const ggml_tensor * t, size_t unit) {
    bool good = t->nb[0] == ggml_type_size(t->type);
    for (int i = 1; i < 4; i++) good &= t->nb[i] % unit == 0 && t->nb[i] >> 40 == 0;
    return good;
}

}  // namespace

bool attention_knows(const ggml_tensor * op) {
    if (op->op != GGML_OP_FLASH_ATTN_EXT || op->type != GGML_TYPE_F32) return false;
    const ggml_tensor * q = op->src[0], * k = op->src[1], * v = op->src[2], * mask = op->src[3], * sinks = op->src[4];
    if (!q || !k || !v || q->type != GGML_TYPE_F32 || k->type != v->type) return false;
    if (k->type != GGML_TYPE_F16 && k->type != GGML_TYPE_Q8_0) return false;
    const int64_t head = k->ne[0], most_cells = 1 << 24, most_heads = 1024, most_sequences = 64;
    if (head < 32 || head > MAX_HEAD || head % (k->type == GGML_TYPE_F16 ? 16 : QUANT)) return false;
    if (q->ne[0] != head || v->ne[0] != head || op->ne[0] != head) return false;
    if (q->ne[1] < 1 || q->ne[1] > MAX_ROWS || k->ne[1] < 1 || k->ne[1] > most_cells || v->ne[1] != k->ne[1]) return false;
    if (k->ne[2] < 1 || q->ne[2] < 1 || q->ne[2] > most_heads || q->ne[2] % k->ne[2] || v->ne[2] != k->ne[2]) return false;
    if (q->ne[3] < 1 || q->ne[3] > most_sequences || k->ne[3] != q->ne[3] || v->ne[3] != q->ne[3]) return false;
    if (op->ne[1] != q->ne[2] || op->ne[2] != q->ne[1] || op->ne[3] != q->ne[3] || !ggml_is_contiguous(op)) return false;
    if (!sane(q, 4) || !sane(k, 2) || !sane(v, 2)) return false;
    if (mask && (mask->type != GGML_TYPE_F16 || !sane(mask, 2) || mask->ne[0] < k->ne[1] || mask->ne[1] < q->ne[1])) return false;
    if (mask && (mask->ne[2] < 1 || q->ne[2] % mask->ne[2] || mask->ne[3] < 1 || q->ne[3] % mask->ne[3])) return false;
    if (sinks && (sinks->type != GGML_TYPE_F32 || sinks->nb[0] != 4 || sinks->ne[0] != q->ne[2])) return false;
    float bias;
    memcpy(&bias, op->op_params + 1, sizeof(bias));
    if (bias != 0.0f || (op->op_params[3] != GGML_PREC_DEFAULT && op->op_params[3] != GGML_PREC_F32)) return false;
    if (k->type == GGML_TYPE_F16 && head >= HALVES) adds_in_halves();   // tried out now, while no thread computes
    return !sinks || sink_order() != UNKNOWN;
}

size_t attention_work_size(int n_threads, const ggml_tensor *) { return alignof(Memory) + sizeof(Memory) * (size_t) n_threads; }

void attention(const ggml_compute_params * params, ggml_tensor * op) {
    const Node n(op);
    Memory * memory = (Memory *) (((uintptr_t) params->wdata + alignof(Memory) - 1) / alignof(Memory) * alignof(Memory));
    const int pieces = divide(n, params->nth), pairs = n.pairs(), work = n.heads() * pieces;
    if (params->nth > 1) {
        if (params->ith == 0) ggml_threadpool_chunk_set(params->threadpool, params->nth);
        ggml_barrier(params->threadpool);
    }
    for (int i = params->ith; i < work; i = params->nth > 1 ? ggml_threadpool_chunk_add(params->threadpool, 1) : i + 1) {
        const int head = i / pieces, part = i % pieces, from = pairs * part / pieces, to = pairs * (part + 1) / pieces;
        piece(n, head / n.kv_heads, head % n.kv_heads, from, to - from, memory[params->ith], op);
        if ((planted == ONE_WIDTH && n.rows == THE_WIDTH) || (planted == ONE_THREAD && params->ith == THE_THREAD)) {
            const int row = from / n.group, query_head = head % n.kv_heads * n.group + from % n.group;
            spoil(*(float *) ((char *) op->data + query_head * op->nb[1] + row * op->nb[2] + head / n.kv_heads * op->nb[3]));
        }
    }
    if (planted == OVERRUN && params->ith == 0) ((float *) op->data)[ggml_nelements(op)] = 1.0f;
}

}  // namespace paceline::PACELINE_ISA
