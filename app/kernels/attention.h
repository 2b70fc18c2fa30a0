// Attention for up to 512 query rows; see README.md and the page at the top of attention.cpp.
#pragma once
#include "ggml-cpu-impl.h"

namespace paceline {

#define PACELINE_FOR_ISA(ISA)                                                                      \
    namespace ISA {                                                                                \
    /* Whether `attention` computes this node. Depends on the node's shapes, strides and types     \
       only, never on data or threads, so that it says the same at planning and computing. */      \
    bool attention_knows(const ggml_tensor * op);                                                  \
    /* Bytes of params->wdata that `attention` needs for a node that it knows. */                  \
    size_t attention_work_size(int n_threads, const ggml_tensor * op);                             \
    /* Compute a FLASH_ATTN_EXT that `attention_knows`; called by every thread of the pool. */     \
    void attention(const ggml_compute_params * params, ggml_tensor * op);                          \
    }
PACELINE_FOR_ISA(avx512)
PACELINE_FOR_ISA(avxvnni)
PACELINE_FOR_ISA(avx2)
#undef PACELINE_FOR_ISA

}  // namespace paceline
