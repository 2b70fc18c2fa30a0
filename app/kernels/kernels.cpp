// How the kernels get into ggml: no patch, no second backend, no copy of a weight.
//
// ggml-cpu keeps a list of "extra buffer types" and asks each entry, for every node of a graph and
// on every thread of its pool, whether it wants to compute that node (ggml-cpu/traits.cpp). The list
// is reached through an exported function that returns it by reference. An entry is put at its
// front that holds no buffers, and computes the nodes that `kernel_of` knows. It can be switched
// off at any time; then ggml finds nothing changed.
#include "paceline_kernels.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "attention.h"
#include "ggml-cpu.h"
#include "matmul.h"
#include "traits.h"

ggml_backend_buffer_type_t ggml_backend_cpu_repack_buffer_type(void);

namespace paceline {

Fault planted = NONE;

namespace {

constexpr int F16_STEP = 64;   // the float kernels' sums run over so many values at once
constexpr int LEAST_FLOAT_ROWS = 2;   // one row of floats is ggml's, which adds in the same order

// In the order of their bits.
const WeightKind WEIGHTS[] = {
    {"q8_0",            GGML_TYPE_Q8_0},
    {"q4_0",            GGML_TYPE_Q4_0},
    {"q4_1",            GGML_TYPE_Q4_1},
    {"q5_0",            GGML_TYPE_Q5_0},
    {"q5_1",            GGML_TYPE_Q5_1},
    {"iq4_nl",          GGML_TYPE_IQ4_NL},
    {"mxfp4",           GGML_TYPE_MXFP4},
    {"q2_K",            GGML_TYPE_Q2_K},
    {"q3_K",            GGML_TYPE_Q3_K},
    {"q4_K",            GGML_TYPE_Q4_K},
    {"q5_K",            GGML_TYPE_Q5_K},
    {"q6_K",            GGML_TYPE_Q6_K},
    {"iq4_xs",          GGML_TYPE_IQ4_XS},
    {"iq3_s",           GGML_TYPE_IQ3_S},
    {"iq3_xxs",         GGML_TYPE_IQ3_XXS},
    {"iq2_s",           GGML_TYPE_IQ2_S},
    {"iq2_xs",          GGML_TYPE_IQ2_XS},
    {"iq2_xxs",         GGML_TYPE_IQ2_XXS},
    {"iq1_m",           GGML_TYPE_IQ1_M},
    {"iq1_s",           GGML_TYPE_IQ1_S},
    {"f32",             GGML_TYPE_F32},
    {"f16",             GGML_TYPE_F16},
    {"bf16",            GGML_TYPE_BF16},
    {"q4_0-repacked",   GGML_TYPE_Q4_0, true},
    {"iq4_nl-repacked", GGML_TYPE_IQ4_NL, true},
    {"mxfp4-repacked",  GGML_TYPE_MXFP4, true},
    {"q2_K-repacked",   GGML_TYPE_Q2_K, true},
    {"q4_K-repacked",   GGML_TYPE_Q4_K, true},
};
constexpr int N_WEIGHTS = sizeof(WEIGHTS) / sizeof(WEIGHTS[0]);

// The types of K and V in the cache.
const struct { const char * name; ggml_type type; } CACHES[] = {
    {"attention-f16", GGML_TYPE_F16}, {"attention-q8_0", GGML_TYPE_Q8_0},
};
constexpr int N_KERNELS = N_WEIGHTS + sizeof(CACHES) / sizeof(CACHES[0]);

// ---------------------------------------------------------------------------- instruction sets

struct Isa {
    const char * name;
    size_t (*matmul_work_size)(const WeightKind &, int, const ggml_tensor *);
    bool   (*matmul)(const WeightKind &, const ggml_compute_params *, ggml_tensor *);
    bool   (*attention_knows)(const ggml_tensor *);
    size_t (*attention_work_size)(int, const ggml_tensor *);
    void   (*attention)(const ggml_compute_params *, ggml_tensor *);
};
#define PACELINE_ISA_TABLE(NAME, ISA) \
    { NAME, ISA::matmul_work_size, ISA::matmul, ISA::attention_knows, ISA::attention_work_size, ISA::attention }
const Isa AVX2   = PACELINE_ISA_TABLE("avx2", avx2);
#ifndef PACELINE_WITHOUT_AVXVNNI
const Isa AVXVNNI = PACELINE_ISA_TABLE("avx-vnni", avxvnni);
#endif
#ifndef PACELINE_WITHOUT_AVX512
const Isa AVX512 = PACELINE_ISA_TABLE("avx512-vnni", avx512);
#endif

[[maybe_unused]] bool has_avx512() {
#ifndef PACELINE_WITHOUT_AVX512
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

// AVX-VNNI: leaf 7, sub-leaf 1, bit 4 of EAX; `__builtin_cpu_supports` of some compilers does not know it.
[[maybe_unused]] bool has_avxvnni() {
#ifndef PACELINE_WITHOUT_AVXVNNI
    unsigned a = 7, b, c = 1, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return a >> 4 & 1;
#else
    return false;
#endif
}

// Those that the library, the processor and this ggml have; the best one is the first.
std::vector<const Isa *> known_isas() {
    std::vector<const Isa *> known;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !ggml_cpu_has_avx2()) return known;
#ifndef PACELINE_WITHOUT_AVX512
    if (has_avx512()) known.push_back(&AVX512);
#endif
#ifndef PACELINE_WITHOUT_AVXVNNI
    if (has_avxvnni()) known.push_back(&AVXVNNI);
#endif
    known.push_back(&AVX2);
    return known;
}

// Whole numbers and attention give the same with any instruction set, so the best one is taken.
const Isa * best_isa() {
    const std::vector<const Isa *> known = known_isas();
    return known.empty() ? nullptr : known.front();
}

// Products of floats have as many lanes as those of the ggml that is there.
const Isa * isa_like_ggml() {
    const Isa * isa = best_isa();
#ifndef PACELINE_WITHOUT_AVX512
    if (isa && ggml_cpu_has_avx512()) return has_avx512() ? &AVX512 : nullptr;
#endif
    return isa ? &AVX2 : nullptr;
}

const Isa * const BEST = best_isa(), * const LIKE_GGML = isa_like_ggml();
std::atomic<const Isa *> chosen {BEST};

const Isa * isa_of(int kernel) {
    return kernel < N_WEIGHTS && WEIGHTS[kernel].is_float() ? LIKE_GGML : chosen.load(std::memory_order_relaxed);
}

// -------------------------------------------------------------------------- what a node is to us

std::atomic<uint64_t> enabled {0};
std::atomic<long>     calls[N_KERNELS];
std::atomic<int>      to_raise {0};

bool is_on(int kernel) { return enabled.load(std::memory_order_relaxed) >> kernel & 1; }

// The kernel for a product's weights, whatever it is multiplied by; -1: none.
int kernel_of_weights(const ggml_tensor * w) {
    const ggml_backend_buffer_t buffer = w->view_src ? w->view_src->buffer : w->buffer;
    if (!buffer || !w->data) return -1;
    const bool repacked = buffer->buft == ggml_backend_cpu_repack_buffer_type();
    if (!repacked && !ggml_backend_buft_is_host(buffer->buft)) return -1;
    for (int i = 0; i < N_WEIGHTS; i++) {
        const WeightKind & kind = WEIGHTS[i];
        if (kind.type != w->type || kind.repacked != repacked) continue;
        const int64_t step = kind.is_float() ? F16_STEP : kind.block();
        const bool fits = w->ne[0] > 0 && w->ne[0] % step == 0 && w->ne[0] <= 1 << 20 && w->ne[1] > 0 && w->ne[1] <= 1 << 24
            && w->nb[0] == ggml_type_size(w->type) && w->nb[1] >= ggml_row_size(w->type, w->ne[0])
            && (!repacked || (w->ne[1] % 8 == 0 && w->nb[1] == ggml_row_size(w->type, w->ne[0])));
        return fits ? i : -1;
    }
    return -1;
}

int kernel_of_product(const ggml_tensor * op) {
    const ggml_tensor * w = op->src[0], * x = op->src[1], * ids = op->src[2];
    if (x->type != GGML_TYPE_F32 || op->type != GGML_TYPE_F32 || x->nb[0] != 4 || op->nb[0] != 4) return -1;
    if (x->ne[0] != w->ne[0] || op->ne[0] != w->ne[1] || x->nb[1] % 4 || op->nb[1] % 4 || op->nb[1] < op->ne[0] * 4ull) return -1;
    int64_t n = x->ne[1];
    if (op->op == GGML_OP_MUL_MAT) {
        if (w->ne[2] != 1 || w->ne[3] != 1 || x->ne[2] != 1 || x->ne[3] != 1 || op->ne[1] != n) return -1;
        if (ggml_get_op_params_i32(op, 1) == GGML_HINT_SRC0_IS_HADAMARD) return -1;
    } else {
        n = ids->ne[1];
        if (ids->type != GGML_TYPE_I32 || ids->ne[0] < 1 || w->ne[3] != 1 || w->ne[2] > MAX_EXPERTS || ids->ne[0] > MAX_USED) return -1;
        if (x->ne[2] != n || x->ne[3] != 1 || x->nb[2] % 4 || op->nb[2] % 4 || op->ne[1] != ids->ne[0] || op->ne[2] != n) return -1;
        if (x->ne[1] < 1 || ids->ne[0] % x->ne[1]) return -1;
    }
    if (n < 1 || n > MAX_ROWS) return -1;
    const int kernel = kernel_of_weights(w);
    if (kernel < 0 || !isa_of(kernel)) return -1;
    return !WEIGHTS[kernel].is_float() || n >= LEAST_FLOAT_ROWS ? kernel : -1;
}

int kernel_of(const ggml_tensor * op) {
    int kernel = -1;
    if (op->op == GGML_OP_MUL_MAT || op->op == GGML_OP_MUL_MAT_ID) kernel = kernel_of_product(op);
    else if (op->op == GGML_OP_FLASH_ATTN_EXT) for (int i = N_WEIGHTS; i < N_KERNELS; i++) {
        if (CACHES[i - N_WEIGHTS].type == op->src[1]->type && isa_of(i) && isa_of(i)->attention_knows(op)) kernel = i;
    }
    return kernel >= 0 && is_on(kernel) ? kernel : -1;
}

// ------------------------------------------------------------------------------- crashes are told

__attribute__((tls_model("initial-exec"))) thread_local volatile int running = -1;   // this thread's kernel

char mark[4096];
const int SIGNALS[] = {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGABRT};
struct sigaction before[sizeof(SIGNALS) / sizeof(int)];

void on_crash(int signal, siginfo_t * info, void *) {
    const bool from_outside = info->si_code <= 0 && info->si_pid != getpid();   // `kill` met a kernel at work
    if (running >= 0 && mark[0] && !from_outside) {
        const char * name = paceline_kernels_name(running);
        const int file = open(mark, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file >= 0) {
            size_t length = 0;
            while (name[length]) length++;
            if (write(file, name, length) < 0) { /* nothing else can be done */ }
            close(file);
        }
    }
    for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(int); i++) if (SIGNALS[i] == signal) sigaction(signal, &before[i], nullptr);
    if (info->si_code <= 0 || signal == SIGABRT) raise(signal);   // a fault comes again by itself
}

// ------------------------------------------------------------------------------------- the entry

struct Traits : ggml::cpu::tensor_traits {
    bool work_size(int n_threads, const ggml_tensor * op, size_t & size) override {
        const int kernel = kernel_of(op);
        if (kernel < 0) return false;
        const Isa & isa = *isa_of(kernel);
        size = kernel < N_WEIGHTS ? isa.matmul_work_size(WEIGHTS[kernel], n_threads, op) : isa.attention_work_size(n_threads, op);
        return true;
    }
    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        const int kernel = kernel_of(op);
        if (kernel < 0) return false;
        if (params->ith == 0) calls[kernel].fetch_add(1, std::memory_order_relaxed);
        running = kernel;
        if (const int signal = to_raise.load(std::memory_order_relaxed)) raise(signal);
        bool done = true;
        if (kernel < N_WEIGHTS) done = isa_of(kernel)->matmul(WEIGHTS[kernel], params, op);
        else isa_of(kernel)->attention(params, op);
        running = -1;
        return done;
    }
} traits;

struct Entry : ggml::cpu::extra_buffer_type {
    bool supports_op(ggml_backend_dev_t, const ggml_tensor *) override { return false; }   // no tensor is ever placed here
    ggml::cpu::tensor_traits * get_tensor_traits(const ggml_tensor * op) override { return kernel_of(op) >= 0 ? &traits : nullptr; }
} entry;

const char * buffer_name(ggml_backend_buffer_type_t) { return "PACELINE"; }
ggml_backend_buffer_t no_buffer(ggml_backend_buffer_type_t, size_t) { return nullptr; }
size_t alignment(ggml_backend_buffer_type_t) { return 64; }
ggml_backend_buffer_type buffer_type = {{buffer_name, no_buffer, alignment, nullptr, nullptr, nullptr}, nullptr, &entry};

}  // namespace

}  // namespace paceline

using namespace paceline;

int paceline_kernels_interface(void) { return 1; }
const char * paceline_kernels_isa(void) { return BEST ? chosen.load()->name : ""; }
int paceline_kernels_use(const char * name) {
    for (const Isa * isa : known_isas()) if (strcmp(isa->name, name) == 0) { chosen.store(isa); return 0; }
    return 1;
}
int paceline_kernels_count(void) { return N_KERNELS; }

const char * paceline_kernels_name(int kernel) {
    if (kernel < 0 || kernel >= N_KERNELS) return "";
    return kernel < N_WEIGHTS ? WEIGHTS[kernel].name : CACHES[kernel - N_WEIGHTS].name;
}
int paceline_kernels_type(int kernel) {
    if (kernel < 0 || kernel >= N_KERNELS) return -1;
    return kernel < N_WEIGHTS ? WEIGHTS[kernel].type : CACHES[kernel - N_WEIGHTS].type;
}
int paceline_kernels_is_repacked(int kernel) { return kernel >= 0 && kernel < N_WEIGHTS && WEIGHTS[kernel].repacked; }
int paceline_kernels_operation(int kernel) { return kernel >= N_WEIGHTS; }

int paceline_kernels_install(void) {
    if (!BEST) return 1;
    auto & list = ggml_backend_cpu_get_extra_buffer_types();
    for (auto type : list) if (type == &buffer_type) return 0;
    // llama.cpp's own copy of the list is made first, so that it never sees this entry.
    const ggml_backend_reg_t reg = ggml_backend_cpu_reg();
    const auto get = (ggml_backend_dev_get_extra_bufts_t) ggml_backend_reg_get_proc_address(reg, "ggml_backend_dev_get_extra_bufts");
    if (get) get(ggml_backend_reg_dev_get(reg, 0));
    buffer_type.device = ggml_backend_reg_dev_get(reg, 0);
    list.insert(list.begin(), &buffer_type);
    return 0;
}

void paceline_kernels_enable(uint64_t kernels) {
    uint64_t usable = 0;
    for (int i = 0; i < N_KERNELS; i++) if (isa_of(i)) usable |= (uint64_t) 1 << i;
    enabled.store(kernels & usable);
}

long paceline_kernels_calls(int kernel) { return kernel >= 0 && kernel < N_KERNELS ? calls[kernel].exchange(0) : 0; }

void paceline_kernels_mark_crashes(const char * path) {
    static bool listening = false;
    mark[0] = 0;
    if (!path) return;
    for (size_t i = 0; i + 1 < sizeof mark && (i == 0 || path[i - 1]); i++) { mark[i] = path[i]; mark[i + 1] = 0; }
    if (listening) return;
    listening = true;
    struct sigaction action = {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(SIGNALS) / sizeof(int); i++) sigaction(SIGNALS[i], &action, &before[i]);
}

void paceline_kernels_raise(int signal) { to_raise.store(signal); }
