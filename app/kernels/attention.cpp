// Attention (FLASH_ATTN_EXT) for 1 to 512 query rows.
//
// What it promises. The result of a query row depends on its query, its mask and the cells alone, bit
// for bit: not on the number of rows, the threads or the instruction set. Cells that the mask hides
// make no difference, whatever they hold and however many there are. Excepted are rows of
// not-a-numbers, whose other bits may differ, and rows that see a value which is not finite.
//
// What is computed. A "pair" is one query row with one of its heads. A pair goes over the cache in
// blocks of CELLS cells, which begin at multiples of CELLS. Scores are in units of log2 e, so that
// weights are powers of two. All sums are F32, each one a chain of fused multiplications and additions:
//
//   score[c]  = the sum over i of query[i] * key[c][i]; then soft cap and mask
//   greatest  = the greatest score so far; sums of the blocks before are scaled to it
//   weight[c] = 2^(score[c] - greatest), exactly 0 where the mask is minus infinity
//   sum[i]   += the sum over c of weight[c] * value[c][i]
//
// Adding a weight of 0 changes nothing but perhaps the sign of a sum of 0, which the result does not
// show. So blocks that are hidden as a whole are skipped, and cells beyond the last visible one of a
// tile. At each multiple of SPAN cells sums begin anew, and are merged with those of the spans before:
// so spans can be computed by different threads.
//
// How it is made fast. A block's keys and values are converted to F32 once for all pairs of a piece of
// work, keys with one lane a cell. Both products then are the same multiplication of matrices,
// `multiply`, in tiles of up to TALL pairs, whose sums stay in registers. Values that only one tile
// needs are converted where they are used.
//
// What is not finite. Hidden keys do no harm, since their scores are replaced; hidden values would be
// multiplied by 0. So a cell with values that are not finite is taken as zeros, and pairs that give it
// weight come out as not-a-numbers. Where values are used directly, none of them is hidden.
#include "attention.h"

#include "ggml-cpu.h"
#include "matmul.h"
#include "simd.h"

#include <math.h>
#include <string.h>

namespace paceline::PACELINE_ISA {

// ---- vectors -----------------------------------------------------------------------------------

#if defined(__AVX512VNNI__)
INLINE Floats load_words(const void * p) { return to_floats(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *) p))); }
INLINE Floats load_bytes(const void * p) { return to_floats(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *) p))); }
INLINE Floats last_bits_to_power(Floats x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 23)); }
INLINE Floats hide(Floats x, Floats mask) { return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(mask, floats(-INFINITY), _CMP_EQ_OQ), mask); }
INLINE bool any_nan(Floats x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0; }
INLINE __m256 max_of_halves(Floats x) { return _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1)); }
#else
INLINE Floats load_words(const void * p) { return to_floats(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *) p))); }
INLINE Floats load_bytes(const void * p) { return to_floats(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *) p))); }
INLINE Floats last_bits_to_power(Floats x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23)); }
INLINE Floats hide(Floats x, Floats mask) { return _mm256_blendv_ps(x, mask, _mm256_cmp_ps(mask, floats(-INFINITY), _CMP_EQ_OQ)); }
INLINE bool any_nan(Floats x) { return _mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0; }
INLINE __m256 max_of_halves(Floats x) { return x; }   // half as many lanes
#endif
INLINE float greatest_lane(Floats v) {
    const __m256 x = max_of_halves(v);
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ps(y, _mm_movehdup_ps(y)));
}

namespace {

constexpr int CELLS      = 64;    // of a block
constexpr int SPAN       = 512;   // cells whose sums do not depend on those before
constexpr int REGISTERS  = LANES == 16 ? 24 : 12;   // sums of a tile
constexpr int TALL       = REGISTERS / 2;           // most pairs of a tile
constexpr int MAX_PAIRS  = 192;       // of a piece of work
constexpr int FEW_PAIRS  = 32;        // up to so many pairs of a KV head, threads share spans,
constexpr int MAX_STATES = 1 << 14;   // if pairs times spans are no more than this
constexpr int MAX_HEAD   = 256;
constexpr int QUANT      = 32;        // elements of a block of Q8_0
constexpr int VECTORS    = CELLS / LANES;
constexpr uint16_t HIDDEN = 0xFC00;   // a mask of minus infinity
constexpr float LOG2_E   = 0x1.715476p+0f;

struct Quantised { uint16_t scale; int8_t value[QUANT]; };   // ggml's block_q8_0

// 2^x for x <= 0, within 0.9 of a last place; 0 below -126.5. x = k + r, and 2^r = 1 + r g(r), where
// g is a Chebyshev interpolation. A k of -127 has the bits of 0.
INLINE Floats exp2(Floats x) {
    constexpr float G[] = { 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6af6cp-5f, 0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f };
    x = OP(max_ps)(floats(-127.0f), x);   // x if that is not-a-number
    const Floats round = floats(0x1.8p23f + 127.0f), t = add(x, round), r = sub(x, sub(t, round));   // t's last bits: k + 127
    Floats p = floats(G[5]);
    for (int i = 4; i >= 0; i--) p = fma(p, r, floats(G[i]));
    return mul(fma(p, r, floats(1.0f)), last_bits_to_power(t));
}
INLINE float exp2(float x) { return OP(cvtss_f32)(exp2(floats(x))); }

// tanh(x), within 1e-7.
INLINE Floats tanh(Floats x) {
    const Floats sign = floats(-0.0f), t = exp2(mul(OP(or_ps)(x, sign), floats(2 * LOG2_E)));
    return OP(or_ps)(OP(div_ps)(sub(floats(1.0f), t), add(floats(1.0f), t)), OP(and_ps)(x, sign));
}

// a = a * x + b * y
INLINE void scale_and_add(float * a, float x, const float * b, float y, int n) {
    for (int i = 0; i < n; i += LANES) store_floats(a + i, fma(load_floats(a + i), floats(x), mul(load_floats(b + i), floats(y))));
}

template <int R, int N, class F> INLINE void each(F f) {
#pragma GCC unroll 16
    for (int r = 0; r < R; r++)
#pragma GCC unroll 8
        for (int j = 0; j < N; j++) f(r, j);
}

// Add a[r][i] * b(i, j) to sum[r][j], for one i after the other.
template <int R, int N, int A_ROW, class B> INLINE void multiply(const float * a, B b, int n, Floats (&sum)[R][N]) {
    for (int i = 0; i < n; i++) {
        Floats x[N];
#pragma GCC unroll 8
        for (int j = 0; j < N; j++) x[j] = b(i, j);
#pragma GCC unroll 16
        for (int r = 0; r < R; r++) {
            const Floats y = floats(a[r * A_ROW + i]);
#pragma GCC unroll 8
            for (int j = 0; j < N; j++) sum[r][j] = fma(x[j], y, sum[r][j]);
        }
    }
}

// ---- a node, a pair, a block, a thread's memory ------------------------------------------------

struct Node {
    const ggml_tensor * q, * k, * v, * mask, * sinks;
    int     head, rows, group, kv_heads, sequences;   // group: query heads of a KV head
    int64_t cells;
    float   scale, cap;   // of queries; of scores

    explicit Node(const ggml_tensor * op)
        : q(op->src[0]), k(op->src[1]), v(op->src[2]), mask(op->src[3]), sinks(op->src[4]),
          head((int) k->ne[0]), rows((int) q->ne[1]), group((int) (q->ne[2] / k->ne[2])),
          kv_heads((int) k->ne[2]), sequences((int) q->ne[3]), cells(k->ne[1]) {
        memcpy(&scale, op->op_params, sizeof(scale));
        memcpy(&cap, op->op_params + 2, sizeof(cap));
        if (cap != 0.0f) scale /= cap, cap *= LOG2_E;
        else scale *= LOG2_E;
        if (planted == WRONG_SCALE) scale *= 1.0001f;
    }
    int pairs() const { return rows * group; }   // of one KV head
    int heads() const { return kv_heads * sequences; }
    int spans() const { return (int) ((cells + SPAN - 1) / SPAN); }
};

struct Piece { int sequence, kv_head, first, count; };   // pairs of a KV head

struct Pair {
    const uint16_t * mask;      // the row's, or null
    const uint16_t * of_block;  // that of the block's cells; null: it is all 0
    int  seen;                  // cells of the block up to the last visible one
    bool holes;                 // some of these are hidden
};

// What a pair has of the cells up to now.
struct alignas(64) State {
    float sum[MAX_HEAD];
    float total[16];   // sums of weights, each of every 16th cell
    float greatest;    // score
};
constexpr int ROW = sizeof(State) / sizeof(float);   // no power of two, which would crowd a few sets of L1

enum Kind { F32, F16, Q8_0 };   // of rows of keys and values

// A block's values: floats of all pairs of a piece, or those of the cache.
struct Values {
    Kind         kind;
    const char * data;
    size_t       stride;
    uint64_t     strange;   // F32: a bit for each cell that was not finite
};

struct alignas(64) Memory {
    float    keys[MAX_HEAD * CELLS];     // one lane a cell
    float    values[CELLS * MAX_HEAD];   // by cells, `head` floats each
    float    weight[TALL][CELLS];        // of a tile; first, their scores
    float    query[MAX_PAIRS][ROW];
    State    state[MAX_PAIRS], span[MAX_PAIRS];
    uint16_t mask[MAX_PAIRS][CELLS];     // of the cache's last block, if there are fewer cells
    Pair     pair[MAX_PAIRS];
};

// ---- keys and values to floats -----------------------------------------------------------------

// 16 elements of a cell, from element i on, 16 bits each.
template <Kind KIND> INLINE __m256i words(const char * cell, int i) {
    if (KIND == F16) return _mm256_loadu_si256((const __m256i *) (cell + 2 * i));
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) (((const Quantised *) cell)[i / QUANT].value + i % QUANT)));
}

// Three times this turns eight rows of eight words around, in each 128 bits.
INLINE void shuffle(const Ints * x, Ints * y) {
    for (int j = 0; j < 4; j++) {
        y[2 * j] = OP(unpacklo_epi16)(x[j], x[j + 4]);
        y[2 * j + 1] = OP(unpackhi_epi16)(x[j], x[j + 4]);
    }
}

// The first `count` keys from p on; registers are filled up with the last one.
template <Kind KIND> static void load_keys(const char * p, size_t stride, int count, int head, float * to) {
    for (int c = 0; c < count; c += LANES, to += LANES) {
        const char * cell[LANES];
        for (int j = 0; j < LANES; j++) cell[j] = p + stride * (size_t) (c + j < count ? c + j : count - 1);
        Floats scale = floats(1.0f);
        for (int i = 0; i < head; i += 16) {
            if (KIND == Q8_0 && i % QUANT == 0) {
                uint16_t each[LANES];
                for (int j = 0; j < LANES; j++) each[j] = ((const Quantised *) cell[j])[i / QUANT].scale;
                scale = load_halves(each);
            }
            Ints x[8], y[8];
            alignas(64) uint16_t column[8][2][LANES];   // of elements i + j and i + j + 8
            for (int j = 0; j < 8; j++) {
#if defined(__AVX512VNNI__)
                x[j] = half_each(words<KIND>(cell[j], i), words<KIND>(cell[j + 8], i));
#else
                x[j] = words<KIND>(cell[j], i);
#endif
            }
            shuffle(x, y), shuffle(y, x), shuffle(x, y);
            for (int j = 0; j < 8; j++) {
#if defined(__AVX512VNNI__)
                y[j] = _mm512_shuffle_i64x2(y[j], y[j], 0xD8);
#endif
                OP_BITS(store)((Ints *) column[j], y[j]);
            }
            for (int j = 0; j < 16; j++) {
                const uint16_t * from = column[j % 8][j / 8];
                store_floats(to + (i + j) * CELLS, KIND == F16 ? load_halves(from) : mul(load_words(from), scale));
            }
        }
    }
}

// A register of a cell's values, from element i on.
template <Kind KIND> INLINE Floats value(const char * cell, int i) {
    if (KIND == F32) return load_floats(cell + 4 * i);
    if (KIND == F16) return load_halves(cell + 2 * i);
    const Quantised & block = ((const Quantised *) cell)[i / QUANT];
    return mul(load_bytes(block.value + i % QUANT), floats(half_to_float(block.scale)));
}

// The first `count` values from p on. Returns a bit for each cell that is not finite, which is taken as zeros.
template <Kind KIND> static uint64_t load_values(const char * p, size_t stride, int count, int head, float * to) {
    uint64_t strange = 0;
    for (int c = 0; c < count; c++, p += stride, to += head) {
        Floats check = zero_f();   // not-a-number if anything is not finite
        for (int i = 0; i < head; i += LANES) {
            const Floats x = value<KIND>(p, i);
            check = fma(x, zero_f(), check);
            store_floats(to + i, x);
        }
        if (any_nan(check)) memset(to, 0, head * sizeof(float)), strange |= 1ull << c;
    }
    return strange;
}

// ---- a tile: a block's cells for R pairs -------------------------------------------------------

// A pair's scores to weights and their sums. Returns what its sums before have to be multiplied by, as a power of two.
INLINE float weigh(const Node & n, const Pair & p, uint64_t strange, float * weight, State & state, float * total) {
    constexpr int TOTALS = 16 / LANES;
    Floats s[VECTORS], most = floats(-INFINITY);
    for (int j = 0; j < VECTORS; j++) {
        s[j] = load_floats(weight + j * LANES);
        if (n.cap != 0.0f) s[j] = mul(tanh(s[j]), floats(n.cap));
        if (p.of_block) {
            const Floats mask = load_halves(p.of_block + j * LANES);
            s[j] = hide(fma(mask, floats(LOG2_E), s[j]), mask);
        }
        most = OP(max_ps)(most, s[j]);
    }
    const float before = state.greatest, here = greatest_lane(most);
    state.greatest = here > before ? here : before;
    const float zero = state.greatest == -INFINITY ? 0.0f : state.greatest;   // of scores
    for (int j = 0; j < VECTORS; j++) {
        s[j] = exp2(sub(s[j], floats(zero)));
        store_floats(weight + j * LANES, s[j]);
    }
    for (int j = TOTALS; j < VECTORS; j++) s[j % TOTALS] = add(s[j % TOTALS], s[j]);
    for (int j = 0; j < TOTALS; j++) store_floats(total + j * LANES, s[j]);
    for (; strange; strange &= strange - 1) if (weight[__builtin_ctzll(strange)] != 0.0f) total[0] = NAN;
    return before - zero;
}

// Multiply the sums by their factors and add the values of so many cells: elements [i, head), N registers at a time.
template <Kind KIND, int R, int N> INLINE void add_values(const Values & v, const Memory & m, int cells, int head, int i, const float * factor, State * state) {
    for (; i + N * LANES <= head; i += N * LANES) {
        const auto at = [&](int c, int j) __attribute__((always_inline)) { return value<KIND>(v.data + v.stride * c, i + j * LANES); };
        Floats sum[R][N];
        each<R, N>([&](int r, int j) { sum[r][j] = mul(load_floats(state[r].sum + i + j * LANES), floats(factor[r])); });
        multiply<R, N, CELLS>(m.weight[0], at, cells, sum);
        each<R, N>([&](int r, int j) { store_floats(state[r].sum + i + j * LANES, sum[r][j]); });
    }
    if constexpr (N > 1) if (i < head) add_values<KIND, R, N / 2>(v, m, cells, head, i, factor, state);
}

template <int R> static void tile(const Node & n, const Values & v, Memory & m, int first, State * state) {
    constexpr int FIT = REGISTERS / R, N = FIT >= 8 && VECTORS >= 8 ? 8 : FIT >= 4 ? 4 : 2;
    const Pair * pair = m.pair + first;
    state += first;
    int cells = 0;
    for (int r = 0; r < R; r++) if (pair[r].seen > cells) cells = pair[r].seen;
    if (!cells) return;
    for (int c = 0; c < cells; c += N * LANES) {
        const auto at = [&](int i, int j) __attribute__((always_inline)) { return load_floats(m.keys + i * CELLS + c + j * LANES); };
        Floats score[R][N];
        each<R, N>([&](int r, int j) { score[r][j] = zero_f(); });
        multiply<R, N, ROW>(m.query[first], at, n.head, score);
        each<R, N>([&](int r, int j) { store_floats(m.weight[r] + c + j * LANES, score[r][j]); });
    }
    float factor[R + LANES], total[R][16];
    for (int r = 0; r < R; r++) factor[r] = weigh(n, pair[r], v.strange, m.weight[r], state[r], total[r]);
    for (int r = 0; r < R; r += LANES) store_floats(factor + r, exp2(load_floats(factor + r)));
    for (int r = 0; r < R; r++) scale_and_add(state[r].total, factor[r], total[r], 1.0f, 16);
    if (v.kind == F32) add_values<F32, R, N>(v, m, cells, n.head, 0, factor, state);
    else if (v.kind == F16) add_values<F16, R, N>(v, m, cells, n.head, 0, factor, state);
    else add_values<Q8_0, R, N>(v, m, cells, n.head, 0, factor, state);
}

// Tiles of R pairs from `first` on, then of fewer.
template <int R> static void tiles(const Node & n, const Values & v, Memory & m, int first, int count, State * state) {
    for (; first + R <= count; first += R) tile<R>(n, v, m, first, state);
    if constexpr (R > 1) if (first < count) tiles<R - 1>(n, v, m, first, count, state);
}

// ---- a piece of work ---------------------------------------------------------------------------

static void begin(const Node & n, const Piece & piece, Memory & m) {
    for (int i = 0; i < piece.count; i++) {
        const int row = (piece.first + i) / n.group, query_head = piece.kv_head * n.group + (piece.first + i) % n.group;
        m.pair[i].mask = !n.mask ? nullptr : (const uint16_t *) ((const char *) n.mask->data + row * n.mask->nb[1]
            + query_head % n.mask->ne[2] * n.mask->nb[2] + piece.sequence % n.mask->ne[3] * n.mask->nb[3]);
        const float * from = (const float *) ((const char *) n.q->data + row * n.q->nb[1] + query_head * n.q->nb[2] + piece.sequence * n.q->nb[3]);
        for (int j = 0; j < n.head; j += LANES) store_floats(m.query[i] + j, mul(load_floats(from + j), floats(n.scale)));
    }
}

// Find the mask of a block.
static void look(Pair & p, int64_t first, int count, uint16_t * copy) {
    const uint16_t * mask = p.mask ? p.mask + first : nullptr;
    if (count < CELLS) {
        for (int c = 0; c < CELLS; c++) copy[c] = c >= count ? HIDDEN : mask ? mask[c] : 0;
        mask = copy;
    }
    p = { p.mask, nullptr, CELLS, false };
    if (!mask) return;
    __m256i part[CELLS / 16], any = _mm256_setzero_si256();
    for (int i = 0; i < CELLS / 16; i++) any = _mm256_or_si256(any, part[i] = _mm256_loadu_si256((const __m256i *) mask + i));
    if (_mm256_testz_si256(any, any)) return;
    p = { p.mask, mask, 0, false };
    int n_visible = 0;
    for (int i = 0; i < CELLS / 16; i++) {
        const uint32_t visible = ~(uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi16(part[i], _mm256_set1_epi16((short) HIDDEN)));
        if (visible) p.seen = 16 * i + 16 - __builtin_clz(visible) / 2;
        n_visible += __builtin_popcount(visible) / 2;
    }
    p.holes = n_visible < p.seen;
}

// Ask for the rows of so many cells, which lie too far apart for a processor to fetch them by itself.
INLINE void ask_for(const ggml_tensor * cache, const char * p, int64_t count) {
    const size_t bytes = ggml_row_size(cache->type, cache->ne[0]);
    for (int64_t c = 0; c < count; c++, p += cache->nb[1])
        for (size_t i = 0; i < bytes; i += 64) _mm_prefetch(p + i, _MM_HINT_T0);
}

// The states of a piece's pairs after one span alone.
static void read_span(const Node & n, const Piece & piece, int span, Memory & m, State * state) {
    for (int i = 0; i < piece.count; i++) {
        memset(state[i].sum, 0, n.head * sizeof(float));
        memset(state[i].total, 0, sizeof(state[i].total));
        state[i].greatest = -INFINITY;
    }
    const int64_t begin = (int64_t) span * SPAN, end = begin + SPAN < n.cells ? begin + SPAN : n.cells;
    const int blocks = (int) ((end - begin + CELLS - 1) / CELLS);
    for (int block = 0; block < blocks; block++) {
        const bool in_order = planted != OTHER_ORDER || n.rows <= MOST_IN_ORDER;
        const int64_t first = begin + CELLS * (in_order ? block : blocks - 1 - block);
        const int count = (int) (end - first < CELLS ? end - first : CELLS);
        if (planted == LOST_BLOCK && first + count == n.cells) continue;
        int seen = 0;
        bool direct = piece.count <= TALL;   // one tile, of pairs that see the same cells, the first of the block
        for (int i = 0; i < piece.count; i++) {
            if (i && m.pair[i].mask == m.pair[i - 1].mask) m.pair[i] = m.pair[i - 1];   // heads often share a mask
            else look(m.pair[i], first, count, m.mask[i]);
            direct &= m.pair[i].of_block == m.pair[0].of_block && !m.pair[i].holes;
            if (m.pair[i].seen > seen) seen = m.pair[i].seen;
        }
        if (!seen) continue;
        const char * k = (const char *) n.k->data + first * n.k->nb[1] + piece.kv_head * n.k->nb[2] + piece.sequence * n.k->nb[3];
        const char * v = (const char *) n.v->data + first * n.v->nb[1] + piece.kv_head * n.v->nb[2] + piece.sequence * n.v->nb[3];
        const int64_t next = n.cells - first - count < CELLS ? n.cells - first - count : CELLS;
        ask_for(n.k, k + CELLS * n.k->nb[1], next);
        ask_for(n.v, v + CELLS * n.v->nb[1], next);
        const Kind kind = n.k->type == GGML_TYPE_F16 ? F16 : Q8_0;
        (kind == F16 ? load_keys<F16> : load_keys<Q8_0>)(k, n.k->nb[1], seen, n.head, m.keys);
        Values values = { kind, v, n.v->nb[1], 0 };
        if (!direct) {
            values = { F32, (const char *) m.values, n.head * sizeof(float), 0 };
            values.strange = (kind == F16 ? load_values<F16> : load_values<Q8_0>)(v, n.v->nb[1], seen, n.head, m.values);
        }
        tiles<TALL>(n, values, m, 0, piece.count, state);
    }
}

struct Factors { float a, b, greatest; };

// The factors that bring sums with these greatest scores to the same one.
INLINE Factors meet(float a, float b) {
    const float greatest = a > b ? a : b, zero = greatest == -INFINITY ? 0.0f : greatest;
    return { exp2(a - zero), exp2(b - zero), greatest };
}

static void merge(State & into, const State & later, int head) {
    const Factors f = meet(into.greatest, later.greatest);
    into.greatest = f.greatest;
    scale_and_add(into.total, f.a, later.total, f.b, 16);
    scale_and_add(into.sum, f.a, later.sum, f.b, head);
}

// Write the result of a KV head's pair.
static void finish(const Node & n, int ith, int sequence, int kv_head, int pair, const State & state, ggml_tensor * op) {
    const int row = pair / n.group, query_head = kv_head * n.group + pair % n.group;
    float total = 0.0f, factor = 1.0f;
    for (float each : state.total) total += each;
    if (n.sinks) {   // one more score, without a value
        const Factors f = meet(state.greatest, ((const float *) n.sinks->data)[query_head] * LOG2_E);
        total = __builtin_fmaf(total, f.a, f.b);
        factor = f.a;
    }
    const Floats share = floats(total == 0.0f ? 0.0f : factor / total);
    float * to = (float *) ((char *) op->data + query_head * op->nb[1] + row * op->nb[2] + sequence * op->nb[3]);
    for (int i = 0; i < n.head; i += LANES) store_floats(to + i, fma(load_floats(state.sum + i), share, zero_f()));
    if ((planted == ONE_WIDTH && n.rows == THE_WIDTH) || (planted == ONE_THREAD && ith == THE_THREAD) || (planted == ONE_ISA && !VNNI)) spoil(*to);
}

// Into how many pieces the pairs of a KV head are divided: two for each thread, but no piece so small that
// converting keys and values again takes longer than what is gained, and none too large for `Memory`.
static int divide(const Node & n, int n_threads) {
    constexpr int LEAST = 8;
    const int least = (n.pairs() + MAX_PAIRS - 1) / MAX_PAIRS, most = (n.pairs() + LEAST - 1) / LEAST;
    const int wanted = n_threads > 1 ? (2 * n_threads + n.heads() - 1) / n.heads() : 1;
    return wanted <= least ? least : wanted < most ? wanted : most;
}

// How many states there are if threads share spans; 0: they do not.
static int64_t shared_states(const Node & n, int n_threads) {
    const int64_t states = (int64_t) n.heads() * n.pairs() * n.spans();
    return n_threads > 1 && n.spans() > 1 && n.pairs() <= FEW_PAIRS && states <= MAX_STATES ? states : 0;
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
    return bias == 0.0f && (op->op_params[3] == GGML_PREC_DEFAULT || op->op_params[3] == GGML_PREC_F32);
}

size_t attention_work_size(int n_threads, const ggml_tensor * op) {
    return alignof(Memory) + sizeof(Memory) * (size_t) n_threads + sizeof(State) * (size_t) shared_states(Node(op), n_threads);
}

void attention(const ggml_compute_params * params, ggml_tensor * op) {
    const Node n(op);
    const int ith = params->ith, nth = params->nth, heads = n.heads(), pairs = n.pairs(), spans = n.spans();
    Memory * memory = (Memory *) (((uintptr_t) params->wdata + alignof(Memory) - 1) / alignof(Memory) * alignof(Memory));
    Memory & m = memory[ith];
    State * shared = shared_states(n, nth) ? (State *) (memory + nth) : nullptr;   // by heads, spans and pairs
    const int parts = shared ? 1 : divide(n, nth), work = heads * (shared ? spans : parts);
    if (nth > 1) {
        if (ith == 0) ggml_threadpool_chunk_set(params->threadpool, nth);
        ggml_barrier(params->threadpool);
    }
    for (int i = ith; i < work; i = nth > 1 ? ggml_threadpool_chunk_add(params->threadpool, 1) : i + 1) {
        const int head = i % heads, part = shared ? 0 : parts - 1 - i / heads;   // a prompt's last rows, which see most, come first
        const int first = pairs * part / parts, count = pairs * (part + 1) / parts - first;
        const Piece piece = { head / n.kv_heads, head % n.kv_heads, first, count };
        begin(n, piece, m);
        if (shared) {
            read_span(n, piece, i / heads, m, shared + (head * spans + i / heads) * pairs);
            continue;
        }
        for (int span = 0; span < spans; span++) {
            read_span(n, piece, span, m, span ? m.span : m.state);
            for (int j = 0; j < count && span; j++) merge(m.state[j], m.span[j], n.head);
        }
        for (int j = 0; j < count; j++) finish(n, ith, piece.sequence, piece.kv_head, first + j, m.state[j], op);
    }
    if (shared) {
        ggml_barrier(params->threadpool);
        for (int i = ith; i < heads * pairs; i += nth) {
            State * state = shared + i / pairs * spans * pairs + i % pairs;
            for (int span = 1; span < spans; span++) merge(*state, state[span * pairs], n.head);
            finish(n, ith, i / pairs / n.kv_heads, i / pairs % n.kv_heads, i % pairs, *state, op);
        }
    }
    if (planted == OVERRUN && ith == 0) ((float *) op->data)[ggml_nelements(op)] = 1.0f;
}

}  // namespace paceline::PACELINE_ISA
