// How each quantised type of ggml is read: 32 weights of ROWS rows at a time, as bytes.
//
// The layouts are ggml's (ggml-common.h). Two families: blocks of 32 weights with one float scale,
// and superblocks of 256 with integer scales for each 16 or 32 of them.
#pragma once
#include "simd.h"

namespace paceline::PACELINE_ISA {

// The sixteen values of the types with a table (ggml-common.h), for `lookup`.
alignas(16) static const int8_t TABLE_IQ4_NL[16] = {-127,-104,-83,-65,-49,-35,-22,-10,1,13,25,38,53,69,89,113};
alignas(16) static const int8_t TABLE_MXFP4[16]  = {0,1,2,3,4,6,8,12,0,-1,-2,-3,-4,-6,-8,-12};
alignas(16) static const int8_t TABLE_Q4_0[16]   = {0,1,2,3,4,5,6,7,-8,-7,-6,-5,-4,-3,-2,-1};

// 16 bytes of each row as 32 nibbles: the low ones, then the high ones.
INLINE Ints nibbles(const char * const * row, size_t at) {
#if defined(__AVX512VNNI__)
    Ints x = half_each(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (row[0] + at))),
                       _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) (row[1] + at))));
    x = _mm512_mask_srli_epi16(x, 0xff00ff00, x, 4);
#else
    Ints x = same16(row[0] + at);
    x = _mm256_blend_epi32(x, right16<4>(x), 0xf0);
#endif
    return and_(x, bytes(15));
}

// ------------------------------------------------------------------------- blocks of 32 weights
// BYTES of a block; MIN: a minimum times the activations' sum is added; SETS: ggml adds even and
// odd blocks apart.

struct Q8_0 {
    static constexpr int BYTES = 34, SETS = 1; static constexpr bool MIN = false;
    static inline Ints unpack(const char * const * row, size_t at) { return load32(row, at + 2); }
};
struct Q4_0 {
    static constexpr int BYTES = 18, SETS = 1; static constexpr bool MIN = false;
    static inline Ints unpack(const char * const * row, size_t at) { return sub8(nibbles(row, at + 2), bytes(8)); }
};
struct Q4_1 {
    static constexpr int BYTES = 20, SETS = 1; static constexpr bool MIN = true;
    static inline Ints unpack(const char * const * row, size_t at) { return nibbles(row, at + 4); }
};
// A fifth bit of each weight: which of 32 bytes per row get `value` from the bits at `at`.
INLINE Ints fifth_bits(const char * const * row, size_t at, bool inverted, int value) {
#if defined(__AVX512VNNI__)
    uint32_t a, b; memcpy(&a, row[0] + at, 4); memcpy(&b, row[1] + at, 4);
    const uint64_t bits = a | (uint64_t) b << 32;
    return _mm512_maskz_set1_epi8(inverted ? ~bits : bits, (char) value);
#else
    const Ints spread = _mm256_shuffle_epi8(same4(row[0] + at), _mm256_setr_epi64x(
        0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
    const Ints bit = _mm256_set1_epi64x((long long) 0x8040201008040201), is_set = _mm256_cmpeq_epi8(and_(spread, bit), bit);
    return inverted ? _mm256_andnot_si256(is_set, bytes(value)) : and_(is_set, bytes(value));
#endif
}
struct Q5_0 {
    static constexpr int BYTES = 22, SETS = 1; static constexpr bool MIN = false;
    static inline Ints unpack(const char * const * row, size_t at) { return sub8(nibbles(row, at + 6), fifth_bits(row, at + 2, true, 16)); }
};
struct Q5_1 {
    static constexpr int BYTES = 24, SETS = 1; static constexpr bool MIN = true;
    static inline Ints unpack(const char * const * row, size_t at) { return or_(nibbles(row, at + 8), fifth_bits(row, at + 4, false, 16)); }
};
struct IQ4_NL {
    static constexpr int BYTES = 18, SETS = 2; static constexpr bool MIN = false;
    static inline Ints unpack(const char * const * row, size_t at) { return lookup(same16(TABLE_IQ4_NL), nibbles(row, at + 2)); }
};

// -------------------------------------------------------------------- superblocks of 256 weights
// D, DMIN: where the scales of the superblock lie. MINS: 0 none; 1 added up in four lanes;
// 2 added up over the superblock. BIAS: what is subtracted from each weight, through the
// activations' sums. `scales` gives the integer scales as words, such that `spread` brings that of
// sub-block t to its weights, and the minima of all rows of a group.

// The scales of sub-blocks 2i and 2i + 1: with VNNI one after the other for each four weights, else
// the first of them for all.
struct PairScale { Ints first, second; };
INLINE Ints spread(Ints scales, int t) { return lookup(scales, words((2 * t + 1) << 8 | 2 * t)); }
INLINE PairScale pair_scale(Ints scales, int i) {
    const char k = (char) (4 * i), at[4] = {k, (char) (k + 1), (char) (k + 2), (char) (k + 3)};
    if (VNNI) return { lookup(scales, same4(at)), zero() };
    return { spread(scales, 2 * i), spread(scales, 2 * i + 1) };
}

// SIGNED: weights are signed bytes; with VNNI the activations then carry 128 more (`rows_256`).
// SCALED: weights are too large for sums of four to be scaled as words. So they are scaled before:
// a nibble's value times the scale has 13 bits and a sign, and is looked up as two bytes, 64 high + low.
INLINE void scaled_tables(const int8_t * table, Ints scale, Ints & high, Ints & low) {
    const Ints products = mul16(same16_widened(table), scale);
    const Ints both = packed(right16_signed<6>(products), and_(products, words(63)));
    high = even_quarters(both); low = odd_quarters(both);
}

// Eight scales per row, as words in each 128 bits of the row.
INLINE Ints scales_of_32(const __m128i * words) {
#if defined(__AVX512VNNI__)
    return half_each(_mm256_broadcastsi128_si256(words[0]), _mm256_broadcastsi128_si256(words[1]));
#else
    return _mm256_broadcastsi128_si256(words[0]);
#endif
}
// Sixteen signed scales per row: the even ones in the first 128 bits of the row, the odd ones in the second.
INLINE Ints scales_of_16(const __m128i * bytes) {
    const Ints x = scales_of_32(bytes);
#if defined(__AVX512VNNI__)
    return _mm512_srai_epi16(_mm512_mask_slli_epi16(x, 0x00ff00ff, x, 8), 8);
#else
    return _mm256_srai_epi16(_mm256_blend_epi32(left16<8>(x), x, 0xf0), 8);
#endif
}

// Scales and minima of 6 bits, as Q4_K and Q5_K pack eight of each into 12 bytes.
INLINE void six_bits(const char * p, __m128i & scales, __m128i & mins) {
    uint32_t a, b, c; memcpy(&a, p, 4); memcpy(&b, p + 4, 4); memcpy(&c, p + 8, 4);
    const uint32_t s1 = (c & 0x0f0f0f0f) | (a >> 6 & 0x03030303) << 4, m1 = (c >> 4 & 0x0f0f0f0f) | (b >> 6 & 0x03030303) << 4;
    scales = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long) ((uint64_t) s1 << 32 | (a & 0x3f3f3f3f))));
    mins   = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long) ((uint64_t) m1 << 32 | (b & 0x3f3f3f3f))));
}
// The same 128 bits for each row of a group, side by side.
INLINE Ints side_by_side(const __m128i * m) {
#if defined(__AVX512VNNI__)
    return half_each(_mm256_setr_m128i(m[0], m[1]), _mm256_setr_m128i(m[2], m[3]));
#else
    return _mm256_setr_m128i(m[0], m[1]);
#endif
}
INLINE void scales_and_mins(const char * const * row, size_t at, Ints * scales, Ints & mins) {
    __m128i s[2 * ROWS], m[2 * ROWS];
    for (int r = 0; r < 2 * ROWS; r++) six_bits(row[r] + at, s[r], m[r]);
    scales[0] = scales_of_32(s); scales[1] = scales_of_32(s + ROWS);
    mins = side_by_side(m);
}
// Two sub-blocks, each four products of at most 63 and 128 added up: that fits into 16 bits, so
// both are scaled by one instruction.
INLINE Ints unsigned_mac(Ints sum, Ints q0, Ints q1, Ints y0, Ints y1, PairScale s) {
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
    return dot16(sum, low_and_high(dot8(zero(), q0, y0), dot8(zero(), q1, y1)), s.first);
#else
    return dot16(dot16(sum, maddubs(q0, y0), s.first), maddubs(q1, y1), s.second);
#endif
}

struct Q4_K {
    static constexpr int BYTES = 144, D = 0, DMIN = 2, MINS = 1, BIAS = 0; static constexpr bool SIGNED = false, SCALED = false;
    static inline void scales(const char * const * row, size_t at, Ints * s, Ints & mins) { scales_and_mins(row, at + 4, s, mins); }
    template <int HALF> static inline void unpack(const char * const * row, size_t at, Ints * q) {
        for (int i = 0; i < 2; i++) {
            const Ints x = load32(row, at + 16 + 64 * HALF + 32 * i);
            q[2 * i] = and_(x, bytes(15)); q[2 * i + 1] = and_(right16<4>(x), bytes(15));
        }
    }
    static inline Ints mac(Ints sum, Ints q0, Ints q1, Ints y0, Ints y1, PairScale s) { return unsigned_mac(sum, q0, q1, y0, y1, s); }
    static inline PairScale scale(Ints scales, int i) { return pair_scale(scales, i); }
};
struct Q5_K {
    static constexpr int BYTES = 176, D = 0, DMIN = 2, MINS = 2, BIAS = 0; static constexpr bool SIGNED = false, SCALED = false;
    static inline void scales(const char * const * row, size_t at, Ints * s, Ints & mins) { scales_and_mins(row, at + 4, s, mins); }
    template <int HALF> static inline void unpack(const char * const * row, size_t at, Ints * q) {
        const Ints high = load32(row, at + 16), bit = bytes(16);
        for (int i = 0; i < 2; i++) {
            const Ints x = load32(row, at + 48 + 64 * HALF + 32 * i);
            q[2 * i] = and_(x, bytes(15)); q[2 * i + 1] = and_(right16<4>(x), bytes(15));
        }
        if constexpr (HALF == 0) {
            q[0] = or_(q[0], and_(left16<4>(high), bit)); q[1] = or_(q[1], and_(left16<3>(high), bit));
            q[2] = or_(q[2], and_(left16<2>(high), bit)); q[3] = or_(q[3], and_(left16<1>(high), bit));
        } else {
            q[0] = or_(q[0], and_(high, bit));            q[1] = or_(q[1], and_(right16<1>(high), bit));
            q[2] = or_(q[2], and_(right16<2>(high), bit)); q[3] = or_(q[3], and_(right16<3>(high), bit));
        }
    }
    static inline Ints mac(Ints sum, Ints q0, Ints q1, Ints y0, Ints y1, PairScale s) { return unsigned_mac(sum, q0, q1, y0, y1, s); }
    static inline PairScale scale(Ints scales, int i) { return pair_scale(scales, i); }
};
struct Q6_K {
    static constexpr int BYTES = 210, D = 208, DMIN = 0, MINS = 0, BIAS = 32; static constexpr bool SIGNED = false, SCALED = false;
    static inline void scales(const char * const * row, size_t at, Ints * s, Ints &) {
        __m128i x[2 * ROWS];
        for (int r = 0; r < 2 * ROWS; r++) x[r] = _mm_loadu_si128((const __m128i *) (row[r] + at + 192));
        s[0] = scales_of_16(x); s[1] = scales_of_16(x + ROWS);
    }
    // -32 times the sixteen scales, as words in their order.
    static inline Ints bias(const char * const * row, size_t at) {
        const __m256i a = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) (row[0] + at + 192)));
#if defined(__AVX512VNNI__)
        const Ints s = half_each(a, _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) (row[1] + at + 192))));
#else
        const Ints s = a;
#endif
        return sub16(zero(), left16<5>(s));
    }
    template <int HALF> static inline void unpack(const char * const * row, size_t at, Ints * q) {
        const Ints x = load32(row, at + 64 * HALF), y = load32(row, at + 64 * HALF + 32), h = load32(row, at + 128 + 32 * HALF);
        const Ints low = bytes(15), high = bytes(0x30);
        q[0] = or_(and_(x, low), and_(left16<4>(h), high));           q[1] = or_(and_(y, low), and_(left16<2>(h), high));
        q[2] = or_(and_(right16<4>(x), low), and_(h, high));          q[3] = or_(and_(right16<4>(y), low), and_(right16<2>(h), high));
    }
    static inline Ints mac(Ints sum, Ints q0, Ints q1, Ints y0, Ints y1, PairScale s) { return unsigned_mac(sum, q0, q1, y0, y1, s); }
    static inline PairScale scale(Ints scales, int i) { return pair_scale(scales, i); }
};
struct Q3_K {
    static constexpr int BYTES = 110, D = 108, DMIN = 0, MINS = 0, BIAS = 0; static constexpr bool SIGNED = true, SCALED = false;
    static inline void scales(const char * const * row, size_t at, Ints * s, Ints &) {
        __m128i x[2 * ROWS];
        for (int r = 0; r < 2 * ROWS; r++) {
            uint32_t a[3]; memcpy(a, row[r] + at + 96, 12);
            constexpr uint32_t two = 0x03030303, four = 0x0f0f0f0f;
            x[r] = _mm_sub_epi8(_mm_setr_epi32(
                (int) ((a[0] & four) | (a[2] & two) << 4), (int) ((a[1] & four) | (a[2] >> 2 & two) << 4),
                (int) ((a[0] >> 4 & four) | (a[2] >> 4 & two) << 4), (int) ((a[1] >> 4 & four) | (a[2] >> 6 & two) << 4)), _mm_set1_epi8(32));
        }
        s[0] = scales_of_16(x); s[1] = scales_of_16(x + ROWS);
    }
    template <int HALF> static inline void unpack(const char * const * row, size_t at, Ints * q) {
        const Ints x = load32(row, at + 32 + 32 * HALF), h = load32(row, at), low = bytes(3), bit = bytes(4);
        q[0] = and_(x, low); q[1] = and_(right16<2>(x), low); q[2] = and_(right16<4>(x), low); q[3] = and_(right16<6>(x), low);
        if constexpr (HALF == 0) {
            q[0] = or_(q[0], and_(left16<2>(h), bit)); q[1] = or_(q[1], and_(left16<1>(h), bit));
            q[2] = or_(q[2], and_(h, bit));            q[3] = or_(q[3], and_(right16<1>(h), bit));
        } else {
            q[0] = or_(q[0], and_(right16<2>(h), bit)); q[1] = or_(q[1], and_(right16<3>(h), bit));
            q[2] = or_(q[2], and_(right16<4>(h), bit)); q[3] = or_(q[3], and_(right16<5>(h), bit));
        }
        if (VNNI) for (int i = 0; i < 4; i++) q[i] = sub8(q[i], bytes(4));
    }
    static inline Ints mac(Ints sum, Ints q0, Ints q1, Ints y0, Ints y1, PairScale s) {
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
        return dot16(sum, low_and_high(dot8(zero(), y0, q0), dot8(zero(), y1, q1)), s.first);
#else
        return dot16(dot16(sum, sub16(maddubs(q0, y0), maddubs(bytes(4), y0)), s.first), sub16(maddubs(q1, y1), maddubs(bytes(4), y1)), s.second);
#endif
    }
    static inline PairScale scale(Ints scales, int i) { return pair_scale(scales, i); }
};
struct IQ4_XS {
    static constexpr int BYTES = 136, D = 0, DMIN = 0, MINS = 0, BIAS = 0; static constexpr bool SIGNED = true, SCALED = VNNI;
    static constexpr const int8_t * TABLE = TABLE_IQ4_NL;
    static inline void scales(const char * const * row, size_t at, Ints * s, Ints &) {
        __m128i x[2 * ROWS];
        const __m128i up = _mm_setr_epi16(1 << 14, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 2, 1);
        for (int r = 0; r < 2 * ROWS; r++) {   // four bits of each, two more of each
            uint32_t low; memcpy(&low, row[r] + at + 4, 4);
            const __m128i v = _mm_cvtepu8_epi16(_mm_cvtsi32_si128((int) low));
            const __m128i four = _mm_and_si128(_mm_or_si128(v, _mm_slli_epi16(v, 4)), _mm_set1_epi8(15));
            const __m128i two = _mm_srli_epi16(_mm_mullo_epi16(_mm_set1_epi16((short) half_at(row[r] + at + 2)), up), 14);
            x[r] = _mm_sub_epi16(_mm_or_si128(_mm_cvtepu8_epi16(four), _mm_slli_epi16(two, 4)), _mm_set1_epi16(32));
        }
        s[0] = scales_of_32(x); s[1] = scales_of_32(x + ROWS);
    }
    template <int HALF> static inline void unpack(const char * const * row, size_t at, Ints * q) {
        for (int i = 0; i < 4; i++) {
            const Ints index = nibbles(row, at + 8 + 64 * HALF + 16 * i);
            q[i] = SCALED ? index : lookup(same16(TABLE_IQ4_NL), index);
        }
    }
#if !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)
    static inline Ints mac(Ints sum, Ints q0, Ints q1, Ints y0, Ints y1, PairScale s) {
        return dot16(dot16(sum, maddubs(_mm256_abs_epi8(q0), _mm256_sign_epi8(y0, q0)), s.first),
                     maddubs(_mm256_abs_epi8(q1), _mm256_sign_epi8(y1, q1)), s.second);
    }
#endif
    static inline PairScale scale(Ints scales, int i) { return { spread(scales, 2 * i), spread(scales, 2 * i + 1) }; }
};
}  // namespace
