// What the rest of Paceline sees of this library: one entry that draws the tokens of rows of logits,
// called by ctypes (`engine/sample/native_rows.py`). It keeps no state, any thread may call it, and
// the definition that it computes is written out in `engine/sample/plain_rows.py`: both give the same
// token for every input.
#pragma once
#include <stdint.h>

#ifdef _WIN32
#define PACELINE_API __declspec(dllexport)
#else
#define PACELINE_API __attribute__((visibility("default")))
#endif

#define PACELINE_MOST_ROWS 512
#define PACELINE_WINDOW    64   // tokens that penalties look at
#define PACELINE_MOST_BEST 20   // likeliest tokens that can be told of a row

#ifdef __cplusplus
extern "C" {
#endif

struct paceline_rows_request {
    // Settings, the same for a whole reply.
    double           temperature;   // 0: the largest logit
    double           top_p;         // 1: off
    double           log_min_p;     // the logarithm of min-p; -infinity: off
    double           repeat, presence, frequency;   // penalties
    uint64_t         seed;
    const int32_t *  biased;        // [n_biased] tokens to whose logits something is added,
    const float *    biases;        // [n_biased] and what
    const int32_t *  forbidden;     // [n_forbidden]
    void *           scratch;       // of `paceline_rows_scratch` bytes, aligned to 8
    int32_t          top_k;         // 0: off
    int32_t          n_biased, n_forbidden;
    int32_t          n_best;        // likeliest tokens to tell of each row, and its sum; -1: neither

    // A call's, where they are used.
    const uint8_t *  allowed;       // a bit for each of n_allowed tokens, the lowest first, others are not; NULL: all are
    int64_t          n_allowed;
    int32_t          n_recent;      // 0..PACELINE_WINDOW
    int32_t          has_confidence;
    int32_t          recent[PACELINE_WINDOW];      // the last tokens of prompt and reply, for penalties
    int32_t          draft[PACELINE_MOST_ROWS];    // rows are drawn until one disagrees with it

    // Results, for each row drawn.
    int32_t          tokens[PACELINE_MOST_ROWS];
    double           confidence;                   // of the last row: the likeliest token's share of the ten likeliest
    double           log_sum[PACELINE_MOST_ROWS];  // log(sum(exp(logit))) of the row as it came
    float            logit[PACELINE_MOST_ROWS];    // the drawn token's in the row as it came
    int32_t          best[PACELINE_MOST_ROWS * PACELINE_MOST_BEST];        // [n_rows, n_best], -1 beyond the vocabulary
    float            best_logit[PACELINE_MOST_ROWS * PACELINE_MOST_BEST];
    int32_t          n_drawn;
};

// Why a row gives no token.
enum {
    PACELINE_ROWS_INVALID = 1,   // the row has a NaN or +infinity
    PACELINE_ROWS_EMPTY   = 2,   // it has nothing but -infinity
    PACELINE_ROWS_STUCK   = 3,   // nothing of it is allowed
};

// Number of this interface; a library with another number is not used.
PACELINE_API int paceline_rows_interface(void);

// Bytes of a request, by which its description in Python is checked.
PACELINE_API int64_t paceline_rows_request_size(void);

// The instructions that are used: "avx512", "avx2" or "generic"; at first the best that the processor has.
PACELINE_API const char * paceline_rows_isa(void);

// For tests: use others. 0: done; 1: the library or the processor lacks them.
PACELINE_API int paceline_rows_use(const char * isa);

// Bytes of `scratch` for rows of this length.
PACELINE_API int64_t paceline_rows_scratch(int64_t n_vocab, int32_t n_biased);

// Draw n_rows rows of logits, [n_rows, n_vocab], from this position of the reply on: 1..PACELINE_MOST_ROWS rows
// of 1 logit or more, one more than the draft has tokens. Biases and penalties are written into them, and
// -infinity for some of the tokens that are not allowed. 0: there are `n_drawn` tokens, fewer than rows where one
// disagrees with the draft; otherwise why the row after these gives none.
PACELINE_API int paceline_rows_draw(struct paceline_rows_request * request, float * rows, int64_t n_vocab, int64_t position,
                                    int32_t n_rows);

#ifdef __cplusplus
}
#endif
