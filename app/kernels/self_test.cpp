// Is a kernel right on this processor? It computes small pieces of work, and has to prove
//
//   bits: a row's result is the same alone and among others: at every width, wherever the rows are
//   cut, with one and three threads; products of floats excepted, also with every instruction set, and
//   whether or not ggml has repacked the weights;
//
//   a bound: where activations lose nothing when they are quantised, the result is the exact one, in
//   doubles, but for the roundings of a sum of floats. Where they do lose, the errors' root mean
//   square is at most MOST_ERROR of that of ggml's single rows.
//
// Rows of zeros and denormals, huge ones, infinite ones and rows of no numbers are among the others;
// the last two may come out as anything, but must not change their neighbours.
//
// It runs in a process of its own, once per build and processor, before a kernel is used.
#include "paceline_kernels.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "matmul.h"

ggml_backend_buffer_type_t ggml_backend_cpu_repack_buffer_type(void);

namespace paceline {
namespace {

enum Answer { NOT_RUN = -1, WRONG, PROVED };

// Rows of a decode: those of drafts, and for some shapes those of prompts.
const std::vector<int> NARROW = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 63}, WIDE = {63, 64, 65, 200, MAX_ROWS};
const char * const INSTRUCTIONS[] = {"avx2", "avx-vnni", "avx512-vnni"};

constexpr double MOST_ERROR = 1.05;
constexpr double EPS = 0x1p-24;     // of one rounding, of the value
constexpr double LEAST = 1e-30;     // an error that is none: of activations that a scale cannot hold
constexpr float  CANARY = 12345.0f;
constexpr int    ROOM = 16;         // floats beyond a result, which nothing may write to
constexpr float  INFINITE = std::numeric_limits<float>::infinity(), NO_NUMBER = std::numeric_limits<float>::quiet_NaN();

struct Random {
    uint64_t state = 88172645463325252ull;
    uint64_t bits() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
    float next() {   // about normal: the sum of four uniforms
        float sum = 0;
        for (int i = 0; i < 4; i++) sum += (float) (bits() >> 40) * 0x1p-24f - 0.5f;
        return sum * 1.7f;
    }
    int below(int n) { return (int) ((bits() >> 33) % n); }
};

// ---- tensors and graphs ------------------------------------------------------------------------

// Makes tensors, each in memory that ends where the tensor does.
class Context {
public:
    Context() : pointer(ggml_init({1 << 16, nullptr, true}), ggml_free) {}
    operator ggml_context *() const { return pointer.get(); }

    // In memory that the caller owns, and that begins at a multiple of 32.
    ggml_tensor * view(ggml_type type, const std::vector<int64_t> & shape, void * data) {
        ggml_tensor * t = ggml_new_tensor(*this, type, (int) shape.size(), shape.data());
        const size_t size = ggml_nbytes(t);
        buffers.emplace_back(ggml_backend_cpu_buffer_from_ptr(data, size), ggml_backend_buffer_free);
        ggml_backend_tensor_alloc(buffers.back().get(), t, data);
        return t;
    }
    ggml_tensor * tensor(ggml_type type, const std::vector<int64_t> & shape, const void * content) {
        size_t size = ggml_row_size(type, shape[0]);
        for (size_t i = 1; i < shape.size(); i++) size *= (size_t) shape[i];
        void * data = nullptr;
        if (posix_memalign(&data, 64, size)) abort();
        memory.emplace_back(data, free);
        memcpy(data, content, size);
        return view(type, shape, data);
    }
    // nullptr: this ggml does not repack them.
    ggml_tensor * repacked(ggml_type type, const std::vector<int64_t> & shape, const void * content) {
        ggml_tensor * t = ggml_new_tensor(*this, type, (int) shape.size(), shape.data());
        buffers.emplace_back(ggml_backend_buft_alloc_buffer(ggml_backend_cpu_repack_buffer_type(), ggml_nbytes(t)), ggml_backend_buffer_free);
        ggml_backend_tensor_alloc(buffers.back().get(), t, ggml_backend_buffer_get_base(buffers.back().get()));
        if (!t->extra) return nullptr;
        ggml_backend_tensor_set(t, content, 0, ggml_nbytes(t));
        return t;
    }
    // What a node gives, and the ROOM after it.
    std::vector<float> computed(ggml_tensor * node, int n_threads) {
        const size_t size = (size_t) ggml_nelements(node);
        std::vector<float> out(size + ROOM, CANARY);
        ggml_tensor * room = tensor(GGML_TYPE_F32, {(int64_t) out.size()}, out.data());
        node->data = room->data; node->buffer = room->buffer;
        ggml_cgraph * graph = ggml_new_graph_custom(*this, 16, false);
        ggml_build_forward_expand(graph, node);
        std::unique_ptr<std::remove_pointer_t<ggml_backend_t>, void (*)(ggml_backend_t)> backend(ggml_backend_cpu_init(), ggml_backend_free);
        ggml_backend_cpu_set_n_threads(backend.get(), n_threads);
        ggml_backend_graph_compute(backend.get(), graph);
        memcpy(out.data(), room->data, out.size() * sizeof(float));
        return out;
    }

private:
    std::unique_ptr<ggml_context, void (*)(ggml_context *)> pointer;
    std::vector<std::unique_ptr<void, void (*)(void *)>> memory;
    std::vector<std::unique_ptr<ggml_backend_buffer, void (*)(ggml_backend_buffer_t)>> buffers;
};

// Quantise rows of k values.
std::vector<char> quantised(ggml_type type, const std::vector<float> & values, int64_t k) {
    const int64_t n = (int64_t) values.size() / k;
    const std::vector<float> importance(k, 1.0f);
    std::vector<char> data(ggml_row_size(type, k) * n);
    if (ggml_quantize_chunk(type, values.data(), data.data(), 0, n, k, importance.data()) != data.size()) data.clear();
    return data;
}

std::vector<float> dequantised(ggml_type type, const std::vector<char> & data, int64_t k) {
    const size_t n = data.size() / ggml_row_size(type, k);
    std::vector<float> values(n * k);
    if (type == GGML_TYPE_F32) memcpy(values.data(), data.data(), data.size());
    else ggml_get_type_traits(type)->to_float(data.data(), values.data(), (int64_t) (n * k));
    return values;
}

bool has_codebook(ggml_type type) {
    switch (type) {
        case GGML_TYPE_IQ1_S: case GGML_TYPE_IQ1_M: case GGML_TYPE_IQ2_XXS: case GGML_TYPE_IQ2_XS:
        case GGML_TYPE_IQ2_S: case GGML_TYPE_IQ3_XXS: case GGML_TYPE_IQ3_S: return true;
        default: return false;
    }
}

// Values that a byte and a power of two hold, for every 32 of them as for all.
void put_exact(float * x, int64_t n, float unit, Random & random) {
    for (int64_t i = 0; i < n; i++) x[i] = unit * (float) (i % 32 == n % 31 ? 127 : random.below(255) - 127);
}

// The sum of products: the exact one, or of magnitudes.
double dot(const float * x, const float * y, int64_t n) {
    double sums[8] = {};
    for (int64_t i = 0; i < n; i += 8) for (int j = 0; j < 8; j++) sums[j] += (double) x[i + j] * y[i + j];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// ---- pieces of work ----------------------------------------------------------------------------

// The meaning of a row: its errors count, are bounded, do not matter; or its result does not either.
enum Kind { ROUGH, EXACT, ODD, LOST };

struct Work {
    std::vector<Kind> rows;
    size_t size = 0;   // floats in a row's result
    virtual ~Work() = default;
    // The results of rows [first, first + count), and the ROOM after them.
    virtual std::vector<float> compute(int first, int count, int n_threads) const = 0;
    // A row's result in doubles, and how far from it floats may be.
    virtual void reference(int row, double * value, double * bound) const = 0;
    int count() const { return (int) rows.size(); }
};

// Of a row at this place, in a cycle that has all kinds: an exceptional one's number from 0 on, or -1.
int exception(int row) { return row % 8 == 6 ? row / 8 % 5 : -1; }

struct Product : Work {
    const ggml_type type;
    const int64_t k, n;
    const int n_experts, n_used;
    std::vector<float> x;
    std::vector<int32_t> ids;
    std::vector<float> dense, greatest;   // weights as floats; the greatest magnitude of each 32
    Context context;
    ggml_tensor * w = nullptr;   // nullptr: such weights cannot be made

    Product(int kernel, int64_t k, int64_t n, int n_experts, int n_rows)
        : type((ggml_type) paceline_kernels_type(kernel)), k(k), n(n), n_experts(n_experts), n_used(n_experts > 1 ? 2 : 1) {
        Random random; random.state += k * 31 + n;
        size = n * n_used;
        make_weights(paceline_kernels_is_repacked(kernel), random);
        x.resize(k * n_rows);
        for (int row = 0; row < n_rows; row++) rows.push_back(make_row(row, random));
        for (int t = 0; n_experts > 1 && t < n_rows; t++) {   // two different ones, the first more often
            const int e = random.below(3) ? 0 : random.below(n_experts);
            ids.push_back(e); ids.push_back((e + 1 + random.below(n_experts - 1)) % n_experts);
        }
    }

    // Any bits are weights of a codebook, for which ggml takes seconds to quantise: bits as they come, all 0
    // and all 1, with scales of 0 beside others.
    std::vector<char> drawn_blocks(Random & random) const {
        const size_t block = ggml_type_size(type);
        std::vector<char> data(ggml_row_size(type, k) * n * n_experts);
        for (size_t at = 0, i = 0; at < data.size(); at += block, i++) {
            for (size_t j = 0; j < block; j++) data[at + j] = i % 7 < 5 ? (char) random.bits() : i % 7 == 5 ? 0 : -1;
            const uint16_t d = ggml_fp32_to_fp16(i % 5 ? random.next() : 0.0f);
            if (type != GGML_TYPE_IQ1_M) memcpy(data.data() + at, &d, 2);
            else for (int j = 0; j < 4; j++) {   // the highest bits of its last four words
                char & high = data[at + block - 7 + 2 * j];
                high = (char) ((high & 15) | (d >> 4 * j & 15) << 4);
            }
        }
        return data;
    }

    // Rows as they come, of one sign, with scales of 0 beside great ones, and constant ones.
    void make_weights(bool repacked, Random & random) {
        std::vector<float> values(k * n * n_experts);
        for (int64_t r = 0; r < n * n_experts; r++) for (int64_t i = 0; i < k; i++) {
            const float drawn = random.next();
            const float of_kind[] = {drawn, drawn, std::fabs(drawn), -std::fabs(drawn), i / 32 % 2 ? 0.0f : i % 32 == 5 ? 50.0f : drawn, 1.0f};
            values[r * k + i] = of_kind[r % 6];
        }
        std::vector<char> data = has_codebook(type) ? drawn_blocks(random) : quantised(type, values, k);
        if (data.empty()) return;
        if (type == GGML_TYPE_Q8_0) for (size_t at = 0, i = 0; at < data.size(); at += 34, i++) if (i % 3 == 0) data[at + 2 + i % 32] = -128;
        dense = dequantised(type, data, k);
        for (size_t at = 0; at < dense.size(); at += 32) {
            float most = 0;
            for (int i = 0; i < 32; i++) most = std::max(most, std::fabs(dense[at + i]));
            greatest.push_back(most);
        }
        const std::vector<int64_t> shape = n_experts > 1 ? std::vector<int64_t>{k, n, n_experts} : std::vector<int64_t>{k, n};
        w = repacked ? context.repacked(type, shape, data.data()) : context.tensor(type, shape, data.data());
    }

    Kind make_row(int row, Random & random) {
        float * to = x.data() + row * k;
        const int64_t block = ggml_blck_size(type) == 256 ? 256 : 32;
        if (row % 2) {   // with two rows of eight as great as can be
            for (int64_t i = 0; i < k; i += block) put_exact(to + i, block, std::ldexp(1.0f, random.below(8) - 6), random);
            if (row % 8 >= 5) for (int64_t i = 0; i < k; i++) to[i] = row % 8 == 5 ? 127.0f : -127.0f;
            return EXACT;
        }
        for (int64_t i = 0; i < k; i++) to[i] = random.next();
        switch (exception(row)) {
            case 0: for (int64_t i = 0; i < k; i++) to[i] = 0.0f; return EXACT;
            case 1: for (int64_t i = 0; i < k; i++) to[i] *= 1e-40f; return EXACT;
            case 2: to[random.below((int) k)] = 1e30f; return ODD;
            case 3: to[random.below((int) k)] = -INFINITE; return LOST;
            case 4: to[random.below((int) k)] = NO_NUMBER; return LOST;
            default: return ROUGH;
        }
    }

    std::vector<float> compute(int first, int count, int n_threads) const override {
        Context context;
        if (ids.empty()) return context.computed(ggml_mul_mat(context, w, context.tensor(GGML_TYPE_F32, {k, count}, x.data() + first * k)), n_threads);
        ggml_tensor * input = context.tensor(GGML_TYPE_F32, {k, 1, count}, x.data() + first * k);
        return context.computed(ggml_mul_mat_id(context, w, input, context.tensor(GGML_TYPE_I32, {n_used, count}, ids.data() + first * n_used)), n_threads);
    }

    // A block gives at most three roundings, of its whole number, its sum and its minimum, each of at
    // most the magnitudes that are added. With a minimum those are greater than weights times activations,
    // as a weight is the difference of two values, each at most about twice the block's greatest.
    void reference(int row, double * value, double * bound) const override {
        const float * y = x.data() + row * k;
        const int64_t blocks = k / (ggml_is_quantized(type) ? ggml_blck_size(type) : 32);
        std::vector<double> magnitude(k / 32);
        for (int64_t i = 0; i < k; i++) magnitude[i / 32] += std::fabs(y[i]);
        for (size_t i = 0; i < size; i++) {
            const size_t r = i % n + (ids.empty() ? 0 : ids[row * n_used + i / n] * n);
            value[i] = dot(dense.data() + r * k, y, k);
            double sum = 0;
            for (int64_t b = 0; b < k / 32; b++) sum += magnitude[b] * greatest[r * (k / 32) + b];
            bound[i] = (double) (3 * blocks + 8) * EPS * 3 * sum + LEAST;
        }
    }
};

struct Head { int size, n_heads, n_kv_heads; float soft_cap; bool sinks; };

struct Attention : Work {
    const ggml_type type;
    const Head head;
    const int cells;
    const float scale;
    std::vector<float> q, keys, values, sinks;   // keys and values as floats
    Context context;
    ggml_tensor * k, * v;
    std::vector<ggml_fp16_t> mask;
    std::vector<int> seen;   // by row: cells up to the last one that it sees

    // Cells are told apart by what their keys begin with, FAR or -FAR; rows that are exact have a query
    // that begins with STEEP, so that the two halves' scores are far apart, and a mask that takes that out
    // again. So an error of the scale, however small, is seen.
    static constexpr float FAR = 8.0f, STEEP = 127.0f * 8;

    Attention(int kernel, const Head & head, int cells, int n_rows)
        : type((ggml_type) paceline_kernels_type(kernel)), head(head), cells(cells), scale(1.0f / std::sqrt((float) head.size)) {
        Random random; random.state += cells * 17 + head.size;
        size = (size_t) head.size * head.n_heads;
        for (std::vector<float> * each : {&keys, &values}) {
            for (int i = 0; i < cells * head.n_kv_heads * head.size; i++) each->push_back(random.next());
        }
        for (int c = 0; c < cells; c++) for (int i = c * head.n_kv_heads; i < (c + 1) * head.n_kv_heads; i++) {
            keys[(size_t) i * head.size] = c % 2 ? FAR : -FAR;
            for (int j = 0; j < head.size; j++) values[(size_t) i * head.size + j] += c % 2 ? 1.0f : -1.0f;
        }
        k = cached(keys); v = cached(values);
        for (int i = 0; head.sinks && i < head.n_heads; i++) sinks.push_back(random.next());
        q.resize(size * n_rows);
        for (int row = 0; row < n_rows; row++) rows.push_back(make_row(row, n_rows, random));
    }

    // Cells that no row sees: what they hold must not matter.
    static bool is_stale(int cell) { return cell % 31 == 17; }
    ggml_tensor * cached(std::vector<float> & x) {
        std::vector<char> data = quantised(type, x, head.size);
        x = dequantised(type, data, head.size);
        const ggml_fp16_t lost[] = {ggml_fp32_to_fp16(INFINITE), ggml_fp32_to_fp16(NO_NUMBER)};
        const size_t cell = data.size() / cells, step = ggml_type_size(type);   // of a half, or a block that begins with one
        for (int c = 0; c < cells; c++) if (is_stale(c)) for (size_t at = 0; at < cell; at += step) memcpy(data.data() + c * cell + at, &lost[c % 2], 2);
        return context.tensor(type, {head.size, head.n_kv_heads, cells}, data.data());
    }

    Kind make_row(int row, int n_rows, Random & random) {
        const bool exact = row % 2, blind = exception(row) == 3;
        seen.push_back(1);
        for (int c = 0; c < cells; c++) {   // causal, with a window and holes
            const bool hidden = c > cells - n_rows + row || (row % 3 == 0 && c < cells / 4) || random.below(50) == 0;
            const bool sees = !blind && !is_stale(c) && (!hidden || c == 0);
            const float level = exact && head.soft_cap == 0 && c % 2 ? -2 * FAR * STEEP * scale : 0.0f;
            mask.push_back(ggml_fp32_to_fp16(sees ? level : -INFINITE));
            if (sees) seen.back() = c + 1;
        }
        for (int h = 0; h < head.n_heads; h++) {
            float * to = q.data() + row * size + (size_t) h * head.size;
            for (int i = 0; i < head.size; i++) to[i] = 2 * random.next();
            if (exact) put_exact(to, head.size, 0x1p-5f, random);
            if (exact) for (int i = 0; i < 32; i++) to[i] = i ? 8.0f * (float) (random.below(3) - 1) : STEEP;
            switch (exception(row)) {
                case 0: to[random.below(head.size)] = NO_NUMBER; break;
                case 1: for (int i = 0; i < head.size; i++) to[i] = 0.0f; break;
                case 2: to[random.below(head.size)] = 1e30f; break;
                case 4: to[random.below(head.size)] = -INFINITE; break;
                default: break;
            }
        }
        constexpr Kind of_exception[] = {LOST, EXACT, LOST, EXACT, LOST};
        return exact ? EXACT : exception(row) < 0 ? ROUGH : of_exception[exception(row)];
    }

    std::vector<float> compute(int first, int count, int n_threads) const override {
        Context context;
        const int64_t n = count == 1 ? seen[first] : cells;   // alone a row may have fewer cells
        ggml_tensor * query = context.tensor(GGML_TYPE_F32, {head.size, head.n_heads, count}, q.data() + first * size);
        ggml_tensor * key = context.view(type, {head.size, head.n_kv_heads, n}, k->data), * value = context.view(type, {head.size, head.n_kv_heads, n}, v->data);
        ggml_tensor * sees = context.tensor(GGML_TYPE_F16, {n, count}, mask.data() + (size_t) first * cells);
        const auto by_head = [&](ggml_tensor * t) { return ggml_permute(context, t, 0, 2, 1, 3); };
        ggml_tensor * node = ggml_flash_attn_ext(context, by_head(query), by_head(key), by_head(value), sees, scale, 0.0f, head.soft_cap);
        if (head.sinks) ggml_flash_attn_ext_add_sinks(node, context.tensor(GGML_TYPE_F32, {head.n_heads}, sinks.data()));
        return context.computed(node, n_threads);
    }

    // A score's error is that of a sum of floats, in as many lanes as there are at least; its weight's relative
    // error is the score's error. Each cell is one rounding of the sums, of weights and of weighted values.
    void reference(int row, double * value, double * bound) const override {
        for (int h = 0; h < head.n_heads; h++) {
            const float * query = q.data() + row * size + (size_t) h * head.size;
            const size_t kv_head = h / (head.n_heads / head.n_kv_heads);
            const auto of_cell = [&](const std::vector<float> & from, int c) { return from.data() + ((size_t) c * head.n_kv_heads + kv_head) * head.size; };
            std::vector<double> score(cells, -INFINITY);
            double greatest = head.sinks ? sinks[h] : -INFINITY, magnitude = head.soft_cap;
            for (int c = 0; c < seen[row]; c++) {
                const double level = ggml_fp16_to_fp32(mask[(size_t) row * cells + c]);
                if (std::isinf(level)) continue;
                score[c] = dot(of_cell(keys, c), query, head.size) * scale;
                if (head.soft_cap != 0) score[c] = head.soft_cap * std::tanh(score[c] / head.soft_cap);
                score[c] += level;
                greatest = std::max(greatest, score[c]);
                double sum = std::fabs(level);
                for (int i = 0; i < head.size; i++) sum += std::fabs((double) of_cell(keys, c)[i] * query[i]) * scale;
                magnitude = std::max(magnitude, sum);
            }
            double total = head.sinks ? std::exp(sinks[h] - greatest) : 0.0;
            double * out = value + (size_t) h * head.size, * error = bound + (size_t) h * head.size;
            for (int i = 0; i < head.size; i++) out[i] = error[i] = 0.0;
            for (int c = 0; c < seen[row]; c++) {
                if (std::isinf(score[c])) continue;
                const double weight = std::exp(score[c] - greatest);
                total += weight;
                for (int i = 0; i < head.size; i++) {
                    const double x = weight * of_cell(values, c)[i];
                    out[i] += x; error[i] += std::fabs(x);
                }
            }
            const double of_score = (head.size / 8 + 8) * EPS * magnitude, most = 2 * of_score + (cells + 8) * 3 * EPS;
            for (int i = 0; i < head.size; i++) {
                if (total != 0) { out[i] /= total; error[i] /= total; }
                error[i] = error[i] * most + LEAST;
            }
        }
    }
};

// ---- the proof ---------------------------------------------------------------------------------

class Proof {
public:
    explicit Proof(int kernel) : kernel(kernel) {}

    Answer of(const Work & work, const std::vector<int> & widths) {
        use_own(true);
        paceline_kernels_calls(kernel);
        const bool same = same_bits(work, widths);
        if (same && !paceline_kernels_calls(kernel)) return NOT_RUN;
        return same && is_near(work) ? PROVED : WRONG;
    }
    // Whether another kernel gives the same, with the same weights in another layout.
    bool is_same(const Work & work, int other) const {
        paceline_kernels_enable((uint64_t) 1 << other);
        return are_alone(work, 0, work.count(), 1);
    }
    // Of all that was computed.
    bool is_accurate() const { return errors <= MOST_ERROR * MOST_ERROR * n_errors; }

private:
    const int kernel;
    std::vector<float> alone;        // each row's result when it is the only one
    double errors = 0, n_errors = 0;   // sum of squares of errors, in units of ggml's mean; how many

    void use_own(bool on) const { paceline_kernels_enable(on ? (uint64_t) 1 << kernel : 0); }

    static bool is_room_left(const std::vector<float> & out) {
        for (size_t i = out.size() - ROOM; i < out.size(); i++) if (out[i] != CANARY) return false;
        return true;
    }

    bool are_alone(const Work & work, int first, int count, int n_threads) const {
        const std::vector<float> out = work.compute(first, count, n_threads);
        for (int row = first; row < first + count; row++) {
            const float * got = out.data() + (row - first) * work.size, * wanted = alone.data() + row * work.size;
            if (work.rows[row] == LOST || memcmp(got, wanted, work.size * sizeof(float)) == 0) continue;
            for (size_t i = 0; i < work.size; i++) {   // signs and digits of what is no number mean nothing
                if (memcmp(got + i, wanted + i, sizeof(float)) && !(std::isnan(got[i]) && std::isnan(wanted[i]))) return false;
            }
        }
        return is_room_left(out);
    }

    bool same_bits(const Work & work, const std::vector<int> & widths) {
        alone.clear();
        for (int row = 0; row < work.count(); row++) {
            const std::vector<float> one = work.compute(row, 1, 1);
            if (!is_room_left(one)) return false;
            alone.insert(alone.end(), one.begin(), one.end() - ROOM);
        }
        for (int width : widths) for (int n_threads : {1, 3}) {
            const int last = work.count() - width;
            if (!are_alone(work, 0, width, n_threads) || (last && !are_alone(work, last, width, n_threads))) return false;
        }
        if (paceline_kernels_operation(kernel) == 0 && !ggml_is_quantized((ggml_type) paceline_kernels_type(kernel))) return true;
        const std::string before = paceline_kernels_isa();
        bool same = true;
        for (const char * isa : INSTRUCTIONS) {
            if (isa == before || paceline_kernels_use(isa) != 0) continue;
            for (int width : {1, 2, work.count()}) same = same && are_alone(work, 0, width, 1);
        }
        paceline_kernels_use(before.c_str());
        return same;
    }

    bool is_near(const Work & work) {
        std::vector<double> value(work.size), bound(work.size);
        double own = 0, of_ggml = 0, n = 0;   // sums of squares of errors, in units of their bounds
        use_own(false);
        for (int row = 0; row < work.count(); row += 1 + work.count() / 64) {   // an odd step, which meets rows of all kinds
            if (work.rows[row] != EXACT && work.rows[row] != ROUGH) continue;
            work.reference(row, value.data(), bound.data());
            const float * got = alone.data() + row * work.size;
            if (work.rows[row] == EXACT) {
                for (size_t i = 0; i < work.size; i++) if (!(std::fabs(got[i] - value[i]) <= bound[i])) return false;
                continue;
            }
            const std::vector<float> theirs = work.compute(row, 1, 1);
            for (size_t i = 0; i < work.size; i++, n++) {
                own += std::pow((got[i] - value[i]) / bound[i], 2);
                of_ggml += std::pow((theirs[i] - value[i]) / bound[i], 2);
            }
        }
        errors += own > 0 ? n * own / of_ggml : own;
        n_errors += n;
        return std::isfinite(errors);
    }
};

// The kernel for a repacked kernel's weights where they are not repacked; -1: there is none.
int plain_kernel(int kernel) {
    for (int i = 0; i < paceline_kernels_count() && paceline_kernels_is_repacked(kernel); i++) {
        if (paceline_kernels_type(i) == paceline_kernels_type(kernel) && !paceline_kernels_operation(i) && !paceline_kernels_is_repacked(i)) return i;
    }
    return -1;
}

// Whether weights of a type are ever repacked by this ggml, which leaves Q2_K as it is unless it was
// built for AVX-512.
bool is_repacked_here(ggml_type type) {
    Context context;
    const std::vector<char> rows(8 * ggml_row_size(type, 256));
    return context.repacked(type, {256, 8}, rows.data());
}

Answer prove(int kernel) {
    if (paceline_kernels_is_repacked(kernel) && !is_repacked_here((ggml_type) paceline_kernels_type(kernel))) return PROVED;   // it has nothing to compute
    Proof proof(kernel);
    Answer answer = PROVED;
    if (paceline_kernels_operation(kernel) == 1) {
        struct Shape { Head head; int cells; std::vector<int> widths; };
        for (const auto & [head, cells, widths] : std::vector<Shape>{
                 {{64, 9, 3, 0, false}, 64, NARROW}, {{64, 4, 1, 0, true}, 257, NARROW}, {{128, 4, 2, 0, false}, 640, NARROW},
                 {{96, 2, 2, 30, false}, 100, NARROW}, {{160, 4, 2, 0, true}, 130, NARROW}, {{192, 2, 2, 0, false}, 600, NARROW},
                 {{256, 2, 1, 0, false}, 96, NARROW}, {{64, 3, 1, 0, false}, MAX_ROWS + 64, WIDE}, {{128, 1, 1, 0, false}, MAX_ROWS + 13, WIDE}}) {
            if (answer == PROVED) answer = proof.of(Attention(kernel, head, cells, widths.back()), widths);
        }
    } else {
        const auto type = (ggml_type) paceline_kernels_type(kernel);
        const bool repacked = paceline_kernels_is_repacked(kernel);
        const int plain = plain_kernel(kernel);
        const int64_t block = ggml_is_quantized(type) ? ggml_blck_size(type) : 64;
        struct Shape { int64_t k, n; int n_experts; const std::vector<int> & widths; };
        for (const auto & [k, n, n_experts, widths] : std::vector<Shape>{
                 {block, 1, 1, NARROW}, {2 * block, 7, 1, NARROW}, {3 * block, 21, 1, NARROW}, {2048, 34, 1, NARROW}, {1024 + 3 * block, 18, 1, NARROW},
                 {512, 20, 5, NARROW}, {4096, 18, 1, WIDE} /* too wide for L2 at once */, {256, 20, 5, WIDE}}) {
            const int64_t rows = repacked ? (n + 7) / 8 * 8 : n;   // others are not repacked
            const Product product(kernel, k, rows, n_experts, widths.back());
            if (answer == PROVED) answer = product.w ? proof.of(product, widths) : NOT_RUN;
            if (answer == PROVED && plain >= 0 && !proof.is_same(Product(plain, k, rows, n_experts, widths.back()), plain)) answer = WRONG;
        }
    }
    return answer == PROVED && !proof.is_accurate() ? WRONG : answer;
}

}  // namespace
}  // namespace paceline

int paceline_kernels_self_test(int kernel, int fault) {
    if (kernel < 0 || kernel >= paceline_kernels_count() || paceline_kernels_install() != 0) return paceline::NOT_RUN;
    paceline::planted = (paceline::Fault) fault;
    const int answer = paceline::prove(kernel);
    paceline::planted = paceline::NONE;
    paceline_kernels_enable(0);
    return answer;
}
