// How ggml's types with codebooks are unpacked: 256 weights of LANES rows at a time.
//
// A code stands for the magnitudes of eight weights (IQ2) or four (IQ3), or for eight weights of -1,
// 0 and 1 (IQ1); the codebooks are ggml's own tables (ggml-common.h). Codes are looked up one by one
// and put into the `Chunk`; signs and scales are those of all rows at once.
#pragma once
#include "activations.h"
#include "weights.h"

#include <type_traits>

#define GGML_COMMON_DECL_CPP
#define GGML_COMMON_IMPL_CPP
#include "ggml-common.h"

namespace paceline::PACELINE_ISA {

// -------------------------------------------------------------------------------------- codes

// A type says where its codes are: `code(p, i)` is what the i-th one stands for, eight weights or four, in
// 8 or 4 bytes. Where codes take more than a byte, they are WORDS words that `put_words` makes of the
// superblock at p, and p is their address; else (WORDS == 0) that of the superblock.
template <class W> using Code = decltype(W::code(nullptr, 0));
template <class W, class = void> constexpr bool HAS_CODES = false;
template <class W> constexpr bool HAS_CODES<W, decltype((void) &W::code)> = true;

// Hide where an address comes from. Else GCC keeps its sum with each offset on the stack, or takes words
// out of registers one by one.
INLINE void hide(const char * & p) { __asm__("" : "+r"(p) : : "memory"); }

// What the codes of each row stand for, with one lane a row. Four rows at a time, whose addresses fit into
// registers, and few wide stores.
template <class W> INLINE void look_up(const char * const * row, size_t at, Chunk & w) {
    alignas(64) uint16_t word[LANES][W::WORDS ? W::WORDS : 1];
    if constexpr (W::WORDS) for (int r = 0; r < LANES; r++) W::put_words(row[r] + at, word[r]);
    for (int r = 0; r < LANES; r += 4) {
        const char * p[4];
        for (int k = 0; k < 4; k++) {
            p[k] = row[r + k] + at;
            if constexpr (W::WORDS) p[k] = (const char *) word[r + k];
            hide(p[k]);
        }
        if constexpr (sizeof(Code<W>) == 8) {
#pragma GCC unroll 32
            for (int i = 0; i < 32; i++) {
                const auto two = [&](int k) { return _mm_castsi128_ps(_mm_set_epi64x((long long) W::code(p[k + 1], i), (long long) W::code(p[k], i))); };
                const __m128 a = two(0), b = two(2);
                _mm_store_ps((float *) (w.q + 2 * i) + r, _mm_shuffle_ps(a, b, 0x88));
                _mm_store_ps((float *) (w.q + 2 * i + 1) + r, _mm_shuffle_ps(a, b, 0xdd));
            }
        } else {
#pragma GCC unroll 16
            for (int i = 0; i < 64; i++) {
                const auto one = [&](int k) { return (int) W::code(p[k], i); };
                _mm_store_si128((__m128i *) ((float *) (w.q + i) + r), _mm_setr_epi32(one(0), one(1), one(2), one(3)));
            }
        }
    }
}

// Words of N codes: the bytes at `low` hold their lowest bits, `upper(i)` gives the others of sixteen
// codes from the i-th on, in place.
template <int N, class Upper> INLINE void put_codes(const char * low, uint16_t * word, Upper upper) {
    for (int i = 0; i < N; i += 16) {
        const __m256i bits = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *) (low + i)));
        _mm256_storeu_si256((__m256i *) (word + i), _mm256_or_si256(bits, upper(i)));
    }
}
INLINE __m256i same_256(const void * p, int n) { int64_t x = 0; memcpy(&x, p, n); return _mm256_set1_epi64x(x); }
// Words that hold the bytes from a, b, c and d on, four times each.
INLINE __m256i fourfold(int a, int b, int c, int d) {
    return _mm256_setr_epi16((short) a, (short) a, (short) a, (short) a, (short) b, (short) b, (short) b, (short) b,
                             (short) c, (short) c, (short) c, (short) c, (short) d, (short) d, (short) d, (short) d);
}

// --------------------------------------------------------------------------- signs and scales

// Magnitudes of eight weights with the signs in byte t of each lane, and the bias.
template <int BIAS> INLINE void add_signs(Ints signs, int t, Ints * q) {
    const Ints spread = lookup(signs, pattern(t, t, t, t));
    for (int j = 0; j < 2; j++) {
        const Ints bit = same_32(j ? (int) 0x80402010 : 0x08040201);
#if defined(__AVX512VNNI__)
        q[j] = _mm512_mask_sub_epi8(add8(q[j], bytes(BIAS)), _mm512_test_epi8_mask(spread, bit), bytes(BIAS), q[j]);
#else
        const Ints minus = _mm256_cmpeq_epi8(and_(spread, bit), bit);   // -1 or 0
        q[j] = sub8(xor_(q[j], minus), sub8(minus, bytes(BIAS)));
#endif
    }
}
// The eighth sign of each byte, which has seven: the number of negative weights is even.
alignas(16) static const uint8_t ODD[16] = {0, 128, 128, 0, 128, 0, 0, 128, 128, 0, 0, 128, 0, 128, 128, 0};
INLINE Ints add_eighth_signs(Ints x) {
    return or_(x, lookup(same16(ODD), and_(xor_(x, right16<4>(x)), bytes(15))));
}
// Four times seven signs from the low bits of each lane.
INLINE Ints signs_of_28_bits(Ints x) {
    const Ints low = or_(and_(x, same_32(0x7f)), and_(left32<1>(x), same_32(0x7f00)));
    return add_eighth_signs(or_(low, or_(and_(left32<2>(x), same_32(0x7f0000)), and_(left32<3>(x), same_32(0x7f000000)))));
}

// Scales of each row, in lanes, for the sub-blocks of a type.
template <class W> INLINE void put_scales(const Ints * s, Chunk & w) {
    for (int t = 0; t < 256 / W::SUB; t++) w.scale[t] = scale_lanes(s[t]);
    if (W::OFFSET) for (int i = 0; i < 128 / W::SUB; i++) w.offset[i] = or_(s[2 * i], left32<16>(s[2 * i + 1]));
}
// Where four bits make a scale 2 s + 1: two of them in each byte of x.
template <class W> INLINE void put_scales_of_nibbles(const Ints * x, Chunk & w) {
    Ints s[256 / W::SUB];
    for (int t = 0; t < 256 / W::SUB; t++) {
        const Ints doubled = t % 2 ? right16<3>(x[t / 8]) : left16<1>(x[t / 8]);
        s[t] = lookup(or_(and_(doubled, bytes(30)), bytes(1)), pattern(t % 8 / 2, -1, -1, -1));
    }
    put_scales<W>(s, w);
}
// The four highest bits of each lane as 2 s + 1.
INLINE Ints highest_scale(Ints x) { return or_(and_(right32<27>(x), same_32(30)), same_32(1)); }

// --------------------------------------------------------------------------------- two bits

constexpr int GREATEST_IQ2 = 43, GREATEST_IQ3_XXS = 62, GREATEST_IQ3_S = 15;   // magnitudes of their codebooks

struct IQ2_XXS {
    static constexpr int BLOCK = 256, BYTES = 66, SUB = 32, BIAS = GREATEST_IQ2, FITS = 1, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 0;
    static inline uint64_t code(const char * p, int i) { return iq2xxs_grid[(uint8_t) p[2 + 8 * (i / 4) + i % 4]]; }
    static inline Floats d(const char * const * row, size_t at) { return mul(halves(row, at), floats(0.125f)); }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ2_XXS>(row, at, w);
        w.d[0] = d(row, at);
        Ints s[8];
        for (int i = 0; i < 8; i += 2) {
            Ints x[4];
            turn(row, at + 2 + 8 * i, x);
            for (int k = 0; k < 2; k++) {   // four codes, then four times seven signs and a scale
                const Ints signs = signs_of_28_bits(x[2 * k + 1]);
                s[i + k] = highest_scale(x[2 * k + 1]);
                for (int t = 0; t < 4; t++) add_signs<BIAS>(signs, t, w.q + 8 * (i + k) + 2 * t);
            }
        }
        put_scales<IQ2_XXS>(s, w);
    }
};
struct IQ2_XS {
    static constexpr int BLOCK = 256, BYTES = 74, SUB = 16, BIAS = GREATEST_IQ2, FITS = 1, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 0;
    static inline uint64_t code(const char * p, int i) { return iq2xs_grid[half_at(p + 2 + 2 * i) & 511]; }
    static inline Floats d(const char * const * row, size_t at) { return mul(halves(row, at), floats(0.125f)); }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ2_XS>(row, at, w);
        w.d[0] = d(row, at);
        for (int i = 0; i < 4; i++) {
            Ints x[4];
            turn(row, at + 2 + 16 * i, x);
            for (int k = 0; k < 4; k++) {   // two words of nine bits of code and seven signs
                const Ints signs = add_eighth_signs(right16<9>(x[k]));
                for (int t = 0; t < 2; t++) add_signs<BIAS>(signs, 2 * t, w.q + 16 * i + 4 * k + 2 * t);
            }
        }
        const Ints scales[2] = { fours(row, at + 66), fours(row, at + 70) };
        put_scales_of_nibbles<IQ2_XS>(scales, w);
    }
};
struct IQ2_S {
    static constexpr int BLOCK = 256, BYTES = 82, SUB = 16, BIAS = GREATEST_IQ2, FITS = 1, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 32;
    static inline void put_words(const char * p, uint16_t * word) {
        put_codes<32>(p + 2, word, [p](int i) {   // two more bits of each, four in a byte
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + 66 + i / 4, 4), fourfold(0xff00, 0xff01, 0xff02, 0xff03));
            return _mm256_and_si256(_mm256_mullo_epi16(upper, _mm256_set1_epi64x(0x0004001000400100)), _mm256_set1_epi16(0x300));
        });
    }
    static inline uint64_t code(const char * p, int i) { return iq2s_grid[half_at(p + 2 * i)]; }
    static inline Floats d(const char * const * row, size_t at) { return mul(halves(row, at), floats(0.125f)); }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ2_S>(row, at, w);
        w.d[0] = d(row, at);
        for (int i = 0; i < 2; i++) {
            Ints x[4];
            turn(row, at + 34 + 16 * i, x);
            for (int t = 0; t < 16; t++) add_signs<BIAS>(x[t / 4], t % 4, w.q + 32 * i + 2 * t);
        }
        const Ints scales[2] = { fours(row, at + 74), fours(row, at + 78) };
        put_scales_of_nibbles<IQ2_S>(scales, w);
    }
};

// -------------------------------------------------------------------------------- three bits

struct IQ3_XXS {
    static constexpr int BLOCK = 256, BYTES = 98, SUB = 32, BIAS = GREATEST_IQ3_XXS, FITS = 1, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 0;
    static inline uint32_t code(const char * p, int i) { return iq3xxs_grid[(uint8_t) p[2 + i]]; }
    static inline Floats d(const char * const * row, size_t at) { return mul(halves(row, at), floats(0.25f)); }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ3_XXS>(row, at, w);
        w.d[0] = d(row, at);
        Ints x[8], s[8];
        turn_32(row, at + 66, x);
        for (int i = 0; i < 8; i++) {
            const Ints signs = signs_of_28_bits(x[i]);
            s[i] = highest_scale(x[i]);
            for (int t = 0; t < 4; t++) add_signs<BIAS>(signs, t, w.q + 8 * i + 2 * t);
        }
        put_scales<IQ3_XXS>(s, w);
    }
};
struct IQ3_S {
    static constexpr int BLOCK = 256, BYTES = 110, SUB = 32, BIAS = GREATEST_IQ3_S, FITS = 4, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 64;
    static inline void put_words(const char * p, uint16_t * word) {
        put_codes<64>(p + 2, word, [p](int i) {   // one more bit of each, eight in a byte
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + 66 + i / 8, 2), fourfold(0xff00, 0xff00, 0xff01, 0xff01));
            const __m256i times = _mm256_broadcastsi128_si256(_mm_setr_epi16(256, 128, 64, 32, 16, 8, 4, 2));
            return _mm256_and_si256(_mm256_mullo_epi16(upper, times), _mm256_set1_epi16(0x100));
        });
    }
    static inline uint32_t code(const char * p, int i) { return iq3s_grid[half_at(p + 2 * i)]; }
    static inline Floats d(const char * const * row, size_t at) { return halves(row, at); }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ3_S>(row, at, w);
        w.d[0] = d(row, at);
        Ints x[8];
        turn_32(row, at + 74, x);
        for (int t = 0; t < 32; t++) add_signs<BIAS>(x[t / 4], t % 4, w.q + 2 * t);
        const Ints scales = fours(row, at + 106);
        put_scales_of_nibbles<IQ3_S>(&scales, w);
    }
};

// ----------------------------------------------------------------------------------- one bit

// Weights of -1, 0 and 1, from which an eighth is taken or to which it is added: in eighths, 9 too large.
// `taken` has a 2 in each byte where it is taken.
INLINE void add_eighths(Ints taken, Ints * q) {
    for (int j = 0; j < 2; j++) q[j] = add8(left16<3>(add8(q[j], bytes(1))), xor_(taken, bytes(2)));
}
struct IQ1_S {
    static constexpr int BLOCK = 256, BYTES = 50, SUB = 32, BIAS = 9, FITS = 4, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 32;
    static inline void put_words(const char * p, uint16_t * word) {
        put_codes<32>(p + 2, word, [p](int i) {   // three more bits of each, four in a word
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + 34 + i / 2, 8), fourfold(0x100, 0x302, 0x504, 0x706));
            const __m256i first = _mm256_mullo_epi16(upper, _mm256_set1_epi64x(0x0000000400200100));
            return _mm256_and_si256(_mm256_blend_epi16(first, _mm256_srli_epi16(upper, 1), 0x88), _mm256_set1_epi16(0x700));
        });
    }
    static inline uint64_t code(const char * p, int i) { return iq1s_grid[half_at(p + 2 * i)]; }
    static inline Floats d(const char * const * row, size_t at) { return mul(halves(row, at), floats(0.125f)); }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ1_S>(row, at, w);
        w.d[0] = d(row, at);
        Ints x[4], s[8];
        turn(row, at + 34, x);
        for (int i = 0; i < 8; i++) {   // a word: the codes' upper bits, three bits of scale, the sign of an eighth
            const Ints word = i % 2 ? x[i / 2] : left32<16>(x[i / 2]), taken = and_(right32_signed<31>(word), bytes(2));
            s[i] = or_(and_(right32<27>(word), same_32(14)), same_32(1));
            for (int t = 0; t < 4; t++) add_eighths(taken, w.q + 8 * i + 2 * t);
        }
        put_scales<IQ1_S>(s, w);
    }
};
struct IQ1_M {
    static constexpr int BLOCK = 256, BYTES = 56, SUB = 16, BIAS = 9, FITS = 4, OFFSET = VNNI ? 0 : BIAS; static constexpr bool INTERLEAVED = false;
    static constexpr int WORDS = 32;
    static inline void put_words(const char * p, uint16_t * word) {
        put_codes<32>(p, word, [p](int i) {   // three more bits of each, two in a byte
            const __m256i which = _mm256_add_epi16(fourfold(0xff00, 0xff02, 0xff04, 0xff06), _mm256_set1_epi64x(0x0001000100000000));
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + 32 + i / 2, 8), which);
            return _mm256_and_si256(_mm256_mullo_epi16(upper, _mm256_set1_epi32(0x00100100)), _mm256_set1_epi16(0x700));
        });
    }
    static inline uint64_t code(const char * p, int i) { return iq1s_grid[half_at(p + 2 * i)]; }
    // Four words of four scales of three bits and a fourth of d.
    static inline Floats d(const char * const * row, size_t at) {
        const Ints a = fours(row, at + 48), b = fours(row, at + 52);
        const Ints d = or_(or_(and_(right32<12>(a), same_32(15)), and_(right32<24>(a), same_32(0xf0))),
                           or_(and_(right32<4>(b), same_32(0xf00)), and_(right32<16>(b), same_32(0xf000))));
        return mul(low_halves(d), floats(0.125f));
    }
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up<IQ1_M>(row, at, w);
        Ints x[4], s[16];
        turn(row, at + 32, x);
        for (int i = 0; i < 32; i++) {   // a nibble: the code's upper bits, the sign of an eighth
            const int byte = i / 2 % 4;
            const Ints sign = and_(lookup(x[i / 8], pattern(byte, byte, byte, byte)), bytes(i % 2 ? 0x80 : 8));
            add_eighths(i % 2 ? right16<6>(sign) : right16<2>(sign), w.q + 2 * i);
        }
        const Ints words[2] = { fours(row, at + 48), fours(row, at + 52) };
        w.d[0] = d(row, at);
        for (int t = 0; t < 16; t++) {
            const Ints bits = OP(srlv_epi32)(words[t / 8], same_32(t / 4 % 2 * 16 + t % 4 * 3));
            s[t] = add32(left32<1>(and_(bits, same_32(7))), same_32(1));
        }
        put_scales<IQ1_M>(s, w);
    }
};

// ------------------------------------------------- one row as it lies, with registers of 32 bytes

#if !defined(__AVX512VNNI__)
// 32 weights from the codes at p, the t-th such.
template <class W> INLINE Ints from_codes(const char * p, int t) {
    if constexpr (sizeof(Code<W>) == 8) {
        const auto code = [&](int i) { return (long long) W::code(p, 4 * t + i); };
        return _mm256_setr_epi64x(code(0), code(1), code(2), code(3));
    } else {
        const auto code = [&](int i) { return (int) W::code(p, 8 * t + i); };
        return _mm256_setr_epi32(code(0), code(1), code(2), code(3), code(4), code(5), code(6), code(7));
    }
}
// Bytes 0 to 3 of each lane, eight times each.
INLINE Ints eight_times(Ints x) { return lookup(x, _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303)); }

// Scales for `spread`: eight, or sixteen.
template <class W> Words row_scales(const char * p);
INLINE Words odd_words(Words s) { return or_(add16(s, s), words(1)); }   // 2 s + 1
INLINE Words sixteen_nibbles(const char * p) {
    const __m128i x = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *) p));
    return odd_words(_mm256_setr_m128i(_mm_and_si128(x, _mm_set1_epi16(15)), _mm_srli_epi16(x, 4)));
}
INLINE Words eight_highest(Ints x) {   // of lanes
    const Ints s = highest_scale(x);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(s, s), 0x88);
}
// Words 1, 3, and so on of sixteen.
INLINE Ints odd_lanes(const char * p) {
    const __m256 x = _mm256_shuffle_ps(_mm256_castsi256_ps(load(p)), _mm256_castsi256_ps(load(p + 32)), 0xdd);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(x), 0xd8);
}
template <> inline Words row_scales<IQ2_XXS>(const char * p) { return eight_highest(odd_lanes(p + 2)); }
template <> inline Words row_scales<IQ2_XS>(const char * p) { return sixteen_nibbles(p + 66); }
template <> inline Words row_scales<IQ2_S>(const char * p) { return sixteen_nibbles(p + 74); }
template <> inline Words row_scales<IQ3_XXS>(const char * p) { return eight_highest(load(p + 66)); }
template <> inline Words row_scales<IQ3_S>(const char * p) {
    int four; memcpy(&four, p + 106, 4);
    const __m128i x = _mm_cvtepu8_epi16(_mm_cvtsi32_si128(four));
    const __m128i nibbles = _mm_and_si128(_mm_or_si128(x, _mm_slli_epi16(x, 4)), _mm_set1_epi16(0x0f0f));
    return odd_words(eight_words((uint64_t) _mm_cvtsi128_si64(nibbles)));
}
template <> inline Words row_scales<IQ1_S>(const char * p) {   // three bits below the highest of each word
    return or_(and_(right16<11>(same16(p + 34)), words(14)), words(1));
}
template <> inline Words row_scales<IQ1_M>(const char * p) {   // four times three bits in each of four words
    const Ints x = lookup(same8(p + 48), each_128(_mm_setr_epi8(0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7)));
    const Ints first = _mm256_mullo_epi16(x, _mm256_setr_epi32(0x00802000, 0x00802000, 0x00802000, 0x00802000, 0x00100400, 0x00100400, 0x00100400, 0x00100400));
    return or_(and_(right16<12>(first), words(14)), words(1));
}

// Signs, a bit for each weight; of IQ1_M eighths, a byte for each code.
template <class W> Ints row_signs(const char * p);
template <> inline Ints row_signs<IQ2_XXS>(const char * p) { return signs_of_28_bits(odd_lanes(p + 2)); }
template <> inline Ints row_signs<IQ2_XS>(const char * p) {
    const Ints sevens = _mm256_packus_epi16(right16<9>(load(p + 2)), right16<9>(load(p + 34)));
    return add_eighth_signs(_mm256_permute4x64_epi64(sevens, 0xd8));
}
template <> inline Ints row_signs<IQ2_S>(const char * p) { return load(p + 34); }
template <> inline Ints row_signs<IQ3_XXS>(const char * p) { return signs_of_28_bits(load(p + 66)); }
template <> inline Ints row_signs<IQ3_S>(const char * p) { return load(p + 74); }
template <> inline Ints row_signs<IQ1_S>(const char * p) { return same16(p + 34); }   // the highest bit of each word
template <> inline Ints row_signs<IQ1_M>(const char * p) {   // 10, or 8 where the highest bit of a nibble is set
    const __m128i x = _mm_loadu_si128((const __m128i *) (p + 32)), two = _mm_set1_epi8(2);
    const __m128i low = _mm_andnot_si128(_mm_srli_epi16(x, 2), two), high = _mm_andnot_si128(_mm_srli_epi16(x, 6), two);
    return add8(_mm256_setr_m128i(_mm_unpacklo_epi8(low, high), _mm_unpackhi_epi8(low, high)), bytes(8));
}

// A row's superblock. All rows are read before one is multiplied: what is stored here is loaded again
// in smaller parts, which takes a while.
template <class W> struct RowOfCodes {
    alignas(32) uint16_t word[W::WORDS ? W::WORDS : 1];
    Words scales;
    Ints signs;
    const char * row;

    INLINE void read(RowOfCodes & to, const char * p) {
        to.scales = row_scales<W>(p);
        to.signs = row_signs<W>(p);
        to.row = p;
        if constexpr (W::WORDS) W::put_words(p, to.word);
    }
    // The whole sum of its products with a column, in eight parts.
    inline __attribute__((always_inline)) Ints times(const Superblock & y) const {
        const char * codes = W::WORDS ? (const char *) word : row;
        hide(codes);
        Ints sum = zero();
#pragma GCC unroll 8
        for (int t = 0; t < 8; t++) sum = add32(sum, madd(products(codes, t, load(y.q + 32 * t)), spread(scales, t)));
        if constexpr (std::is_same_v<W, IQ1_S>) {   // eighths of the activations' sums
            const __m128i eighths = _mm_sign_epi16(_mm256_castsi256_si128(scales), _mm_or_si128(_mm256_castsi256_si128(signs), _mm_set1_epi16(1)));
            sum = add32(left32<3>(sum), _mm256_inserti128_si256(zero(), _mm_madd_epi16(eighths, _mm_loadu_si128((const __m128i *) y.sums)), 0));
        }
        if constexpr (std::is_same_v<W, IQ1_M>) {
            const Ints even_first = lookup(load(y.sums), each_128(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)));
            sum = sub32(sum, madd(scales, _mm256_mullo_epi16(_mm256_permute4x64_epi64(even_first, 0xd8), words(IQ1_M::BIAS))));
        }
        return sum;
    }

private:
    // Those of 32 weights, the t-th such, in pairs.
    inline __attribute__((always_inline)) Ints products(const char * codes, int t, Ints y) const {
        const Ints x = from_codes<W>(codes, t);
        if constexpr (std::is_same_v<W, IQ1_S>) return maddubs(bytes(1), with_sign(y, x));   // -1, 0 and 1
        else {
            int four; memcpy(&four, (const char *) &signs + 4 * t, 4);
            const Ints spread = eight_times(same_32(four));
            if constexpr (std::is_same_v<W, IQ1_M>) return maddubs(add8(with_sign(bytes(8), x), spread), y);   // as eighths, with the bias
            else {
                const Ints bit = _mm256_set1_epi64x((long long) 0x8040201008040201), minus = _mm256_cmpeq_epi8(and_(spread, bit), bit);
                return maddubs(x, sub8(xor_(y, minus), minus));
            }
        }
    }
};
#endif
}  // namespace
