// The few vector operations that the kernels are written in, for three instruction sets.
//
// A register holds 32 weights (one block, or a part of one) of each of ROWS rows: two rows with
// AVX-512, one with AVX2. So one kernel source serves all of them. PACELINE_ISA names the
// instruction set that this translation unit is compiled for; everything lives in its namespace.
#pragma once
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

namespace paceline::PACELINE_ISA {

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512VNNI__)
using Ints   = __m512i;
using Floats = __m512;
constexpr int ROWS = 2;
#define OP(NAME)      _mm512_##NAME
#define OP_BITS(NAME) _mm512_##NAME##_si512
#else
using Ints   = __m256i;
using Floats = __m256;
constexpr int ROWS = 1;
#define OP(NAME)      _mm256_##NAME
#define OP_BITS(NAME) _mm256_##NAME##_si256
#endif
constexpr int LANES = sizeof(Floats) / 4;

INLINE Ints zero() { return OP_BITS(setzero)(); }
INLINE Floats zero_f() { return OP(setzero_ps)(); }
INLINE Ints bytes(int x) { return OP(set1_epi8)((char) x); }
INLINE Ints words(int x) { return OP(set1_epi16)((short) x); }
INLINE Floats floats(float x) { return OP(set1_ps)(x); }
INLINE Ints and_(Ints a, Ints b) { return OP_BITS(and)(a, b); }
INLINE Ints or_(Ints a, Ints b) { return OP_BITS(or)(a, b); }
INLINE Ints xor_(Ints a, Ints b) { return OP_BITS(xor)(a, b); }
INLINE Ints add32(Ints a, Ints b) { return OP(add_epi32)(a, b); }
INLINE Ints sub32(Ints a, Ints b) { return OP(sub_epi32)(a, b); }
INLINE Ints sub16(Ints a, Ints b) { return OP(sub_epi16)(a, b); }
INLINE Ints sub8(Ints a, Ints b) { return OP(sub_epi8)(a, b); }
template <int N> INLINE Ints right16(Ints a) { return OP(srli_epi16)(a, N); }
template <int N> INLINE Ints left16(Ints a) { return OP(slli_epi16)(a, N); }
template <int N> INLINE Ints right16_signed(Ints a) { return OP(srai_epi16)(a, N); }
INLINE Ints mul16(Ints a, Ints b) { return OP(mullo_epi16)(a, b); }
INLINE Ints packed(Ints a, Ints b) { return OP(packs_epi16)(a, b); }
template <int N> INLINE Ints left32(Ints a) { return OP(slli_epi32)(a, N); }
INLINE Ints lookup(Ints table, Ints index) { return OP(shuffle_epi8)(table, index); }
INLINE Ints maddubs(Ints u, Ints s) { return OP(maddubs_epi16)(u, s); }
INLINE Ints madd(Ints a, Ints b) { return OP(madd_epi16)(a, b); }
INLINE Floats to_floats(Ints a) { return OP(cvtepi32_ps)(a); }
INLINE Floats mul(Floats a, Floats b) { return OP(mul_ps)(a, b); }
INLINE Floats add(Floats a, Floats b) { return OP(add_ps)(a, b); }
INLINE Floats sub(Floats a, Floats b) { return OP(sub_ps)(a, b); }
INLINE Floats fma(Floats a, Floats b, Floats c) { return OP(fmadd_ps)(a, b, c); }
template <int J> INLINE Floats quad(Floats a) { return OP(permute_ps)(a, J * 0x55); }
INLINE Ints same4(const void * p) { int v; memcpy(&v, p, 4); return OP(set1_epi32)(v); }
INLINE Floats load_floats(const void * p) { return OP(loadu_ps)((const float *) p); }
INLINE void store_floats(float * p, Floats x) { OP(storeu_ps)(p, x); }

#if defined(__AVX512VNNI__)
INLINE Ints load(const void * p) { return _mm512_loadu_si512(p); }
INLINE Ints even_quarters(Ints a) { return _mm512_permutex_epi64(a, 0x88); }   // of each row, twice
INLINE Ints odd_quarters(Ints a) { return _mm512_permutex_epi64(a, 0xdd); }
INLINE Ints dot16(Ints sum, Ints a, Ints b) { return _mm512_dpwssd_epi32(sum, a, b); }
INLINE Floats four(const float * p) { return _mm512_broadcast_f32x4(_mm_loadu_ps(p)); }

// 32 bytes of each row, or the same 32 bytes for each.
INLINE Ints half_each(__m256i a, __m256i b) { return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1); }
INLINE Ints load32(const char * const * row, size_t at) {
    return half_each(_mm256_loadu_si256((const __m256i *) (row[0] + at)), _mm256_loadu_si256((const __m256i *) (row[1] + at)));
}
INLINE Ints same32(const void * p) { return _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *) p)); }
INLINE Ints same16(const void * p) { return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) p)); }
INLINE Ints same16_widened(const int8_t * p) { return _mm512_cvtepi8_epi16(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) p))); }   // 16 words
INLINE Ints same8(const void * p) { long long v; memcpy(&v, p, 8); return _mm512_set1_epi64(v); }
INLINE Floats load_halves(const void * p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) p)); }
#else
INLINE Ints load(const void * p) { return _mm256_loadu_si256((const __m256i *) p); }
INLINE Ints even_quarters(Ints a) { return _mm256_permute4x64_epi64(a, 0x88); }   // of each row, twice
INLINE Ints odd_quarters(Ints a) { return _mm256_permute4x64_epi64(a, 0xdd); }
#if defined(__AVXVNNI__)
INLINE Ints dot16(Ints sum, Ints a, Ints b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
#else
INLINE Ints dot16(Ints sum, Ints a, Ints b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
#endif
INLINE Floats four(const float * p) { return _mm256_broadcast_ps((const __m128 *) p); }

INLINE Ints load32(const char * const * row, size_t at) { return _mm256_loadu_si256((const __m256i *) (row[0] + at)); }
INLINE Ints same32(const void * p) { return _mm256_loadu_si256((const __m256i *) p); }
INLINE Ints same16(const void * p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) p)); }
INLINE Ints same16_widened(const int8_t * p) { return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *) p)); }   // 16 words
INLINE Ints same8(const void * p) { long long v; memcpy(&v, p, 8); return _mm256_set1_epi64x(v); }
INLINE Floats load_halves(const void * p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) p)); }
#endif

// Weights as signed bytes, ready to be multiplied by signed activations. `dpbusd` wants one side
// unsigned: activations are then kept with 128 added, and `other` is what takes that out again,
// -128 times the sum of each four weights. Without it `other` holds the weights' absolute values,
// and each product moves their signs to the activations.
struct Signed { Ints value, other; };

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr bool VNNI = true;
constexpr int ACTIVATION_FLIP = 0x80;   // what is xored into each byte of activations
#if defined(__AVX512VNNI__)
INLINE Ints dot8(Ints sum, Ints u, Ints s) { return _mm512_dpbusd_epi32(sum, u, s); }
#else
INLINE Ints dot8(Ints sum, Ints u, Ints s) { return _mm256_dpbusd_avx_epi32(sum, u, s); }
#endif
// Lanes of 32 bits whose values fit into 16: those of a below those of b.
#if defined(__AVX512VNNI__)
INLINE Ints low_and_high(Ints a, Ints b) { return _mm512_mask_blend_epi16(0xaaaaaaaa, a, _mm512_slli_epi32(b, 16)); }
#else
INLINE Ints low_and_high(Ints a, Ints b) { return _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa); }
#endif
INLINE Signed prepared(Ints w) { return { w, sub32(zero(), dot8(zero(), bytes(0x80), w)) }; }
INLINE Ints dot(Signed w, Ints y) { return dot8(w.other, y, w.value); }
#else
constexpr bool VNNI = false;
constexpr int ACTIVATION_FLIP = 0;
Ints dot8(Ints sum, Ints u, Ints s);   // for code that is left out here, but must be readable
INLINE Signed prepared(Ints w) { return { w, _mm256_sign_epi8(w, w) }; }
INLINE Ints dot(Signed w, Ints y) { return madd(maddubs(w.other, _mm256_sign_epi8(y, w.value)), words(1)); }
#endif

INLINE uint16_t half_at(const void * p) { uint16_t h; memcpy(&h, p, 2); return h; }
INLINE float half_to_float(uint16_t h) { return _cvtsh_ss(h); }

}  // namespace
