// How each quantised type of ggml is unpacked, for LANES rows at a time.
//
// The layouts are ggml's (ggml-common.h, and repack.cpp for rows that it has interleaved). Two
// families: blocks of 32 weights with one float scale, of which a `Chunk` holds several, and
// superblocks of 256 with whole scales for each 16 or 32 of them.
#pragma once
#include "simd.h"

namespace paceline::PACELINE_ISA {

// Weights of LANES rows, with one lane a row: a superblock of 256 of each, or up to CHUNK blocks of 32. A
// register of `q` holds four weights of each row, as unsigned bytes that are BIAS too large, or
// (FITS == 0) as signed ones.
constexpr int CHUNK = 20;
struct alignas(64) Chunk {
    Ints   q[8 * CHUNK];
    Ints   scale[16];   // superblocks: the scale of each sub-block, as `scale_lanes` makes them
    Ints   offset[8];   // superblocks: what the activations' sums are multiplied by, two words for two sub-blocks
    Floats d[CHUNK], m[CHUNK];   // scale and minimum of each block; of a superblock the first
};

// The type of a product. What a type says of itself:
//   BLOCK    weights of a block; BYTES of it, for one row or (INTERLEAVED) eight
//   FITS     without VNNI: how many sums of two products fit into 16 bits together
//   SUB      superblocks: weights of a sub-block
//   OFFSET   superblocks: 0 nothing, MINIMA, or the bias times the scales
//   MIN      blocks of 32: a minimum times the activations' sum is added
constexpr int MINIMA = -1;
constexpr bool BIAS_AS_OFFSET = LANES == 8;   // else sums begin with it, which needs `dpbusd`

// Types of signed bytes. `dpbusd` wants the weights unsigned.
constexpr int SIGNED_BIAS = VNNI ? 128 : 0;
INLINE Ints signed_bytes(Ints x) { return VNNI ? xor_(x, bytes(0x80)) : x; }

// ------------------------------------------------------------------------------- turning rows

// The 16 bytes at `at` of each row, turned: register j gets the j-th four of each.
INLINE void turn(const char * const * row, size_t at, Ints * x) {
    Ints in[4];
    for (int i = 0; i < 4; i++) {
        const auto four = [&](int r) { return _mm_loadu_si128((const __m128i *) (row[r] + at)); };
        const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(four(i)), four(i + 4), 1);
#if defined(__AVX512VNNI__)
        in[i] = _mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi256_si512(low), four(i + 8), 2), four(i + 12), 3);
#else
        in[i] = low;
#endif
    }
    const Ints a = OP(unpacklo_epi32)(in[0], in[1]), b = OP(unpackhi_epi32)(in[0], in[1]);
    const Ints c = OP(unpacklo_epi32)(in[2], in[3]), d = OP(unpackhi_epi32)(in[2], in[3]);
    x[0] = OP(unpacklo_epi64)(a, c); x[1] = OP(unpackhi_epi64)(a, c);
    x[2] = OP(unpacklo_epi64)(b, d); x[3] = OP(unpackhi_epi64)(b, d);
}
INLINE void turn_32(const char * const * row, size_t at, Ints * x) { turn(row, at, x); turn(row, at + 16, x + 4); }

// What lies further on in memory, and is asked for while these weights are unpacked: a little at a time,
// since few requests can wait at once.
struct Ahead {
    const char * p;   // or nullptr
    bool into_l1;
    void ask(size_t n) {
        if (!p) return;
        if (into_l1) for (size_t i = 0; i < n; i += 64) _mm_prefetch(p + i, _MM_HINT_T0);
        else for (size_t i = 0; i < n; i += 64) _mm_prefetch(p + i, _MM_HINT_T1);
        p += n;
    }
};

// How the values of a superblock are read, 32 bytes at a time: turned, or those of one row as they lie.
struct Turned {
    static constexpr int N = 8;   // registers for 32 bytes
    const char * const * row;
    size_t at;
    Ahead & ahead;
    size_t step;                  // bytes that are asked for with each 32 read
    void operator()(int offset, Ints * x) const { turn_32(row, at + offset, x); ahead.ask(step); }
};
struct OneRow {   // for registers of 32 bytes
    static constexpr int N = 1;
    const char * p;
    void operator()(int offset, Ints * x) const { x[0] = load(p + offset); }
};

// Four bytes, or a half as a float, of each row.
INLINE Ints fours(const char * const * row, size_t at) {
    const auto v = [&](int r) { int x; memcpy(&x, row[r] + at, 4); return x; };
#if defined(__AVX512VNNI__)
    return _mm512_setr_epi32(v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7), v(8), v(9), v(10), v(11), v(12), v(13), v(14), v(15));
#else
    return _mm256_setr_epi32(v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7));
#endif
}
INLINE Floats halves(const char * const * row, size_t at) {
    const auto v = [&](int r) { return (short) half_at(row[r] + at); };
#if defined(__AVX512VNNI__)
    return _mm512_cvtph_ps(_mm256_setr_epi16(v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7), v(8), v(9), v(10), v(11), v(12), v(13), v(14), v(15)));
#else
    return _mm256_cvtph_ps(_mm_setr_epi16(v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7)));
#endif
}
// The half in the low 16 bits of each lane.
INLINE Floats low_halves(Ints x) {
#if defined(__AVX512VNNI__)
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(x));
#else
    const Ints words = _mm256_packus_epi32(and_(x, _mm256_set1_epi32(0xffff)), zero());
    return _mm256_cvtph_ps(_mm256_castsi256_si128(_mm256_permute4x64_epi64(words, 0x08)));
#endif
}

// A scale and a minimum, the low and the high half of each lane.
INLINE void two_halves(Ints x, Floats & d, Floats & m) { d = low_halves(x); m = low_halves(right32<16>(x)); }

// Nibbles: of four registers the low ones to q, the high ones to `high`.
INLINE void nibbles(const Ints * x, Ints * low, Ints * high) {
    for (int j = 0; j < 4; j++) { low[j] = and_(x[j], bytes(15)); high[j] = and_(right16<4>(x[j]), bytes(15)); }
}

// A pattern for `lookup` that gives each lane four of its own bytes, by their numbers; -1: 0.
INLINE Ints pattern(int a, int b, int c, int d) {
    const __m128i base = _mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c), at = _mm_setr_epi8(
        (char) a, (char) b, (char) c, (char) d, (char) a, (char) b, (char) c, (char) d, (char) a, (char) b, (char) c, (char) d, (char) a, (char) b, (char) c, (char) d);
    return each_128(_mm_or_si128(_mm_add_epi8(at, base), _mm_and_si128(at, _mm_set1_epi8((char) 0x80))));
}

// A scale in each lane: with VNNI as 32 bits, else as two equal words.
INLINE Ints scale_lanes(Ints x) { return VNNI ? x : or_(x, left32<16>(x)); }
// Byte t of each lane, unsigned or signed.
INLINE Ints unsigned_scale(Ints x, int t) { return VNNI ? lookup(x, pattern(t, -1, -1, -1)) : lookup(x, pattern(t, -1, t, -1)); }
INLINE Ints signed_scale(Ints x, int t) { return VNNI ? right32_signed<24>(lookup(x, pattern(-1, -1, -1, t))) : right16_signed<8>(lookup(x, pattern(-1, t, -1, t))); }
// Bytes t and t + 1 of each lane as two words.
INLINE Ints unsigned_pair(Ints x, int t) { return lookup(x, pattern(t, -1, t + 1, -1)); }
INLINE Ints signed_pair(Ints x, int t) { return right16_signed<8>(lookup(x, pattern(-1, t, -1, t + 1))); }

// The sixteen values of the types with a table (ggml-common.h).
alignas(16) static const int8_t TABLE_IQ4_NL[16] = {-127,-104,-83,-65,-49,-35,-22,-10,1,13,25,38,53,69,89,113};
alignas(16) static const int8_t TABLE_MXFP4[16]  = {0,1,2,3,4,6,8,12,0,-1,-2,-3,-4,-6,-8,-12};

// ------------------------------------------------------------------------- blocks of 32 weights

// Block b of the chunk from the block at `at` on.
struct Q8_0 {
    static constexpr int BLOCK = 32, BYTES = 34, BIAS = SIGNED_BIAS, FITS = 0; static constexpr bool MIN = false, INTERLEAVED = false;
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        w.d[b] = halves(row, at);
        turn_32(row, at + 2, w.q + 8 * b);
        if (VNNI) for (int j = 0; j < 8; j++) w.q[8 * b + j] = signed_bytes(w.q[8 * b + j]);
    }
};
struct Q4_0 {
    static constexpr int BLOCK = 32, BYTES = 18, BIAS = 8, FITS = 8; static constexpr bool MIN = false, INTERLEAVED = false;
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        Ints x[4];
        w.d[b] = halves(row, at);
        turn(row, at + 2, x);
        nibbles(x, w.q + 8 * b, w.q + 8 * b + 4);
    }
};
struct Q4_1 {
    static constexpr int BLOCK = 32, BYTES = 20, BIAS = 0, FITS = 8; static constexpr bool MIN = true, INTERLEAVED = false;
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        Ints x[4];
        two_halves(fours(row, at), w.d[b], w.m[b]);
        turn(row, at + 4, x);
        nibbles(x, w.q + 8 * b, w.q + 8 * b + 4);
    }
};
// A fifth bit for 32 weights, from 32 bits of each row.
INLINE void add_fifth_bits(Ints bits, Ints * q) {
    const Ints high[2] = { left16<4>(bits), bits };   // the bits of even registers' weights moved to where those of odd ones are
    for (int j = 0; j < 8; j++) {
        const Ints spread = lookup(high[j % 2], pattern(j / 2, j / 2, j / 2, j / 2)), bit = same_32((int) 0x80402010);
#if defined(__AVX512VNNI__)
        q[j] = _mm512_mask_add_epi8(q[j], _mm512_test_epi8_mask(spread, bit), q[j], bytes(16));
#else
        q[j] = or_(q[j], _mm256_min_epu8(and_(spread, bit), bytes(16)));
#endif
    }
}
struct Q5_0 {
    static constexpr int BLOCK = 32, BYTES = 22, BIAS = 16, FITS = 4; static constexpr bool MIN = false, INTERLEAVED = false;
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        Ints x[4];
        w.d[b] = halves(row, at);
        turn(row, at + 6, x);
        nibbles(x, w.q + 8 * b, w.q + 8 * b + 4);
        add_fifth_bits(fours(row, at + 2), w.q + 8 * b);
    }
};
struct Q5_1 {
    static constexpr int BLOCK = 32, BYTES = 24, BIAS = 0, FITS = 4; static constexpr bool MIN = true, INTERLEAVED = false;
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        Ints x[4];
        two_halves(fours(row, at), w.d[b], w.m[b]);
        turn(row, at + 8, x);
        nibbles(x, w.q + 8 * b, w.q + 8 * b + 4);
        add_fifth_bits(fours(row, at + 4), w.q + 8 * b);
    }
};
INLINE void looked_up(const Ints * x, Ints table, Ints * q) {
    nibbles(x, q, q + 4);
    for (int j = 0; j < 8; j++) q[j] = lookup(table, q[j]);
}
struct IQ4_NL {
    static constexpr int BLOCK = 32, BYTES = 18, BIAS = SIGNED_BIAS, FITS = 0; static constexpr bool MIN = false, INTERLEAVED = false;
    static inline Ints table() { return signed_bytes(same16(TABLE_IQ4_NL)); }
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        Ints x[4];
        w.d[b] = halves(row, at);
        turn(row, at + 2, x);
        looked_up(x, table(), w.q + 8 * b);
    }
};
// Halves of 2 to the powers of (e - 127), as bits of floats (ggml-impl.h): the two least are denormals.
INLINE Floats half_powers(Ints e) {
    const Ints least = OP(sllv_epi32)(same_32(0x00200000), OP(min_epi32)(e, same_32(2)));
    return (Floats) OP(max_epi32)(least, left32<23>(sub32(e, same_32(1))));
}
struct MXFP4 {
    static constexpr int BLOCK = 32, BYTES = 17, BIAS = 12, FITS = 4; static constexpr bool MIN = false, INTERLEAVED = false;
    static inline Ints table() { return add8(same16(TABLE_MXFP4), bytes(BIAS)); }
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, int b) {
        Ints x[4];
        w.d[b] = half_powers(and_(fours(row, at), same_32(255)));
        turn(row, at + 1, x);
        looked_up(x, table(), w.q + 8 * b);
    }
};

// -------------------------------------------------------------------- superblocks of 256 weights

// For one row as it lies: the scales of sub-blocks as words, such that `spread` brings those of 32
// values to them.
using Words = __m256i;
INLINE Words eight_words(uint64_t scales) { return _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long) scales))); }
INLINE Words sixteen_words(__m128i scales) {   // signed; even ones first, then odd ones
    return _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)));
}
INLINE __m256i spread(Words scales, int t) { return _mm256_shuffle_epi8(scales, _mm256_set1_epi16((short) ((2 * t + 1) << 8 | 2 * t))); }
INLINE uint64_t six_bit_scales(const char * p) {
    uint32_t a, c; memcpy(&a, p, 4); memcpy(&c, p + 8, 4);
    return (uint64_t) ((c & 0x0f0f0f0f) | (a >> 2 & 0x30303030)) << 32 | (a & 0x3f3f3f3f);
}

// A type whose rows can be read both ways.
template <class W> struct InRows {
    INLINE void unpack(const char * const * row, size_t at, Chunk & w, Ahead & ahead) {
        W::scales(row, at, w);
        W::values(Turned { row, at, ahead, (size_t) LANES * W::BYTES / W::READS }, w.q);
    }
};

// Scales and minima of 6 bits, as Q4_K and Q5_K pack eight of each into 12 bytes; the 16 bytes
// before the quants hold them after d and dmin.
INLINE void six_bits(Ints a, Ints b, Ints c, Ints * scales, Ints * minima) {
    const Ints six = bytes(63), four = bytes(15), two = bytes(0x30);
    scales[0] = and_(a, six);
    scales[1] = or_(and_(c, four), and_(right16<2>(a), two));
    minima[0] = and_(b, six);
    minima[1] = or_(and_(right16<4>(c), four), and_(right16<2>(b), two));
}
INLINE void scales_and_minima(const char * const * row, size_t at, Chunk & w) {
    Ints x[4], scales[2], minima[2];
    turn(row, at, x);
    two_halves(x[0], w.d[0], w.m[0]);
    six_bits(x[1], x[2], x[3], scales, minima);
    for (int t = 0; t < 8; t++) w.scale[t] = unsigned_scale(scales[t / 4], t % 4);
    for (int i = 0; i < 4; i++) w.offset[i] = unsigned_pair(minima[i / 2], i % 2 * 2);
}
struct Q4_K : InRows<Q4_K> {
    static constexpr int BLOCK = 256, BYTES = 144, READS = 4, SUB = 32, BIAS = 0, FITS = 8, OFFSET = MINIMA; static constexpr bool INTERLEAVED = false;
    static inline void scales(const char * const * row, size_t at, Chunk & w) { scales_and_minima(row, at, w); }
    static inline Words row_scales(const char * p) { return eight_words(six_bit_scales(p + 4)); }
    template <class Read> static inline void values(const Read & read, Ints * q) {
        constexpr int N = Read::N;
        for (int i = 0; i < 4; i++) {
            Ints x[N];
            read(16 + 32 * i, x);
            for (int j = 0; j < N; j++, q++) { q[0] = and_(x[j], bytes(15)); q[N] = and_(right16<4>(x[j]), bytes(15)); }
            q += N;
        }
    }
};
struct Q5_K : InRows<Q5_K> {
    static constexpr int BLOCK = 256, BYTES = 176, READS = 5, SUB = 32, BIAS = 0, FITS = 4, OFFSET = MINIMA; static constexpr bool INTERLEAVED = false;
    static inline void scales(const char * const * row, size_t at, Chunk & w) { scales_and_minima(row, at, w); }
    static inline Words row_scales(const char * p) { return eight_words(six_bit_scales(p + 4)); }
    template <class Read> static inline void values(const Read & read, Ints * q) {
        constexpr int N = Read::N; const Ints low = bytes(15), bit = bytes(16);
        Ints h[N], x[N];
        read(16, h);
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            read(48 + 32 * i, x);
            for (int j = 0; j < N; j++, q++) {
                q[0] = or_(and_(x[j], low), and_(shifted16(h[j], 4 - 2 * i), bit));
                q[N] = or_(and_(right16<4>(x[j]), low), and_(shifted16(h[j], 3 - 2 * i), bit));
            }
            q += N;
        }
    }
};
// Sixteen signed scales of each row.
template <int OFFSET> INLINE void sixteen_scales(const Ints * s, Chunk & w) {
    for (int t = 0; t < 16; t++) w.scale[t] = signed_scale(s[t / 4], t % 4);
    if (OFFSET) for (int i = 0; i < 8; i++) w.offset[i] = signed_pair(s[i / 2], i % 2 * 2);
}
struct Q6_K : InRows<Q6_K> {
    static constexpr int BLOCK = 256, BYTES = 210, READS = 6, SUB = 16, BIAS = 32, FITS = 2, OFFSET = BIAS_AS_OFFSET ? BIAS : 0; static constexpr bool INTERLEAVED = false;
    static inline void scales(const char * const * row, size_t at, Chunk & w) {
        Ints s[4];
        turn(row, at + 192, s);
        sixteen_scales<OFFSET>(s, w);
        w.d[0] = halves(row, at + 208);
    }
    static inline Words row_scales(const char * p) { return sixteen_words(_mm_loadu_si128((const __m128i *) (p + 192))); }
    template <class Read> static inline void values(const Read & read, Ints * q) {
        constexpr int N = Read::N; const Ints low = bytes(15), high = bytes(0x30);
        for (int i = 0; i < 2; i++, q += 3 * N) {
            Ints x[N], y[N], h[N];
            read(64 * i, x); read(64 * i + 32, y); read(128 + 32 * i, h);
            for (int j = 0; j < N; j++, q++) {
                q[0]     = or_(and_(x[j], low), and_(left16<4>(h[j]), high));  q[N]     = or_(and_(y[j], low), and_(left16<2>(h[j]), high));
                q[2 * N] = or_(and_(right16<4>(x[j]), low), and_(h[j], high)); q[3 * N] = or_(and_(right16<4>(y[j]), low), and_(right16<2>(h[j]), high));
            }
        }
    }
};
struct Q3_K : InRows<Q3_K> {
    static constexpr int BLOCK = 256, BYTES = 110, READS = 3, SUB = 16, BIAS = 4, FITS = 4, OFFSET = BIAS_AS_OFFSET ? BIAS : 0; static constexpr bool INTERLEAVED = false;
    static inline void scales(const char * const * row, size_t at, Chunk & w) {
        Ints x[4], s[4];
        turn(row, at + 94, x);   // the twelve bytes from 96 on, and the scale at 108
        w.d[0] = low_halves(right32<16>(x[3]));
        const auto next = [&](int i) { return or_(right32<16>(x[i]), left32<16>(x[i + 1])); };
        const Ints a = next(0), b = next(1), c = next(2), four = bytes(15), two = bytes(0x30), less = bytes(32);
        s[0] = or_(and_(a, four), and_(left16<4>(c), two));            s[1] = or_(and_(b, four), and_(left16<2>(c), two));
        s[2] = or_(and_(right16<4>(a), four), and_(c, two));           s[3] = or_(and_(right16<4>(b), four), and_(right16<2>(c), two));
        for (int i = 0; i < 4; i++) s[i] = sub8(s[i], less);
        sixteen_scales<OFFSET>(s, w);
    }
    static inline Words row_scales(const char * p) {
        constexpr uint32_t four = 0x0f0f0f0f, two = 0x30303030;
        uint32_t a, b, c; memcpy(&a, p + 96, 4); memcpy(&b, p + 100, 4); memcpy(&c, p + 104, 4);
        const __m128i s = _mm_setr_epi32((int) ((a & four) | (c << 4 & two)), (int) ((b & four) | (c << 2 & two)), (int) ((a >> 4 & four) | (c & two)), (int) ((b >> 4 & four) | (c >> 2 & two)));
        return sixteen_words(_mm_sub_epi8(s, _mm_set1_epi8(32)));
    }
    template <class Read> static inline void values(const Read & read, Ints * q) {
        constexpr int N = Read::N; const Ints low = bytes(3), bit = bytes(4);
        Ints h[N], x[N];
        read(0, h);
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++, q += 3 * N) {
            read(32 + 32 * i, x);
            for (int j = 0; j < N; j++, q++) {
                q[0]     = or_(and_(x[j], low), and_(shifted16(h[j], 2 - 4 * i), bit));             q[N]     = or_(and_(right16<2>(x[j]), low), and_(shifted16(h[j], 1 - 4 * i), bit));
                q[2 * N] = or_(and_(right16<4>(x[j]), low), and_(shifted16(h[j], 0 - 4 * i), bit)); q[3 * N] = or_(and_(right16<6>(x[j]), low), and_(shifted16(h[j], -1 - 4 * i), bit));
            }
        }
    }
};
struct Q2_K : InRows<Q2_K> {
    static constexpr int BLOCK = 256, BYTES = 84, READS = 2, SUB = 16, BIAS = 0, FITS = 4, OFFSET = MINIMA; static constexpr bool INTERLEAVED = false;
    // Two bits each of n registers: the lowest to q, the next 32 weights `step` registers further on, and so on.
    INLINE void crumbs(const Ints * x, int n, Ints * q, int step) {
        const Ints two = bytes(3);
        for (int j = 0; j < n; j++) {
            q[j]            = and_(x[j], two);             q[step + j]     = and_(right16<2>(x[j]), two);
            q[2 * step + j] = and_(right16<4>(x[j]), two); q[3 * step + j] = and_(right16<6>(x[j]), two);
        }
    }
    static inline void scales(const char * const * row, size_t at, Chunk & w) {
        Ints x[4], low[4], high[4];
        turn(row, at, x);
        nibbles(x, low, high);
        for (int t = 0; t < 16; t++) w.scale[t] = unsigned_scale(low[t / 4], t % 4);
        for (int i = 0; i < 8; i++) w.offset[i] = unsigned_pair(high[i / 2], i % 2 * 2);
        two_halves(fours(row, at + 80), w.d[0], w.m[0]);
    }
    static inline Words row_scales(const char * p) { return sixteen_words(_mm_and_si128(_mm_loadu_si128((const __m128i *) p), _mm_set1_epi8(15))); }
    template <class Read> static inline void values(const Read & read, Ints * q) {
        for (int i = 0; i < 2; i++) {
            Ints x[Read::N];
            read(16 + 32 * i, x);
            crumbs(x, Read::N, q + 4 * Read::N * i, Read::N);
        }
    }
};
struct IQ4_XS {
    static constexpr int BLOCK = 256, BYTES = 136, SUB = 32, BIAS = SIGNED_BIAS, FITS = 0, OFFSET = 0; static constexpr bool INTERLEAVED = false;
    template <int T> static inline Ints scale(Ints high, Ints low) {   // four bits of each, two more of each, 32 too large
        const Ints four = and_(right32<4 * T>(low), same_32(15)), two = and_(right32<16 + 2 * T>(high), same_32(3));
        const Ints s = sub32(or_(four, left32<4>(two)), same_32(32));
        return VNNI ? s : or_(and_(s, same_32(0xffff)), left32<16>(s));
    }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        Ints x[4];
        turn(row, at, x);
        w.d[0] = low_halves(x[0]);
        w.scale[0] = scale<0>(x[0], x[1]); w.scale[1] = scale<1>(x[0], x[1]); w.scale[2] = scale<2>(x[0], x[1]); w.scale[3] = scale<3>(x[0], x[1]);
        w.scale[4] = scale<4>(x[0], x[1]); w.scale[5] = scale<5>(x[0], x[1]); w.scale[6] = scale<6>(x[0], x[1]); w.scale[7] = scale<7>(x[0], x[1]);
        for (int t = 0; t < 8; t++) {
            turn(row, at + 8 + 16 * t, x);
            looked_up(x, IQ4_NL::table(), w.q + 8 * t);
        }
    }
};

// ------------------------------------------------------------------- rows interleaved by eights
// ggml's repacked types hold eight rows together, eight bytes of each in turn. A register holds
// two such groups with AVX-512, one else: row[0] and row[1]. Taking every other four bytes of two
// registers mixes up the rows, in the same way everywhere; `in_order` puts them right at the end.

// Floats of consecutive rows into that order, and back.
INLINE Floats as_mixed(Floats x) {
#if defined(__AVX512VNNI__)
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0,1,8,9, 2,3,10,11, 4,5,12,13, 6,7,14,15), x);
#else
    return _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(0,1,4,5, 2,3,6,7));
#endif
}
INLINE Ints as_mixed(Ints x) {
#if defined(__AVX512VNNI__)
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0,1,8,9, 2,3,10,11, 4,5,12,13, 6,7,14,15), x);
#else
    return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0,1,4,5, 2,3,6,7));
#endif
}
INLINE Floats in_order(Floats x) {
#if defined(__AVX512VNNI__)
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0,1,4,5, 8,9,12,13, 2,3,6,7, 10,11,14,15), x);
#else
    return as_mixed(x);   // its own inverse
#endif
}
// Eight bytes of each of eight rows, 64 bytes in each group: the first and the second four of each row.
INLINE void turn_eights(const char * const * group, size_t at, Ints * x) {
#if defined(__AVX512VNNI__)
    const __m512 a = _mm512_loadu_ps(group[0] + at), b = _mm512_loadu_ps(group[1] + at);
    x[0] = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)); x[1] = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd));
#else
    const __m256 a = _mm256_loadu_ps((const float *) (group[0] + at)), b = _mm256_loadu_ps((const float *) (group[0] + at + 32));
    x[0] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)); x[1] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
#endif
}
// A half, or an unsigned byte, of each row.
INLINE Floats mixed_halves(const char * const * group, size_t at) {
#if defined(__AVX512VNNI__)
    return as_mixed(_mm512_cvtph_ps(_mm256_setr_m128i(_mm_loadu_si128((const __m128i *) (group[0] + at)), _mm_loadu_si128((const __m128i *) (group[1] + at)))));
#else
    return as_mixed(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) (group[0] + at))));
#endif
}
INLINE Ints mixed_bytes(uint64_t a, uint64_t b) {
#if defined(__AVX512VNNI__)
    return as_mixed(_mm512_cvtepu8_epi32(_mm_set_epi64x((long long) b, (long long) a)));
#else
    (void) b;
    return as_mixed(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long) a)));
#endif
}
// Two bytes of each row, 16 in each group.
INLINE Ints mixed_words(const char * const * group, size_t at) {
    const __m128i a = _mm_loadu_si128((const __m128i *) (group[0] + at));
#if defined(__AVX512VNNI__)
    return as_mixed(_mm512_cvtepu16_epi32(_mm256_setr_m128i(a, _mm_loadu_si128((const __m128i *) (group[1] + at)))));
#else
    return as_mixed(_mm256_cvtepu16_epi32(a));
#endif
}

struct Q4_0x8 {
    static constexpr int BLOCK = 32, BYTES = 144, BIAS = 8, FITS = 8; static constexpr bool MIN = false, INTERLEAVED = true;
    INLINE void unpack(const char * const * group, size_t at, Chunk & w, int b) {
        Ints x[4];
        w.d[b] = mixed_halves(group, at);
        turn_eights(group, at + 16, x); turn_eights(group, at + 80, x + 2);
        for (int j = 0; j < 4; j++) x[j] = xor_(x[j], bytes(0x88));   // ggml keeps them signed
        nibbles(x, w.q + 8 * b, w.q + 8 * b + 4);
    }
};
struct IQ4_NLx8 {
    static constexpr int BLOCK = 32, BYTES = 144, BIAS = SIGNED_BIAS, FITS = 0; static constexpr bool MIN = false, INTERLEAVED = true;
    INLINE void unpack(const char * const * group, size_t at, Chunk & w, int b) {
        Ints x[4];
        w.d[b] = mixed_halves(group, at);
        turn_eights(group, at + 16, x); turn_eights(group, at + 80, x + 2);
        looked_up(x, IQ4_NL::table(), w.q + 8 * b);
    }
};
struct MXFP4x8 {
    static constexpr int BLOCK = 32, BYTES = 136, BIAS = 12, FITS = 4; static constexpr bool MIN = false, INTERLEAVED = true;
    INLINE void unpack(const char * const * group, size_t at, Chunk & w, int b) {
        Ints x[4];
        uint64_t e[2] = {};
        for (int g = 0; g < LANES / 8; g++) memcpy(&e[g], group[g] + at, 8);
        w.d[b] = half_powers(mixed_bytes(e[0], e[1]));
        turn_eights(group, at + 8, x); turn_eights(group, at + 72, x + 2);
        looked_up(x, MXFP4::table(), w.q + 8 * b);
    }
};
// Q4_K by eights: 8 d, 8 dmin, 8 times 12 bytes of scales and minima, 1,024 bytes of quants.
struct Q4_Kx8 {
    static constexpr int BLOCK = 256, BYTES = 1152, SUB = 32, BIAS = 0, FITS = 8, OFFSET = MINIMA; static constexpr bool INTERLEAVED = true;
    // Eight bytes for each of the eight sub-blocks, whose six bits are packed into 12 bytes as in a plain Q4_K.
    static inline void unpack_scales(const char * p, uint64_t * scales, uint64_t * minima) {
        for (int t = 0; t < 8; t++, p += 12) {
            uint32_t b, c; memcpy(&b, p + 4, 4); memcpy(&c, p + 8, 4);
            scales[t] = six_bit_scales(p);
            minima[t] = (uint64_t) ((c >> 4 & 0x0f0f0f0f) | (b >> 2 & 0x30303030)) << 32 | (b & 0x3f3f3f3f);
        }
    }
    static inline void scales(const char * const * group, size_t at, Chunk & w) {
        uint64_t s[2][8] = {}, m[2][8] = {};
        for (int g = 0; g < LANES / 8; g++) unpack_scales(group[g] + at + 32, s[g], m[g]);
        for (int t = 0; t < 8; t++) w.scale[t] = scale_lanes(mixed_bytes(s[0][t], s[1][t]));
        for (int i = 0; i < 4; i++) w.offset[i] = or_(mixed_bytes(m[0][2 * i], m[1][2 * i]), left32<16>(mixed_bytes(m[0][2 * i + 1], m[1][2 * i + 1])));
        w.d[0] = mixed_halves(group, at); w.m[0] = mixed_halves(group, at + 16);
    }
    static inline void unpack(const char * const * group, size_t at, Chunk & w) {
        scales(group, at, w);
        for (int i = 0; i < 4; i++) for (int k = 0; k < 2; k++) {
            Ints x[4], * q = w.q + 16 * i + 4 * k;
            turn_eights(group, at + 128 + 256 * i + 128 * k, x); turn_eights(group, at + 128 + 256 * i + 128 * k + 64, x + 2);
            nibbles(x, q, q + 8);
        }
    }
};
// Q2_K by eights: 8 d, 8 dmin, for each two sub-blocks two bytes of each row, 512 bytes of quants.
struct Q2_Kx8 {
    static constexpr int BLOCK = 256, BYTES = 672, SUB = 16, BIAS = 0, FITS = 4, OFFSET = MINIMA; static constexpr bool INTERLEAVED = true;
    static inline void unpack(const char * const * group, size_t at, Chunk & w) {
        w.d[0] = mixed_halves(group, at); w.m[0] = mixed_halves(group, at + 16);
        for (int i = 0; i < 8; i++) {
            const Ints x = mixed_words(group, at + 32 + 16 * i), low = and_(x, bytes(15)), high = and_(right16<4>(x), bytes(15));
            w.scale[2 * i] = unsigned_scale(low, 0); w.scale[2 * i + 1] = unsigned_scale(low, 1);
            w.offset[i] = unsigned_pair(high, 0);
        }
        for (int i = 0; i < 4; i++) {
            Ints x[4];
            turn_eights(group, at + 160 + 128 * i, x); turn_eights(group, at + 160 + 128 * i + 64, x + 2);
            Q2_K::crumbs(x, 4, w.q + 32 * (i / 2) + 4 * (i % 2), 8);
        }
    }
};
}  // namespace
