// Columns of activations: quantised, and laid out in the order in which they are read.
//
// A column is a row of activations: a token. As many columns are computed together, a tile, as stay
// in the cache beside the weights, so one pass over the weights serves them all.
#pragma once
#include "matmul.h"
#include "simd.h"

#include "ggml-cpu.h"

namespace paceline::PACELINE_ISA {

// 256 values of a column, for superblocks.
struct Superblock {
    int8_t  q[256];
    int32_t start[16];   // with VNNI: the bias times the values of each sub-block, negative
    int16_t sums[16];    // of the values of each sub-block
    float   d;
};

// The columns of a product that are computed together, interleaved by blocks.
struct Tile {
    int     n;
    float** out;            // where each column's results go
    // Blocks of 32, [block][column]: values, their scale, minus the bias times their sum, and scale times sum.
    int8_t *     q;
    float *      d, * s;
    int32_t *    start;
    Superblock * super;     // [superblock][column]
    char *       plain;     // floats: a register's worth of each column, then the next
};

// Does ggml multiply BF16 by the processor's own instruction?
inline bool bf16_pairs() {
#if defined(__AVX512BF16__)
    return ggml_cpu_has_avx512_bf16();
#else
    return false;
#endif
}
// Floats: values that are multiplied by one instruction.
inline int chunk_values(const WeightKind & kind) { return kind.type == GGML_TYPE_BF16 && bf16_pairs() ? 2 * LANES : LANES; }

// Bytes of a column of `k` values.
inline size_t column_bytes(const WeightKind & kind, int64_t k) {
    if (kind.is_float()) return (k * ggml_type_size(kind.type) + 63) & ~(size_t) 63;
    const size_t size = kind.block() == 256 ? k / 256 * sizeof(Superblock) : k / 32 * (32 + 4 + 4 + 4);
    return (size + 63) & ~(size_t) 63;
}

// Where the parts of a tile of `n` columns lie, from the address of its first column on.
inline Tile tile_at(char * base, int64_t k, int n, float ** out) {
    const size_t blocks = (size_t) n * (k / 32);
    Tile t;
    t.n = n; t.out = out;
    t.q = (int8_t *) base;
    t.d = (float *) (base + 32 * blocks);
    t.s = t.d + blocks;
    t.start = (int32_t *) (t.s + blocks);
    t.super = (Superblock *) base;
    t.plain = base;
    return t;
}

// The greatest magnitude of n values, a multiple of 32. As whole numbers the bits of magnitudes have
// the order of their values, with infinity above all numbers, and what is no number above that.
inline float greatest(const float * x, int n) {
    const Ints magnitude = same_32(0x7fffffff);
    Ints most[2] = { zero(), zero() };
    for (int i = 0; i < n; i += 2 * LANES) for (int j = 0; j < 2; j++) most[j] = OP(max_epi32)(and_(load(x + i + j * LANES), magnitude), most[j]);
    most[0] = OP(max_epi32)(most[0], most[1]);
#if defined(__AVX512VNNI__)
    const __m256i eight = _mm256_max_epi32(_mm512_castsi512_si256(most[0]), _mm512_extracti64x4_epi64(most[0], 1));
#else
    const __m256i eight = most[0];
#endif
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1))));
}

// 32 values times `factor` as whole numbers; their sum's halves.
inline void quantise_32(const float * x, Floats factor, int8_t * q, int * sums) {
    __m256i v[4];
    for (int i = 0; i < 4; i++) {
#if defined(__AVX512VNNI__)
        const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), _mm512_castps512_ps256(factor));
#else
        const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), factor);
#endif
        v[i] = _mm256_cvtps_epi32(scaled);
    }
    // Packing works in halves of 128 bits; the permutation puts the order right.
    const __m256i b = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3])), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256((__m256i *) q, b);
    const __m256i eights = _mm256_sad_epu8(_mm256_xor_si256(b, _mm256_set1_epi8((char) 0x80)), _mm256_setzero_si256());   // each 8 * 128 too large
    const __m128i low = _mm256_castsi256_si128(eights), high = _mm256_extracti128_si256(eights, 1);
    sums[0] = _mm_cvtsi128_si32(low) + _mm_extract_epi32(low, 2) - 2048;
    sums[1] = _mm_cvtsi128_si32(high) + _mm_extract_epi32(high, 2) - 2048;
}

// The scale of whole numbers from -127 to 127 for values up to `most`, and what makes them. Where a
// value is infinite or no number, so is the scale, and with it the results. The smallest become 0.
struct Scale { float d, factor; };
inline Scale scale_for(float most) { return { most / 127.0f, most > 1e-36f ? 127.0f / most : 0.0f }; }

// What a type of weights wants to know of its activations: weights of a sub-block, and their bias.
struct Shape { int sub, bias; };

// Quantise blocks [b0, b1) of column c, and put them where the kernels want them.
inline void put_column(const WeightKind & kind, Shape shape, const Tile & t, int c, const float * x, int64_t b0, int64_t b1, char * scratch) {
    if (kind.is_float()) {
        const int64_t n = (b1 - b0) * 32;
        const size_t bytes = ggml_type_size(kind.type), chunk = chunk_values(kind);
        const char * from = (const char *) (x + b0 * 32);
        if (kind.type != GGML_TYPE_F32) {
            ggml_get_type_traits_cpu(kind.type)->from_float(x + b0 * 32, scratch, n);
            from = scratch;
        }
        for (int64_t i = 0; i < n; i += chunk) {
            char * to = t.plain + ((b0 * 32 + i) / chunk * t.n + c) * chunk * bytes;
            memcpy(to, from + i * bytes, chunk * bytes);
            if (planted == WRONG_SCALE && b0 + i == 0) to[1] ^= 1;
        }
        return;
    }
    const int size = kind.block();
    for (int64_t b = b0; b < b1; b++) {
        Scale scale = scale_for(greatest(x + b * size, size));
        if (planted == WRONG_SCALE && b == 0) scale.d *= 1.0001f;
        const Floats factor = floats(scale.factor);
        int sums[16];
        if (size == 32) {
            const size_t at = b * t.n + c;
            quantise_32(x + b * 32, factor, t.q + at * 32, sums);
            if (planted == WRONG_MINIMUM) sums[0]++;
            t.d[at] = scale.d;
            t.start[at] = -shape.bias * (sums[0] + sums[1]);
            t.s[at] = scale.d * (float) (sums[0] + sums[1]);
            continue;
        }
        Superblock & to = t.super[b * t.n + c];
        to.d = scale.d;
        for (int i = 0; i < 8; i++) quantise_32(x + b * 256 + 32 * i, factor, to.q + 32 * i, sums + 2 * i);
        if (planted == WRONG_MINIMUM) sums[0]++;
        for (int i = 0; i < 16; i++) {
            const int sum = shape.sub == 16 ? sums[i] : i < 8 ? sums[2 * i] + sums[2 * i + 1] : 0;
            to.sums[i] = (int16_t) sum;
            to.start[i] = -shape.bias * sum;
        }
    }
}
}  // namespace
