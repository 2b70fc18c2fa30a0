// Are the kernels' results those of ggml, bit by bit? Tiny graphs are computed by ggml itself, each
// row alone with one thread and no kernel of ours; then all rows at once by the kernel, with every
// width and with one and three threads. What differs anywhere must not be used.
//
// It runs in a process of its own, once per build and processor, before a kernel is used.
#include "paceline_kernels.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "matmul.h"

ggml_backend_buffer_type_t ggml_backend_cpu_repack_buffer_type(void);

namespace paceline {
namespace {

// Rows of a decode: those of drafts, and for some shapes those of prompts.
const std::vector<int> NARROW = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 63}, WIDE = {63, 64, 65, 200, MAX_ROWS};
constexpr float CANARY = 12345.0f;

struct Random {
    uint64_t state = 88172645463325252ull;
    float next() {   // about normal: the sum of four uniforms
        float sum = 0;
        for (int i = 0; i < 4; i++) {
            state ^= state << 13; state ^= state >> 7; state ^= state << 17;
            sum += (float) (state >> 40) * 0x1p-24f - 0.5f;
        }
        return sum * 1.7f;
    }
    int below(int n) { next(); return (int) (state >> 33) % n; }
};

struct Context {
    std::unique_ptr<ggml_context, void (*)(ggml_context *)> pointer;
    std::vector<ggml_backend_buffer_t> buffers;
    Context() : pointer(ggml_init({1 << 20, nullptr, true}), ggml_free) {}
    ~Context() { for (auto buffer : buffers) ggml_backend_buffer_free(buffer); }
    operator ggml_context *() { return pointer.get(); }
    // Give every tensor made so far memory of this kind.
    void place(ggml_backend_buffer_type_t type) { buffers.push_back(ggml_backend_alloc_ctx_tensors_from_buft(pointer.get(), type)); }
};

void compute(ggml_context * context, ggml_tensor * result, int n_threads) {
    ggml_cgraph * graph = ggml_new_graph(context);
    ggml_build_forward_expand(graph, result);
    std::unique_ptr<std::remove_pointer_t<ggml_backend_t>, void (*)(ggml_backend_t)> backend(ggml_backend_cpu_init(), ggml_backend_free);
    ggml_backend_cpu_set_n_threads(backend.get(), n_threads);
    ggml_backend_graph_compute(backend.get(), graph);
}

ggml_tensor * floats(ggml_context * context, std::vector<int64_t> shape) { return ggml_new_tensor(context, GGML_TYPE_F32, (int) shape.size(), shape.data()); }

// Weights [k, n, n_experts] of the kernel's type, from random numbers; nullptr: cannot be made.
ggml_tensor * weights(Context & context, int kernel, int64_t k, int64_t n, int64_t n_experts, Random & random) {
    const auto type = (ggml_type) paceline_kernels_type(kernel);
    const int64_t shape[] = {k, n, n_experts};
    ggml_tensor * w = ggml_new_tensor(context, type, n_experts > 1 ? 3 : 2, shape);
    context.place(paceline_kernels_is_repacked(kernel) ? ggml_backend_cpu_repack_buffer_type() : ggml_backend_cpu_buffer_type());
    std::vector<float> values(k * n * n_experts), importance(k, 1.0f);
    for (float & value : values) value = random.next();
    std::vector<char> data(ggml_nbytes(w));
    const size_t size = ggml_quantize_chunk(type, values.data(), data.data(), 0, n * n_experts, k, importance.data());
    if (size != data.size()) return nullptr;
    ggml_backend_tensor_set(w, data.data(), 0, data.size());
    return w;
}

// The rows of x (with MUL_MAT_ID: tokens) [first, first + count) times the weights, and what was written beyond the result.
std::vector<float> product(ggml_tensor * w, const std::vector<float> & x, const std::vector<int32_t> & ids, int n_used, int first, int count, int n_threads) {
    Context context;
    const int64_t k = w->ne[0], n = w->ne[1];
    ggml_tensor * input = ids.empty() ? floats(context, {k, count}) : floats(context, {k, 1, count});
    ggml_tensor * chosen = ids.empty() ? nullptr : ggml_new_tensor_2d(context, GGML_TYPE_I32, n_used, count);
    ggml_tensor * room = floats(context, {n * n_used * count + 16});
    context.place(ggml_backend_cpu_buffer_type());
    ggml_tensor * result = chosen ? ggml_mul_mat_id(context, w, input, chosen) : ggml_mul_mat(context, w, input);
    result->data = room->data; result->buffer = room->buffer;   // so that something lies beyond its end
    ggml_backend_tensor_set(input, x.data() + first * k, 0, count * k * sizeof(float));
    if (chosen) ggml_backend_tensor_set(chosen, ids.data() + first * n_used, 0, count * n_used * sizeof(int32_t));
    std::vector<float> out(n * n_used * count + 16, CANARY);
    ggml_backend_tensor_set(room, out.data(), 0, out.size() * sizeof(float));
    compute(context, result, n_threads);
    ggml_backend_tensor_get(room, out.data(), 0, out.size() * sizeof(float));
    return out;
}

bool same(const std::vector<float> & got, const std::vector<float> & wanted, size_t n) {
    for (size_t i = n; i < got.size(); i++) if (got[i] != CANARY) return false;
    return memcmp(got.data(), wanted.data(), n * sizeof(float)) == 0;
}

// 1: equal, 0: different, -1: could not be run.
int test_product(int kernel, int64_t k, int64_t n, int n_experts, const std::vector<int> & widths) {
    Random random; random.state += k * 31 + n;
    Context context;
    ggml_tensor * w = weights(context, kernel, k, n, n_experts, random);
    if (!w) return -1;
    const int most = widths.back(), n_used = n_experts > 1 ? 2 : 1;
    std::vector<float> x(k * most);
    for (float & value : x) value = random.next();
    std::vector<int32_t> ids;
    for (int t = 0; n_experts > 1 && t < most; t++) {   // two different ones, the first more often
        const int e = random.below(3) ? 0 : random.below(n_experts);
        ids.push_back(e); ids.push_back((e + 1 + random.below(n_experts - 1)) % n_experts);
    }
    const Fault fault = planted;
    paceline_kernels_enable(0); planted = NONE;
    std::vector<float> wanted;
    for (int row = 0; row < most; row++) {
        const auto one = product(w, x, ids, n_used, row, 1, 1);
        wanted.insert(wanted.end(), one.begin(), one.begin() + n * n_used);
    }
    paceline_kernels_enable((uint64_t) 1 << kernel); planted = fault;
    paceline_kernels_calls(kernel);
    for (int width : widths) for (int n_threads : {1, 3}) {
        if (!same(product(w, x, ids, n_used, 0, width, n_threads), wanted, n * n_used * width)) return 0;
    }
    return paceline_kernels_calls(kernel) ? 1 : -1;
}

struct Head { int size, n_heads, n_kv_heads; float soft_cap; bool sinks; };

// Attention of rows [first, first + count) of `most` to `cells` cells; each row sees as many as its mask says.
std::vector<float> attention(ggml_type type, const Head & head, int cells, const std::vector<float> & q, const std::vector<float> & kv,
                             const std::vector<ggml_fp16_t> & mask, int most, int first, int count, int n_threads) {
    Context context;
    ggml_tensor * query = floats(context, {head.size, count, head.n_heads});
    ggml_tensor * k = ggml_new_tensor_3d(context, type, head.size, cells, head.n_kv_heads), * v = ggml_new_tensor_3d(context, type, head.size, cells, head.n_kv_heads);
    ggml_tensor * seen = ggml_new_tensor_2d(context, GGML_TYPE_F16, cells, count);
    ggml_tensor * sinks = head.sinks ? floats(context, {head.n_heads}) : nullptr;
    const size_t size = (size_t) head.size * head.n_heads * count;
    ggml_tensor * room = floats(context, {(int64_t) size + 16});
    context.place(ggml_backend_cpu_buffer_type());
    ggml_tensor * result = ggml_flash_attn_ext(context, query, k, v, seen, 1.0f / std::sqrt((float) head.size), 0.0f, head.soft_cap);
    if (sinks) ggml_flash_attn_ext_add_sinks(result, sinks);
    result->data = room->data; result->buffer = room->buffer;
    for (int h = 0; h < head.n_heads; h++)
        ggml_backend_tensor_set(query, q.data() + ((size_t) h * most + first) * head.size, h * query->nb[2], (size_t) count * head.size * sizeof(float));
    std::vector<char> data(ggml_nbytes(k));
    const int64_t rows = (int64_t) cells * head.n_kv_heads;
    ggml_quantize_chunk(type, kv.data(), data.data(), 0, rows, head.size, nullptr);
    ggml_backend_tensor_set(k, data.data(), 0, data.size());
    ggml_quantize_chunk(type, kv.data() + rows * head.size, data.data(), 0, rows, head.size, nullptr);
    ggml_backend_tensor_set(v, data.data(), 0, data.size());
    ggml_backend_tensor_set(seen, mask.data() + (size_t) first * cells, 0, (size_t) count * cells * sizeof(ggml_fp16_t));
    if (sinks) ggml_backend_tensor_set(sinks, kv.data(), 0, head.n_heads * sizeof(float));
    std::vector<float> out(size + 16, CANARY);
    ggml_backend_tensor_set(room, out.data(), 0, out.size() * sizeof(float));
    compute(context, result, n_threads);
    ggml_backend_tensor_get(room, out.data(), 0, out.size() * sizeof(float));
    return out;
}

int test_attention(int kernel, const Head & head, int cells, const std::vector<int> & widths) {
    const auto type = (ggml_type) paceline_kernels_type(kernel);
    const int most = widths.back();
    Random random; random.state += cells * 17 + head.size;
    std::vector<float> q((size_t) head.size * head.n_heads * most), kv((size_t) 2 * head.size * head.n_kv_heads * cells);
    for (float & value : q) value = 2 * random.next();
    for (float & value : kv) value = random.next();
    std::vector<ggml_fp16_t> mask((size_t) cells * most);
    for (int row = 0; row < most; row++) for (int i = 0; i < cells; i++) {   // causal, with a window and holes
        const bool hidden = i > cells - most + row || (row % 3 == 0 && i < cells / 4) || random.below(50) == 0;
        mask[(size_t) row * cells + i] = ggml_fp32_to_fp16(hidden && i != 0 ? -INFINITY : 0.0f);
    }
    const Fault fault = planted;
    paceline_kernels_enable(0); planted = NONE;
    const size_t size = (size_t) head.size * head.n_heads;
    std::vector<float> wanted;
    for (int row = 0; row < most; row++) {
        const auto one = attention(type, head, cells, q, kv, mask, most, row, 1, 1);
        wanted.insert(wanted.end(), one.begin(), one.begin() + size);
    }
    paceline_kernels_enable((uint64_t) 1 << kernel); planted = fault;
    paceline_kernels_calls(kernel);
    for (int width : widths) for (int n_threads : {1, 3}) {
        if (!same(attention(type, head, cells, q, kv, mask, most, 0, width, n_threads), wanted, size * width)) return 0;
    }
    return paceline_kernels_calls(kernel) ? 1 : -1;
}

int test(int kernel) {
    if (paceline_kernels_operation(kernel) == 1) {
        struct Case { Head head; int cells; std::vector<int> widths; };
        for (const auto & [head, cells, widths] : std::vector<Case>{
                 {{64, 9, 3, 0, false}, 64, NARROW}, {{64, 4, 1, 0, true}, 257, NARROW}, {{128, 4, 2, 0, false}, 640, NARROW},
                 {{96, 2, 2, 30, false}, 100, NARROW}, {{160, 4, 2, 0, true}, 130, NARROW}, {{192, 2, 2, 0, false}, 600, NARROW},
                 {{256, 2, 1, 0, false}, 96, NARROW}, {{64, 3, 1, 0, false}, MAX_ROWS + 64, WIDE}, {{128, 1, 1, 0, false}, MAX_ROWS + 13, WIDE}}) {
            const int answer = test_attention(kernel, head, cells, widths);
            if (answer != 1) return answer;
        }
        return 1;
    }
    const bool by_256 = ggml_blck_size((ggml_type) paceline_kernels_type(kernel)) == 256, repacked = paceline_kernels_is_repacked(kernel);
    struct Shape { int64_t k, n; int n_experts; std::vector<int> widths; };
    std::vector<Shape> shapes = by_256 ? std::vector<Shape>{{256, 1, 1, NARROW}, {512, 7, 1, NARROW}, {768, 21, 1, NARROW}, {2048, 34, 1, NARROW}, {512, 20, 5, NARROW}}
                                       : std::vector<Shape>{{64, 1, 1, NARROW}, {192, 7, 1, NARROW}, {576, 21, 1, NARROW}, {2048, 34, 1, NARROW}, {256, 20, 5, NARROW}};
    shapes.push_back({4096, 18, 1, WIDE});   // too wide for L2 at once
    shapes.push_back({256, 20, 5, WIDE});
    const auto type = (ggml_type) paceline_kernels_type(kernel);
    if (!by_256 && ggml_blck_size(type) == 32) shapes.push_back({1088 + (type == GGML_TYPE_IQ4_NL && !repacked ? 0 : 32), 18, 1, NARROW});
    for (Shape shape : shapes) {
        if (repacked) shape.n = (shape.n + 7) / 8 * 8;   // others are not repacked
        const int answer = test_product(kernel, shape.k, shape.n, shape.n_experts, shape.widths);
        if (answer != 1) return answer;
    }
    return 1;
}

}  // namespace
}  // namespace paceline

int paceline_kernels_self_test(int kernel, int fault) {
    if (kernel < 0 || kernel >= paceline_kernels_count() || paceline_kernels_install() != 0) return -1;
    paceline::planted = (paceline::Fault) fault;
    const int answer = paceline::test(kernel);
    paceline::planted = paceline::NONE;
    paceline_kernels_enable(0);
    return answer;
}
