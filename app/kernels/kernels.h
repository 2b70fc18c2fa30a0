// What the self-test needs of the rest.
#pragma once
#include "matmul.h"

namespace paceline {
uint64_t enabled_kernels();
}
