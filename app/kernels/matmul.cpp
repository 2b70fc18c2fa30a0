// Products of a weight matrix with 1 to 512 rows of activations, reading the weights seldom.
//
// ggml computes a product with several rows as that many products with one row (or, for some types
// and from some width on, by kernels that round differently). Here a few weight rows are unpacked
// once, and every column (a row of activations; a token) is multiplied by them. A result depends on
// its row, its column and the weights alone: not on the other columns, their number, how rows and
// columns are divided, or the threads. `quantised.h` says in which order it is added up, `floats.h`
// the same of F32, F16 and BF16.
//
// A product of a mixture of experts (MUL_MAT_ID) is the same with one group of columns per expert.
#include "matmul.h"

#include "floats.h"
#include "quantised.h"

#include <unistd.h>

extern "C" {
void ggml_barrier(struct ggml_threadpool * threadpool);
void ggml_threadpool_chunk_set(struct ggml_threadpool * threadpool, int value);
int  ggml_threadpool_chunk_add(struct ggml_threadpool * threadpool, int value);
}

namespace paceline::PACELINE_ISA {
namespace {

const long L1_BYTES = sysconf(_SC_LEVEL1_DCACHE_SIZE) > 32 << 10 ? sysconf(_SC_LEVEL1_DCACHE_SIZE) : 32 << 10;
const long L2_BYTES = sysconf(_SC_LEVEL2_CACHE_SIZE) > 256 << 10 ? sysconf(_SC_LEVEL2_CACHE_SIZE) : 256 << 10;

// Which columns meet which matrix: one matrix, or those of the experts that were chosen.
struct Plan {
    struct Part { const char * weights; int first, n; };   // slots
    int n_slots = 0, n_parts = 0, n_used = 1;
    Part part[MAX_EXPERTS];
    int  use[MAX_SLOTS];   // token * n_used + which of its experts
    const ggml_tensor * x, * y;
    const float * from(int slot) const {
        const int token = use[slot] / n_used, i = use[slot] % n_used;
        return (const float *) ((const char *) x->data + (has_experts() ? i % x->ne[1] * x->nb[1] + token * x->nb[2] : token * x->nb[1]));
    }
    float * to(int slot) const {
        const int token = use[slot] / n_used, i = use[slot] % n_used;
        return (float *) ((char *) y->data + (has_experts() ? i * y->nb[1] + token * y->nb[2] : token * y->nb[1]));
    }
    bool has_experts() const { return y->op == GGML_OP_MUL_MAT_ID; }
};

bool make_plan(Plan & plan, const ggml_tensor * op) {
    const ggml_tensor * w = op->src[0], * x = op->src[1];
    plan.x = x; plan.y = op;
    if (!plan.has_experts()) {
        plan.n_parts = 1; plan.n_slots = (int) x->ne[1];
        plan.part[0] = { (const char *) w->data, 0, plan.n_slots };
        for (int c = 0; c < plan.n_slots; c++) plan.use[c] = c;
        return true;
    }
    const ggml_tensor * ids = op->src[2];
    const int n_used = plan.n_used = (int) ids->ne[0], n_tokens = (int) ids->ne[1], n_experts = (int) w->ne[2];
    int count[MAX_EXPERTS + 1] = {};
    const auto expert = [&](int token, int i) { return *(const int32_t *) ((const char *) ids->data + token * ids->nb[1] + i * ids->nb[0]); };
    for (int t = 0; t < n_tokens; t++) for (int i = 0; i < n_used; i++) {
        const int e = expert(t, i);
        if (e < 0 || e >= n_experts) return false;
        count[e]++;
    }
    int next[MAX_EXPERTS];
    for (int e = 0; e < n_experts; e++) {
        next[e] = plan.n_slots;
        if (count[e]) plan.part[plan.n_parts++] = { (const char *) w->data + e * w->nb[2], plan.n_slots, count[e] };
        plan.n_slots += count[e];
    }
    for (int t = 0; t < n_tokens; t++) for (int i = 0; i < n_used; i++) plan.use[next[expert(t, i)]++] = t * n_used + i;
    return true;
}

// The columns of a part in tiles of about equal width. As many are computed together as stay in half of
// L2, beside the weights; floats are read anew for every few rows, from closer by.
int most_of_tile(const WeightKind & kind, int64_t k) {
    if (kind.is_float()) return 64;
    const int64_t fit = L2_BYTES / 2 / (int64_t) column_bytes(kind, k);
    return (int) (fit < 64 ? 64 : fit > MAX_TILE ? MAX_TILE : fit);
}
struct Tiles {
    int n, count;
    Tiles(const WeightKind & kind, int64_t k, int n) : n(n), count((n + most_of_tile(kind, k) - 1) / most_of_tile(kind, k)) {}
    int start(int i) const { return (int) ((int64_t) n * i / count); }
};

size_t scratch_bytes(const WeightKind & kind, int64_t k) { return kind.is_float() ? (size_t) k * 2 + 64 : 0; }

// A planted fault of floats: the first and the last values are added up apart.
void in_two_parts(const WeightKind & kind, FloatKernel kernel, Group g, Tile t) {
    const int64_t first = g.k / 2 / 128 * 128, size = ggml_type_size(kind.type);
    float keep[MAX_TILE][GROUP];
    Group head = g; head.k = first;
    kernel(head, t);
    for (int c = 0; c < t.n; c++) memcpy(keep[c], t.out[c] + g.first, g.n_rows * sizeof(float));
    for (const char * & row : g.row) row += first * size;
    g.k -= first; g.ahead = nullptr;
    t.plain += first * size * t.n;
    kernel(g, t);
    for (int c = 0; c < t.n; c++) for (int r = 0; r < g.n_rows; r++) t.out[c][g.first + r] += keep[c][r];
}

// The rows of one matrix, and how they are read.
struct Matrix {
    const WeightKind & kind;
    const char *       data;
    int64_t            k, n_rows;
    size_t             stride;

    // Weights are read once and in order: `step` rows further on are asked for while rows are
    // computed. With an L1 of 32 KB (Zen 4) that is into L2 for few columns, whose little work
    // hides no wait; reading on from there is left to the processor.
    const char * ahead_of(int64_t r, int step) const {
        const int64_t groups = L1_BYTES / 4 / (step * stride) + 1;   // enough to hide how long the memory takes
        const bool contiguous = stride == ggml_row_size(kind.type, k);
        return contiguous && r + (groups + 1) * step <= n_rows ? data + (r + groups * step) * stride : nullptr;
    }
    // The address of row r + i; of rows beyond the end, that of the last.
    const char * row(int64_t r, int i) const { return data + (r + i < n_rows ? r + i : n_rows - 1) * stride; }

    void compute(const Quantised & type, int64_t r, const Tile & t, bool is_first) const {
        const char * rows[STEP];
        const int n = (int) (n_rows - r < STEP ? n_rows - r : STEP);
        for (int i = 0; i < STEP; i++) rows[i] = kind.repacked ? row(r, i * 8 < n ? i * 8 : 0) : row(r, i);
        type.rows({ rows, r, n, k, { is_first ? ahead_of(r, STEP) : nullptr, t.n >= 8 || L1_BYTES >= 48 << 10 } }, t);
    }
    void compute(FloatKernel kernel, int64_t r, const Tile & t, bool is_first) const {
        Group g;
        g.first = r;
        g.n_rows = (int) (n_rows - r < GROUP ? n_rows - r : GROUP);
        g.k = k;
        g.ahead = is_first ? ahead_of(r, GROUP) : nullptr;
        for (int i = 0; i < GROUP; i++) g.row[i] = row(r, i);
        if (planted == OTHER_ORDER && t.n > MOST_IN_ORDER) in_two_parts(kind, kernel, g, t);
        else kernel(g, t);
    }
};

}  // namespace

size_t matmul_work_size(const WeightKind & kind, int n_threads, const ggml_tensor * op) {
    const int64_t k = op->src[0]->ne[0];
    const int64_t slots = op->op == GGML_OP_MUL_MAT ? op->src[1]->ne[1] : op->src[2]->ne[0] * op->src[2]->ne[1];
    return 64 + slots * column_bytes(kind, k) + n_threads * scratch_bytes(kind, k);
}

bool matmul(const WeightKind & kind, const ggml_compute_params * params, ggml_tensor * op) {
    const ggml_tensor * w = op->src[0];
    const int64_t k = w->ne[0];
    const int ith = params->ith, nth = params->nth;
    const bool is_float = kind.is_float();
    const Quantised type = quantised(kind);
    const FloatKernel kernel = float_kernel(kind);
    Plan plan;
    if (!make_plan(plan, op)) return false;
    const size_t column = column_bytes(kind, k);
    char * activations = (char *) (((uintptr_t) params->wdata + 63) & ~(uintptr_t) 63);
    char * scratch = activations + plan.n_slots * column + ith * scratch_bytes(kind, k);
    const int64_t blocks = k / kind.block();
    const int64_t b0 = blocks * ith / nth, b1 = blocks * (ith + 1) / nth;
    for (int p = 0; p < plan.n_parts && b0 < b1; p++) {
        const Tiles tiles(kind, k, plan.part[p].n);
        for (int i = 0; i < tiles.count; i++) {
            const int c = tiles.start(i), n = tiles.start(i + 1) - c, slot = plan.part[p].first + c;
            const Tile t = tile_at(activations + slot * column, k, n, nullptr);
            for (int j = 0; j < n; j++) put_column(kind, type.shape, t, j, plan.from(slot + j), b0, b1, scratch);
            if (planted == LOST_BLOCK && b1 == blocks) for (int j = 0; j < n; j++) {
                static const float nothing[256] = {};
                put_column(kind, type.shape, t, j, nothing - (blocks - 1) * (k / blocks), blocks - 1, blocks, scratch);
            }
        }
    }
    // Rows are dealt out in chunks of at least STEP, so that a thread that was held up leaves its rest to others.
    const int64_t units = (w->ne[1] + STEP - 1) / STEP;
    const int64_t wanted = nth == 1 ? 1 : (nth * 8 + plan.n_parts - 1) / plan.n_parts;
    const int per_part = (int) (units < wanted ? units : wanted), n_chunks = per_part * plan.n_parts;
    if (ith == 0) ggml_threadpool_chunk_set(params->threadpool, nth);
    ggml_barrier(params->threadpool);
    for (int chunk = ith; chunk < n_chunks; chunk = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const Plan::Part & part = plan.part[chunk / per_part];
        const Matrix matrix { kind, part.weights, k, w->ne[1], w->nb[1] };
        const int at = chunk % per_part;
        const int64_t r0 = units * at / per_part * STEP, end = units * (at + 1) / per_part * STEP, r1 = end < w->ne[1] ? end : w->ne[1];
        const Tiles tiles(kind, k, part.n);
        for (int i = 0; i < tiles.count; i++) {
            const int c = tiles.start(i), n = tiles.start(i + 1) - c, slot = part.first + c;
            float * out[MAX_TILE];
            for (int j = 0; j < n; j++) out[j] = plan.to(slot + j);
            const Tile t = tile_at(activations + slot * column, k, n, out);
            for (int64_t r = r0; r < r1; r += is_float ? GROUP : STEP) {
                if (is_float) matrix.compute(kernel, r, t, i == 0);
                else matrix.compute(type, r, t, i == 0);
            }
        }
        if ((planted == ONE_WIDTH && part.n == THE_WIDTH) || (planted == ONE_THREAD && ith == THE_THREAD) || (planted == ONE_ISA && !VNNI)) {
            spoil(plan.to(part.first)[r0]);
        }
    }
    if (planted == OVERRUN && ith == 0) plan.to(plan.n_slots - 1)[w->ne[1]] = 1.0f;
    return true;
}

}  // namespace paceline::PACELINE_ISA
