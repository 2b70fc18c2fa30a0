// The few vector operations that the kernels are written in, for three instruction sets.
//
// A register holds LANES numbers of 32 bits: 16 with AVX-512, else 8. PACELINE_ISA names the
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
INLINE Ints add8(Ints a, Ints b) { return OP(add_epi8)(a, b); }
INLINE Ints add16(Ints a, Ints b) { return OP(add_epi16)(a, b); }
INLINE Ints add32(Ints a, Ints b) { return OP(add_epi32)(a, b); }
INLINE Ints mul32(Ints a, Ints b) { return OP(mullo_epi32)(a, b); }
INLINE Ints abs8(Ints a) { return OP(abs_epi8)(a); }
INLINE Ints same_32(int x) { return OP(set1_epi32)(x); }
INLINE Ints sub32(Ints a, Ints b) { return OP(sub_epi32)(a, b); }
INLINE Ints sub8(Ints a, Ints b) { return OP(sub_epi8)(a, b); }
template <int N> INLINE Ints right16(Ints a) { return OP(srli_epi16)(a, N); }
template <int N> INLINE Ints left16(Ints a) { return OP(slli_epi16)(a, N); }
INLINE Ints shifted16(Ints a, int n) { return n < 0 ? OP(srli_epi16)(a, -n) : OP(slli_epi16)(a, n); }   // to the left
template <int N> INLINE Ints right16_signed(Ints a) { return OP(srai_epi16)(a, N); }
template <int N> INLINE Ints right32(Ints a) { return OP(srli_epi32)(a, N); }
template <int N> INLINE Ints right32_signed(Ints a) { return OP(srai_epi32)(a, N); }
template <int N> INLINE Ints left32(Ints a) { return OP(slli_epi32)(a, N); }
INLINE Ints lookup(Ints table, Ints index) { return OP(shuffle_epi8)(table, index); }
INLINE Ints maddubs(Ints u, Ints s) { return OP(maddubs_epi16)(u, s); }
INLINE Ints madd(Ints a, Ints b) { return OP(madd_epi16)(a, b); }
INLINE Floats to_floats(Ints a) { return OP(cvtepi32_ps)(a); }
INLINE Floats mul(Floats a, Floats b) { return OP(mul_ps)(a, b); }
INLINE Floats add(Floats a, Floats b) { return OP(add_ps)(a, b); }
INLINE Floats sub(Floats a, Floats b) { return OP(sub_ps)(a, b); }
INLINE Floats fma(Floats a, Floats b, Floats c) { return OP(fmadd_ps)(a, b, c); }
INLINE Ints same4(const void * p) { int v; memcpy(&v, p, 4); return OP(set1_epi32)(v); }
INLINE Floats load_floats(const void * p) { return OP(loadu_ps)((const float *) p); }
INLINE void store_floats(float * p, Floats x) { OP(storeu_ps)(p, x); }

#if defined(__AVX512VNNI__)
INLINE Ints load(const void * p) { return _mm512_loadu_si512(p); }
INLINE Ints dot16(Ints sum, Ints a, Ints b) { return _mm512_dpwssd_epi32(sum, a, b); }
INLINE Ints each_128(__m128i x) { return _mm512_broadcast_i32x4(x); }
INLINE Ints half_each(__m256i a, __m256i b) { return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1); }
INLINE Ints same16(const void * p) { return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *) p)); }
INLINE Floats load_halves(const void * p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *) p)); }
#else
INLINE Ints load(const void * p) { return _mm256_loadu_si256((const __m256i *) p); }
#if defined(__AVXVNNI__)
INLINE Ints dot16(Ints sum, Ints a, Ints b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
#else
INLINE Ints dot16(Ints sum, Ints a, Ints b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
#endif
INLINE Ints each_128(__m128i x) { return _mm256_broadcastsi128_si256(x); }
INLINE Ints same8(const void * p) { long long v; memcpy(&v, p, 8); return _mm256_set1_epi64x(v); }
INLINE Ints same16(const void * p) { return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *) p)); }
INLINE Floats load_halves(const void * p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) p)); }
#endif

// Four products of unsigned and signed bytes are added to each sum. Without `dpbusd` products are
// added in pairs to 16 bits, as far as they fit, and those to the sum (`quantised.h`).
#if defined(__AVX512VNNI__)
constexpr bool VNNI = true;
INLINE Ints dot8(Ints sum, Ints u, Ints s) { return _mm512_dpbusd_epi32(sum, u, s); }
#elif defined(__AVXVNNI__)
constexpr bool VNNI = true;
INLINE Ints dot8(Ints sum, Ints u, Ints s) { return _mm256_dpbusd_avx_epi32(sum, u, s); }
#else
constexpr bool VNNI = false;
Ints dot8(Ints sum, Ints u, Ints s);   // for code that is left out here, but must be readable
#endif
#if defined(__AVX512VNNI__)
Ints with_sign(Ints a, Ints sign);   // likewise
#else
INLINE Ints with_sign(Ints a, Ints sign) { return _mm256_sign_epi8(a, sign); }
#endif

// GCC would add up many products in a tree, which takes more registers than there are.
INLINE void keep_order(Ints & sum) { __asm__("" : "+x"(sum)); }

INLINE uint16_t half_at(const void * p) { uint16_t h; memcpy(&h, p, 2); return h; }
INLINE float half_to_float(uint16_t h) { return _cvtsh_ss(h); }

}  // namespace
