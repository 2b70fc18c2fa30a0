// Products of quantised weights: LANES rows at a time, one chunk of their weights after the other.
//
// The order of a sum is this file's own, and the only thing that has to be the same for any number
// of columns: a row has one sum of floats. Block after block, the whole sum of its products is turned
// into a float and added with both scales, then its minimum. Within a block everything is whole
// numbers, which are exact, so each instruction set adds them as it likes.
#pragma once
#include "activations.h"
#include "codebooks.h"

namespace paceline::PACELINE_ISA {

// Bytes of a block of LANES rows.
template <class W> constexpr int GROUP_BYTES = W::BYTES * (W::INTERLEAVED ? LANES / 8 : LANES);

// Sixteen weight rows, which are two groups of LANES with registers of 32 bytes, or one of these groups.
// Plain rows beyond the matrix repeat its last one; of interleaved ones `row` are groups of eight.
constexpr int STEP = 16;
struct Rows {
    const char * const * row;
    int64_t      first;       // row of the matrix
    int          n_rows;      // that exist
    int64_t      k;           // weights of a row
    Ahead        ahead;       // the next rows

    template <class W> Rows group(int g) const {
        Rows part = *this;
        part.row += g * (W::INTERLEAVED ? LANES / 8 : LANES);
        part.first += g * LANES;
        part.n_rows = n_rows - g * LANES < LANES ? n_rows - g * LANES : LANES;
        if (ahead.p) part.ahead.p += (size_t) g * GROUP_BYTES<W> * (k / W::BLOCK);
        return part;
    }
};

// Columns whose sums registers hold, with one or two groups of rows. What is loaded of a column serves
// both groups, where a product takes so few operations that loading is what they wait for: with
// `dpbusd`, else for types of up to five bits; and with so many columns that unpacking counts little.
constexpr int columns(int groups) { return groups == 1 ? 8 : VNNI ? 6 : 4; }
constexpr int MANY = 8;
template <class W> constexpr bool IN_TWO_GROUPS = LANES < STEP && (VNNI || W::FITS >= 4);

// Add the products of 4 * J weights of R groups, from register `from` on, with those of N columns,
// `stride` bytes apart, to whole sums: without VNNI times the scale of this number; -1: 1.
template <class W, int J, int N, int R> INLINE void add_products(const Chunk * w, int from, const int8_t * y, size_t stride, [[maybe_unused]] int scale, Ints (*sum)[N]) {
    if constexpr (VNNI) {
#pragma GCC unroll 8
        for (int j = 0; j < J; j++) {
            Ints x[R];
            for (int r = 0; r < R; r++) x[r] = w[r].q[from + j];
#pragma GCC unroll 8
            for (int c = 0; c < N; c++) {
                const Ints v = same4(y + c * stride + 4 * j);
                for (int r = 0; r < R; r++) sum[r][c] = dot8(sum[r][c], x[r], v);
            }
        }
    } else {
        constexpr int TOGETHER = W::FITS == 0 ? 1 : W::FITS < J ? W::FITS : J;
#pragma GCC unroll 8
        for (int j = 0; j < J; j += TOGETHER) {
            Ints pairs[R][N];
#pragma GCC unroll 8
            for (int i = j; i < j + TOGETHER; i++) {
                Ints x[R], magnitude[R];
                for (int r = 0; r < R; r++) { x[r] = w[r].q[from + i]; magnitude[r] = W::FITS ? x[r] : abs8(x[r]); }
#pragma GCC unroll 8
                for (int c = 0; c < N; c++) {
                    const Ints v = same4(y + c * stride + 4 * i);
                    for (int r = 0; r < R; r++) {
                        const Ints products = maddubs(magnitude[r], W::FITS ? v : with_sign(v, x[r]));
                        pairs[r][c] = i == j ? products : add16(pairs[r][c], products);
                        keep_order(pairs[r][c]);
                    }
                }
            }
            for (int r = 0; r < R; r++) {
                const Ints factor = scale < 0 ? words(1) : w[r].scale[scale];
#pragma GCC unroll 8
                for (int c = 0; c < N; c++) {
                    sum[r][c] = add32(sum[r][c], madd(pairs[r][c], factor));
                    keep_order(sum[r][c]);
                }
            }
        }
    }
}

// N columns from c on times a chunk of R groups that begins with block `b0`.
template <class W, int N, int R> void add_blocks(const Chunk * w, int n_blocks, const Tile & t, int b0, int c, Floats * acc) {
    Floats total[R][N];
    for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) total[r][i] = acc[r * t.n + c + i];
    for (int b = 0; b < n_blocks; b++) {
        const size_t at = (size_t) (b0 + b) * t.n + c;
        Ints sum[R][N];
        for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) sum[r][i] = W::BIAS ? same4(t.start + at + i) : zero();
        add_products<W, 8, N, R>(w, 8 * b, t.q + at * 32, 32, -1, sum);
        for (int r = 0; r < R; r++) {
#pragma GCC unroll 8
            for (int i = 0; i < N; i++) {
                total[r][i] = fma(mul(w[r].d[b], floats(t.d[at + i])), to_floats(sum[r][i]), total[r][i]);
                if (W::MIN) total[r][i] = fma(w[r].m[b], floats(t.s[at + i]), total[r][i]);
            }
        }
    }
    for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) acc[r * t.n + c + i] = total[r][i];
}

// Add the sum of a superblock's products, with what its offsets add to it.
template <class W> INLINE void add_whole(const Chunk & w, const Superblock & y, Ints sum, Floats & total) {
    const Floats dy = floats(y.d);
    Ints offset = zero();
    if (W::OFFSET) {
#pragma GCC unroll 8
        for (int j = 0; j < 128 / W::SUB; j++) offset = dot16(offset, w.offset[j], same4(y.sums + 2 * j));
    }
    if (W::OFFSET > 0) sum = sub32(sum, mul32(offset, same_32(W::OFFSET)));
    total = fma(mul(w.d[0], dy), to_floats(sum), total);
    if (W::OFFSET == MINIMA) total = fma(sub(zero_f(), mul(w.m[0], dy)), to_floats(offset), total);
}

// N columns from c on times superblock `b` of R groups.
template <class W, int N, int R> void add_superblock(const Chunk * w, int, const Tile & t, int b, int c, Floats * acc) {
    constexpr int J = W::SUB / 4;
    const Superblock * y = t.super + (size_t) b * t.n + c;
    Ints sum[R][N];
    for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) sum[r][i] = zero();
    for (int s = 0; s < 256 / W::SUB; s++) {
        if constexpr (VNNI) {
            Ints part[R][N];
            for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) part[r][i] = W::BIAS && !W::OFFSET ? same4(y[i].start + s) : zero();
            add_products<W, J, N, R>(w, J * s, y->q + W::SUB * s, sizeof(Superblock), -1, part);
            for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) sum[r][i] = add32(sum[r][i], mul32(part[r][i], w[r].scale[s]));
        } else {
            add_products<W, J, N, R>(w, J * s, y->q + W::SUB * s, sizeof(Superblock), s, sum);
        }
    }
    for (int r = 0; r < R; r++) for (int i = 0; i < N; i++) add_whole<W>(w[r], y[i], sum[r][i], acc[r * t.n + c + i]);
}

template <class W> constexpr bool IS_SUPER = W::BLOCK == 256;

template <class W, int N, int R> INLINE void add_chunk(const Chunk * w, int n_blocks, const Tile & t, int b0, int c, Floats * acc) {
    if constexpr (N > columns(R)) return;
    else if constexpr (IS_SUPER<W>) add_superblock<W, N, R>(w, n_blocks, t, b0, c, acc);
    else add_blocks<W, N, R>(w, n_blocks, t, b0, c, acc);
}

INLINE void store_rows(Floats sum, int n_rows, float * out) {
    if (n_rows >= LANES) { store_floats(out, sum); return; }
    alignas(64) float lanes[LANES];
    store_floats(lanes, sum);
    memcpy(out, lanes, n_rows * sizeof(float));
}

// One column times blocks: what is unpacked stays in registers.
template <class W> void one_column_of_blocks(const Rows & rows, const Tile & t) {
    constexpr int GROUP = GROUP_BYTES<W>;
    Ahead ahead = rows.ahead;
    Floats total = zero_f();
    for (int b = 0; b < (int) (rows.k / 32); b++) {
        Chunk w;
        W::unpack(rows.row, (size_t) b * W::BYTES, w, 0);
        ahead.ask(GROUP);
        Ints sum[1][1] = { { W::BIAS ? same4(t.start + b) : zero() } };
        add_products<W, 8, 1, 1>(&w, 0, t.q + b * 32, 32, -1, sum);
        total = fma(mul(w.d[0], floats(t.d[b])), to_floats(sum[0][0]), total);
        if (W::MIN) total = fma(w.m[0], floats(t.s[b]), total);
    }
    store_rows(W::INTERLEAVED ? in_order(total) : total, rows.n_rows, t.out[0] + rows.first);
}

// One column times superblocks: most of the work would be to turn the rows. With registers of 32
// bytes their values are multiplied as they lie, and only the sums are turned.
template <class W, class = void> constexpr bool HAS_ONE_COLUMN = false;
template <class W> constexpr bool HAS_ONE_COLUMN<W, decltype((void) &W::row_scales)> = LANES == 8;
template <class W> constexpr bool HAS_ONE_COLUMN<W, std::enable_if_t<HAS_CODES<W>>> = LANES == 8;
template <> constexpr bool HAS_ONE_COLUMN<Q4_Kx8> = LANES == 8;
template <class W> void one_column(const Rows & rows, const Tile & t);

#if !defined(__AVX512VNNI__)
// The sums of the lanes of eight registers.
INLINE Ints turned_sums(const Ints * x) {
    Ints two[4], four[2];
    for (int i = 0; i < 4; i++) two[i] = add32(_mm256_unpacklo_epi32(x[2 * i], x[2 * i + 1]), _mm256_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
    for (int i = 0; i < 2; i++) four[i] = add32(_mm256_unpacklo_epi64(two[2 * i], two[2 * i + 1]), _mm256_unpackhi_epi64(two[2 * i], two[2 * i + 1]));
    return add32(_mm256_permute2x128_si256(four[0], four[1], 0x20), _mm256_permute2x128_si256(four[0], four[1], 0x31));
}

template <class W> void one_column(const Rows & rows, const Tile & t) {
    Ahead ahead = rows.ahead;
    Floats total = zero_f();
    for (int b = 0; b < (int) (rows.k / W::BLOCK); b++) {
        const size_t at = (size_t) b * W::BYTES;
        const Superblock & y = t.super[b];
        Ints sums[LANES];
        if constexpr (HAS_CODES<W>) {
            RowOfCodes<W> row[LANES];
            for (int r = 0; r < LANES; r++) RowOfCodes<W>::read(row[r], rows.row[r] + at);
            for (int r = 0; r < LANES; r++) {
                sums[r] = row[r].times(y);
                ahead.ask(W::BYTES);
            }
            total = fma(mul(W::d(rows.row, at), floats(y.d)), to_floats(turned_sums(sums)), total);
        } else {
            for (int r = 0; r < LANES; r++) {
                const Words scales = W::row_scales(rows.row[r] + at);
                Ints q[8], sum = zero();
                W::values(OneRow { rows.row[r] + at }, q);
#pragma GCC unroll 8
                for (int i = 0; i < 8; i++) sum = add32(sum, madd(maddubs(q[i], load(y.q + 32 * i)), spread(scales, i)));
                sums[r] = sum;
                ahead.ask(W::BYTES);
            }
            Chunk w;
            W::scales(rows.row, at, w);
            add_whole<W>(w, y, turned_sums(sums), total);
        }
    }
    store_rows(total, rows.n_rows, t.out[0] + rows.first);
}

// Interleaved rows lie so that two registers hold eight bytes of each of eight rows.
template <> inline void one_column<Q4_Kx8>(const Rows & rows, const Tile & t) {
    const Ints low = bytes(15);
    Ahead ahead = rows.ahead;
    Floats total = zero_f();
    for (int b = 0; b < (int) (rows.k / 256); b++) {
        const size_t at = (size_t) b * Q4_Kx8::BYTES;
        const Superblock & y = t.super[b];
        Chunk w;
        Q4_Kx8::scales(rows.row, at, w);
        Ints first = zero(), second = zero();   // rows 0 to 3, and 4 to 7
        for (int i = 0; i < 4; i++) {
            Ints pairs[4];
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++) {
                const char * p = rows.row[0] + at + 128 + 256 * i + 64 * k;
                const Ints x = load(p), z = load(p + 32), v = same8(y.q + 64 * i + 8 * k), u = same8(y.q + 64 * i + 32 + 8 * k);
                const Ints products[4] = { maddubs(and_(x, low), v), maddubs(and_(right16<4>(x), low), u), maddubs(and_(z, low), v), maddubs(and_(right16<4>(z), low), u) };
                for (int j = 0; j < 4; j++) pairs[j] = k == 0 ? products[j] : add16(pairs[j], products[j]);
            }
            for (int j = 0; j < 2; j++) {
                const Ints one = w.scale[2 * i + j], scale = VNNI ? or_(one, left32<16>(one)) : one;
                first = add32(first, madd(pairs[j], _mm256_unpacklo_epi32(scale, scale)));
                second = add32(second, madd(pairs[2 + j], _mm256_unpackhi_epi32(scale, scale)));
            }
            ahead.ask(Q4_Kx8::BYTES / 4);
        }
        const __m256 f = _mm256_castsi256_ps(first), s = _mm256_castsi256_ps(second);
        add_whole<Q4_Kx8>(w, y, add32(_mm256_castps_si256(_mm256_shuffle_ps(f, s, 0x88)), _mm256_castps_si256(_mm256_shuffle_ps(f, s, 0xdd))), total);
    }
    store_rows(in_order(total), rows.n_rows, t.out[0] + rows.first);
}
#endif

template <class W, class = void> constexpr bool READS_IN_ROWS = false;
template <class W> constexpr bool READS_IN_ROWS<W, decltype((void) W::READS)> = true;

// All columns of a tile times R groups of LANES rows.
template <class W, int R> void rows_together(const Rows & rows, const Tile & t) {
    using Add = void (*)(const Chunk *, int, const Tile &, int, int, Floats *);
    constexpr Add with[] = { nullptr, add_chunk<W, 1, R>, add_chunk<W, 2, R>, add_chunk<W, 3, R>, add_chunk<W, 4, R>, add_chunk<W, 5, R>, add_chunk<W, 6, R>, add_chunk<W, 7, R>, add_chunk<W, 8, R> };
    constexpr int PER_CHUNK = IS_SUPER<W> ? 1 : CHUNK, GROUP = GROUP_BYTES<W>, N = columns(R);
    const int n_blocks = (int) (rows.k / W::BLOCK), n_chunks = (n_blocks + PER_CHUNK - 1) / PER_CHUNK, n_parts = (t.n + N - 1) / N;
    Floats acc[R * MAX_TILE];
    for (int c = 0; c < R * t.n; c++) acc[c] = zero_f();
    for (int i = 0; i < n_chunks; i++) {
        const int b0 = (planted == OTHER_ORDER && t.n > MOST_IN_ORDER ? n_chunks - 1 - i : i) * PER_CHUNK;
        const int n = n_blocks - b0 < PER_CHUNK ? n_blocks - b0 : PER_CHUNK;
        Ahead ahead = rows.ahead;
        if (ahead.p) ahead.p += (size_t) b0 * R * GROUP;
        Chunk w[R];
        for (int r = 0; r < R; r++) {
            const char * const * row = rows.row + r * (W::INTERLEAVED ? LANES / 8 : LANES);
            for (int b = 0; b < n; b++) {
                const size_t at = (size_t) (b0 + b) * W::BYTES;
                if constexpr (READS_IN_ROWS<W>) { W::unpack(row, at, w[r], ahead); continue; }
                else if constexpr (IS_SUPER<W>) W::unpack(row, at, w[r]);
                else W::unpack(row, at, w[r], b);
                ahead.ask(GROUP);
            }
        }
        for (int p = 0; p < n_parts; p++) {
            const int from = t.n * p / n_parts, to = t.n * (p + 1) / n_parts;
            with[to - from](w, n, t, b0, from, acc);
        }
    }
    for (int r = 0; r < R; r++) for (int c = 0; c < t.n; c++) {
        const Floats sum = acc[r * t.n + c];
        store_rows(W::INTERLEAVED ? in_order(sum) : sum, rows.n_rows - r * LANES, t.out[c] + rows.first + r * LANES);
    }
}

// All columns of a tile times sixteen rows.
template <class W> void quantised_rows(const Rows & rows, const Tile & t) {
    if constexpr (IN_TWO_GROUPS<W>) if (t.n >= MANY && rows.n_rows > LANES) return rows_together<W, 2>(rows, t);
    for (int g = 0; g * LANES < rows.n_rows; g++) {
        const Rows group = rows.group<W>(g);
        if constexpr (!IS_SUPER<W>) { if (t.n == 1) { one_column_of_blocks<W>(group, t); continue; } }
        else if constexpr (HAS_ONE_COLUMN<W>) { if (t.n == 1) { one_column<W>(group, t); continue; } }
        rows_together<W, 1>(group, t);
    }
}

// What there is for a type.
struct Quantised {
    void (*rows)(const Rows &, const Tile &) = nullptr;
    Shape shape {};
    template <class W> static constexpr Quantised of() {
        if constexpr (IS_SUPER<W>) return { quantised_rows<W>, { W::SUB, W::BIAS } };
        else return { quantised_rows<W>, { 32, W::BIAS } };
    }
};
inline Quantised quantised(const WeightKind & kind) {
    switch (kind.type) {
        case GGML_TYPE_Q8_0:    return Quantised::of<Q8_0>();
        case GGML_TYPE_Q4_0:    return kind.repacked ? Quantised::of<Q4_0x8>() : Quantised::of<Q4_0>();
        case GGML_TYPE_Q4_1:    return Quantised::of<Q4_1>();
        case GGML_TYPE_Q5_0:    return Quantised::of<Q5_0>();
        case GGML_TYPE_Q5_1:    return Quantised::of<Q5_1>();
        case GGML_TYPE_IQ4_NL:  return kind.repacked ? Quantised::of<IQ4_NLx8>() : Quantised::of<IQ4_NL>();
        case GGML_TYPE_MXFP4:   return kind.repacked ? Quantised::of<MXFP4x8>() : Quantised::of<MXFP4>();
        case GGML_TYPE_Q2_K:    return kind.repacked ? Quantised::of<Q2_Kx8>() : Quantised::of<Q2_K>();
        case GGML_TYPE_Q3_K:    return Quantised::of<Q3_K>();
        case GGML_TYPE_Q4_K:    return kind.repacked ? Quantised::of<Q4_Kx8>() : Quantised::of<Q4_K>();
        case GGML_TYPE_Q5_K:    return Quantised::of<Q5_K>();
        case GGML_TYPE_Q6_K:    return Quantised::of<Q6_K>();
        case GGML_TYPE_IQ4_XS:  return Quantised::of<IQ4_XS>();
        case GGML_TYPE_IQ1_S:   return Quantised::of<IQ1_S>();
        case GGML_TYPE_IQ1_M:   return Quantised::of<IQ1_M>();
        case GGML_TYPE_IQ2_XXS: return Quantised::of<IQ2_XXS>();
        case GGML_TYPE_IQ2_XS:  return Quantised::of<IQ2_XS>();
        case GGML_TYPE_IQ2_S:   return Quantised::of<IQ2_S>();
        case GGML_TYPE_IQ3_XXS: return Quantised::of<IQ3_XXS>();
        case GGML_TYPE_IQ3_S:   return Quantised::of<IQ3_S>();
        default:                return {};
    }
}

}  // namespace
