// How ggml's types with codebooks are unpacked: 256 weights of LANES rows at a time.
//
// A code stands for the magnitudes of eight weights (IQ2) or four (IQ3), or for eight weights of -1,
// 0 and 1 (IQ1); the codebooks are ggml's own tables (ggml-common.h). Codes are looked up one by one
// and put into the `Chunk`; signs and scales are those of all rows at once.
#pragma once
#include "weights.h"

#define GGML_COMMON_DECL_CPP
#define GGML_COMMON_IMPL_CPP
#include "ggml-common.h"

namespace paceline::PACELINE_ISA {

// -------------------------------------------------------------------------------------- codes

// The 32 codes of eight weights of each row, with one lane a row; `code(p, i)` is the i-th of the
// superblock at p. Four rows at a time, whose addresses fit into registers, and few wide stores. The
// compiler must not see where an address comes from: GCC would keep its sum with each offset, on the stack.
template <class Code> INLINE void look_up_eights(const char * const * row, size_t at, Chunk & w, Code code) {
    for (int r = 0; r < LANES; r += 4) {
        const char * p[4];
        for (int k = 0; k < 4; k++) { p[k] = row[r + k] + at; __asm__("" : "+r"(p[k])); }
#pragma GCC unroll 32
        for (int i = 0; i < 32; i++) {
            const auto two = [&](int k) { return _mm_castsi128_ps(_mm_set_epi64x((long long) code(p[k + 1], i), (long long) code(p[k], i))); };
            const __m128 a = two(0), b = two(2);
            _mm_store_ps((float *) (w.q + 2 * i) + r, _mm_shuffle_ps(a, b, 0x88));
            _mm_store_ps((float *) (w.q + 2 * i + 1) + r, _mm_shuffle_ps(a, b, 0xdd));
        }
    }
}
// Likewise 64 codes of four weights.
template <class Code> INLINE void look_up_fours(const char * const * row, size_t at, Chunk & w, Code code) {
    for (int r = 0; r < LANES; r += 4) {
        const char * p[4];
        for (int k = 0; k < 4; k++) { p[k] = row[r + k] + at; __asm__("" : "+r"(p[k])); }
#pragma GCC unroll 16
        for (int i = 0; i < 64; i++) {
            const auto one = [&](int k) { return (int) code(p[k], i); };
            _mm_store_si128((__m128i *) ((float *) (w.q + i) + r), _mm_setr_epi32(one(0), one(1), one(2), one(3)));
        }
    }
}

// Codes that take more than a byte: N words of each row. The bytes from `low` on hold their lowest bits;
// `upper(p, i)` gives the others of sixteen codes from the i-th on, in place, of the superblock's row p.
template <int N> struct Codes {
    alignas(64) uint16_t word[LANES][N];
    const char * row[LANES];
    template <class Upper> Codes(const char * const * from, size_t low, Upper upper) {
        for (int r = 0; r < LANES; r++) {
            row[r] = (const char *) word[r];
            for (int i = 0; i < N; i += 16) {
                const __m256i bits = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *) (from[r] + low + i)));
                _mm256_store_si256((__m256i *) (word[r] + i), _mm256_or_si256(bits, upper(from[r], i)));
            }
        }
    }
};
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up_eights(row, at, w, [](const char * p, int i) { return iq2xxs_grid[(uint8_t) p[2 + 8 * (i / 4) + i % 4]]; });
        w.d[0] = mul(halves(row, at), floats(0.125f));
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up_eights(row, at, w, [](const char * p, int i) { return iq2xs_grid[half_at(p + 2 + 2 * i) & 511]; });
        w.d[0] = mul(halves(row, at), floats(0.125f));
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        const Codes<32> codes(row, at + 2, [at](const char * p, int i) {   // two more bits of each, four in a byte
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + at + 66 + i / 4, 4), fourfold(0xff00, 0xff01, 0xff02, 0xff03));
            return _mm256_and_si256(_mm256_mullo_epi16(upper, _mm256_set1_epi64x(0x0004001000400100)), _mm256_set1_epi16(0x300));
        });
        look_up_eights(codes.row, 0, w, [](const char * p, int i) { return iq2s_grid[half_at(p + 2 * i)]; });
        w.d[0] = mul(halves(row, at), floats(0.125f));
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        look_up_fours(row, at, w, [](const char * p, int i) { return iq3xxs_grid[(uint8_t) p[2 + i]]; });
        w.d[0] = mul(halves(row, at), floats(0.25f));
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        const Codes<64> codes(row, at + 2, [at](const char * p, int i) {   // one more bit of each, eight in a byte
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + at + 66 + i / 8, 2), fourfold(0xff00, 0xff00, 0xff01, 0xff01));
            const __m256i times = _mm256_broadcastsi128_si256(_mm_setr_epi16(256, 128, 64, 32, 16, 8, 4, 2));
            return _mm256_and_si256(_mm256_mullo_epi16(upper, times), _mm256_set1_epi16(0x100));
        });
        look_up_fours(codes.row, 0, w, [](const char * p, int i) { return iq3s_grid[half_at(p + 2 * i)]; });
        w.d[0] = halves(row, at);
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        const Codes<32> codes(row, at + 2, [at](const char * p, int i) {   // three more bits of each, four in a word
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + at + 34 + i / 2, 8), fourfold(0x100, 0x302, 0x504, 0x706));
            const __m256i first = _mm256_mullo_epi16(upper, _mm256_set1_epi64x(0x0000000400200100));
            return _mm256_and_si256(_mm256_blend_epi16(first, _mm256_srli_epi16(upper, 1), 0x88), _mm256_set1_epi16(0x700));
        });
        look_up_eights(codes.row, 0, w, [](const char * p, int i) { return iq1s_grid[half_at(p + 2 * i)]; });
        w.d[0] = mul(halves(row, at), floats(0.125f));
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
    static inline void unpack(const char * const * row, size_t at, Chunk & w) {
        const Codes<32> codes(row, at, [at](const char * p, int i) {   // three more bits of each, two in a byte
            const __m256i which = _mm256_add_epi16(fourfold(0xff00, 0xff02, 0xff04, 0xff06), _mm256_set1_epi64x(0x0001000100000000));
            const __m256i upper = _mm256_shuffle_epi8(same_256(p + at + 32 + i / 2, 8), which);
            return _mm256_and_si256(_mm256_mullo_epi16(upper, _mm256_set1_epi32(0x00100100)), _mm256_set1_epi16(0x700));
        });
        look_up_eights(codes.row, 0, w, [](const char * p, int i) { return iq1s_grid[half_at(p + 2 * i)]; });
        Ints x[4], s[16];
        turn(row, at + 32, x);
        for (int i = 0; i < 32; i++) {   // a nibble: the code's upper bits, the sign of an eighth
            const int byte = i / 2 % 4;
            const Ints sign = and_(lookup(x[i / 8], pattern(byte, byte, byte, byte)), bytes(i % 2 ? 0x80 : 8));
            add_eighths(i % 2 ? right16<6>(sign) : right16<2>(sign), w.q + 2 * i);
        }
        // Four words of four scales of three bits and a fourth of d.
        const Ints words[2] = { fours(row, at + 48), fours(row, at + 52) };
        const Ints d = or_(or_(and_(right32<12>(words[0]), same_32(15)), and_(right32<24>(words[0]), same_32(0xf0))),
                           or_(and_(right32<4>(words[1]), same_32(0xf00)), and_(right32<16>(words[1]), same_32(0xf000))));
        w.d[0] = mul(low_halves(d), floats(0.125f));
        for (int t = 0; t < 16; t++) {
            const Ints bits = OP(srlv_epi32)(words[t / 8], same_32(t / 4 % 2 * 16 + t % 4 * 3));
            s[t] = add32(left32<1>(and_(bits, same_32(7))), same_32(1));
        }
        put_scales<IQ1_M>(s, w);
    }
};
}  // namespace
