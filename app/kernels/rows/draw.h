// Drawing a row's token, in vectors of the compiler's own, which it makes of what instructions there are.
// No header guard: `rows.cpp` includes it into several namespaces.
//
// A row is cut into blocks. One pass takes the largest logit of each, its peak, and looks for what is no
// number; all else asks the few blocks whose peak comes into question. What top-k, top-p and min-p leave
// are the first tokens in falling order, so each of them comes to a place in that order. Nothing is sorted.
//
// Noise grows with a token's hash. So scores are bounded from above by a few operations on hashes, and
// only those that could still win are computed as they are defined, in doubles.

// `VECTOR` is the bytes of a register. Where logits are computed with in doubles and hashes, fewer of them
// go together.
constexpr int32_t WIDE = VECTOR / 4, LANES = VECTOR / 8;
typedef float    Logits  __attribute__((vector_size(VECTOR), aligned(4), may_alias));   // as they lie in a row
typedef int32_t  Flags   __attribute__((vector_size(VECTOR)));
typedef float    Floats  __attribute__((vector_size(VECTOR / 2), aligned(4), may_alias));
typedef int32_t  Ints    __attribute__((vector_size(VECTOR / 2)));
typedef double   Doubles __attribute__((vector_size(VECTOR)));
typedef uint64_t Words   __attribute__((vector_size(VECTOR)));
typedef float    Floats8 __attribute__((vector_size(32), aligned(4), may_alias));   // of a byte of bits
typedef int32_t  Flags8  __attribute__((vector_size(32)));

constexpr int32_t BLOCK = 128;   // logits that share a peak
constexpr int32_t PIECE = 64;    // logits that are looked at together; a block is whole pieces

constexpr double GUMBEL_MAX = 22.9, GUMBEL_MIN = -3.2;   // no noise is beyond, see `noise.py`
constexpr double WEIGHT_OF_TOP = 1099511627776.0;        // 2^40
constexpr float  NO_WEIGHT = -29;                        // so far below the largest logit a weight is 0
constexpr float  NO_SHARE = -60;                         // so far below a million logits add nothing to a sum
constexpr int    TOP_OF_CONFIDENCE = 10;

// A token with its logit; also a place in the order of truncation.
struct Candidate {
    float   logit;
    int32_t token;
};

// The order of truncation: falling logits, among equals rising ids.
static inline bool is_before(const Candidate & a, const Candidate & b) {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

struct InOrder {
    bool operator()(const Candidate & a, const Candidate & b) const { return is_before(a, b); }
};

struct Row {
    float *     logits;
    int32_t     n;
    int32_t     n_blocks;
    float *     peaks;        // [n_blocks]
    Candidate * found;        // [n], by `first_of`
    Candidate * edited;       // [n_edited], what edited tokens had before
    int32_t     n_edited;
    float       top;          // the largest logit
    bool        is_valid;     // without NaN and +infinity

    int32_t end(int32_t block) const { return block + 1 < n_blocks ? (block + 1) * BLOCK : n; }

    // Whether a block has anything at this logit or above; one of which nothing is allowed has not.
    bool reaches(int32_t block, float logit) const { return peaks[block] >= logit && peaks[block] > -INFINITY; }

    // Return a piece's logits; where the row ends in it, a copy in `spare` with -infinity after the end.
    const float * piece(int32_t first, float * spare) const {
        if (first + PIECE <= n) return logits + first;
        for (int32_t i = 0; i < PIECE; i++) spare[i] = first + i < n ? logits[first + i] : -INFINITY;
        return spare;
    }
};

static int32_t blocks_of(int64_t n_vocab) { return (int32_t) ((n_vocab + BLOCK - 1) / BLOCK); }

[[maybe_unused]] static int64_t scratch_bytes(int64_t n_vocab, int32_t n_biased) {
    return (n_vocab + n_biased + PACELINE_WINDOW) * (int64_t) sizeof(Candidate) + blocks_of(n_vocab) * (int64_t) sizeof(float);
}

// ------------------------------------------------------------------------------------------ peaks

template <typename Vector> static inline bool is_any(const Vector & flags) {
    uint64_t words[sizeof(Vector) / 8], all = 0;
    memcpy(words, &flags, sizeof flags);
    for (uint64_t word : words) all |= word;
    return all != 0;
}

// Return the peak of a block of `n` logits; `bad` gets a flag for each NaN.
static inline float peak_of(const float * logits, int32_t n, Flags & bad) {
    Logits most = Logits{} - INFINITY;
    int32_t i = 0;
    for (; i + WIDE <= n; i += WIDE) {
        const Logits x = *(const Logits *) (logits + i);
        most = x > most ? x : most;
        bad |= x != x;
    }
    float lanes[WIDE];
    memcpy(lanes, &most, sizeof most);
    for (int32_t half = WIDE / 2; half > 0; half /= 2) {
        for (int32_t j = 0; j < half; j++) lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
    }
    float peak = lanes[0];
    for (; i < n; i++) {
        peak = logits[i] > peak ? logits[i] : peak;
        bad[0] |= logits[i] != logits[i];
    }
    return peak;
}

static void scan(Row & row) {
    Flags bad = {};
    row.top = -INFINITY;
    for (int32_t block = 0; block < row.n_blocks; block++) {
        const int32_t first = block * BLOCK;
        const float peak = row.peaks[block] = peak_of(row.logits + first, row.end(block) - first, bad);
        row.top = peak > row.top ? peak : row.top;
    }
    row.is_valid = !is_any(bad) && row.top < INFINITY;
}

// Write -infinity in place of what is not allowed in a block.
static void mask_block(float * logits, int32_t n, const uint8_t * allowed) {
    const Flags8 BITS = {1, 2, 4, 8, 16, 32, 64, 128};
    int32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        Floats8 & eight = *(Floats8 *) (logits + i);
        const Flags8 is_allowed = (BITS & (int32_t) allowed[i / 8]) != 0;
        eight = is_allowed ? eight : Floats8{} - INFINITY;
    }
    for (; i < n; i++) logits[i] = allowed[i / 8] >> i % 8 & 1 ? logits[i] : -INFINITY;
}

// Leave the allowed tokens of a row that was scanned. In blocks that have some, the others become
// -infinity; in those that have none, the peak does, which is enough.
static void mask(Row & row, const uint8_t * allowed, int64_t n_allowed) {
    row.top = -INFINITY;
    for (int32_t block = 0; block < row.n_blocks; block++) {
        const int32_t first = block * BLOCK, end = row.end(block);
        int32_t known = n_allowed < end ? (int32_t) n_allowed : end;
        known = known > first ? known : first;
        uint64_t bits[BLOCK / 64] = {};
        memcpy(bits, allowed + first / 8, (known - first + 7) / 8);
        if ((known - first) % 64) bits[(known - first) / 64] &= (1ull << (known - first) % 64) - 1;
        uint64_t some = 0, all = ~0ull;
        for (uint64_t each : bits) {
            some |= each;
            all &= each;
        }
        if (!some) {
            row.peaks[block] = -INFINITY;
        } else if (~all) {
            mask_block(row.logits + first, end - first, (const uint8_t *) bits);
            Flags bad = {};
            row.peaks[block] = peak_of(row.logits + first, end - first, bad);
        }
        row.top = row.peaks[block] > row.top ? row.peaks[block] : row.top;
    }
}

// Return the first token in the order: of the largest logits the lowest id.
static Candidate first_in(const Row & row) {
    int32_t block = 0;
    while (row.peaks[block] != row.top) block++;
    int32_t token = block * BLOCK;
    while (row.logits[token] != row.top) token++;
    return {row.top, token};
}

// Return how many logits are this large.
static int32_t count_from(const Row & row, float least) {
    int32_t n = 0;
    for (int32_t block = 0; block < row.n_blocks; block++) {
        if (!row.reaches(block, least)) continue;
        for (int32_t i = block * BLOCK; i < row.end(block); i++) n += row.logits[i] >= least;
    }
    return n;
}

// Return a logit that at least k tokens reach, and few more; -infinity where there are not so many.
static float reached_by(const Row & row, int32_t k) {
    const auto are_enough = [&](float least) {
        if (k > row.n_blocks) return count_from(row, least) >= k;
        int32_t n = 0;
        for (int32_t block = 0; block < row.n_blocks; block++) n += row.peaks[block] >= least;
        return n >= k;
    };
    float near = 0, far = 0.25f;   // below the largest logit
    while (!are_enough(row.top - far)) {
        near = far;
        far *= 2;
        if (far == INFINITY) return -INFINITY;
    }
    for (int i = 0; i < 5; i++) {
        const float between = (near + far) / 2;
        (are_enough(row.top - between) ? far : near) = between;
    }
    return row.top - far;
}

// Put the first k in the order in front of `row.found`, the k-th one last, and return how many there are.
static int32_t first_of(Row & row, int32_t k) {
    const float least = reached_by(row, k);
    int32_t n = 0;
    for (int32_t block = 0; block < row.n_blocks; block++) {
        if (!row.reaches(block, least)) continue;
        for (int32_t i = block * BLOCK; i < row.end(block); i++) {
            row.found[n] = {row.logits[i], i};
            n += row.logits[i] >= least;
        }
    }
    if (n < k) return n;
    std::nth_element(row.found, row.found + k - 1, row.found + n, InOrder());
    return k;
}

// ---------------------------------------------------------------------------------------- weights

// Return exp(logit - top) of as many logits as go together, which are not above `top`; 0 where that is below e^-700.
static inline Doubles exp_of(const float * logits, float top) {
    const Doubles x = __builtin_convertvector(*(const Floats *) logits, Doubles) - (double) top;
    const Doubles shifted = x * 1.4426950408889634 + 6755399441055744.0;   // a whole number in the low bits
    const Doubles whole = shifted - 6755399441055744.0;
    const Doubles r = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10;
    const double series[] = {1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
                             1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1.0, 1.0};
    Doubles sum = Doubles{} + 1 / 6227020800.0;
    for (double factor : series) sum = sum * r + factor;
    Words bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;   // of 2 to the power of `whole`
    Doubles power;
    memcpy(&power, &bits, sizeof power);
    return x < -700.0 ? Doubles{} : sum * power;
}

// Return as many weights. They are whole numbers, so that a sum does not depend on its order.
static inline Words weights_of(const float * logits, float top) {
    const Doubles shifted = exp_of(logits, top) * WEIGHT_OF_TOP + 0x1p52;
    Words bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4330000000000000u;
}

static inline int64_t sum_of(const Words & words) {
    int64_t sum = 0;
    for (int32_t i = 0; i < LANES; i++) sum += (int64_t) words[i];
    return sum;
}

// Call `look(logits, token)` for as many logits as go together, in all blocks that reach `least`.
template <typename Look> static inline void for_logits(const Row & row, float least, Look look) {
    float spare[PIECE];
    for (int32_t block = 0; block < row.n_blocks; block++) {
        if (!row.reaches(block, least)) continue;
        for (int32_t i = block * BLOCK; i < row.end(block); i += PIECE) {
            const float * logits = row.piece(i, spare);
            for (int32_t j = 0; j < PIECE; j += LANES) look(logits + j, i + j);
        }
    }
}

static int64_t weight_of_all(const Row & row) {
    Words sums = {};
    for_logits(row, row.top + NO_WEIGHT, [&](const float * logits, int32_t) { sums += weights_of(logits, row.top); });
    return sum_of(sums);
}

static int64_t weight_of_found(const Row & row, int32_t n) {
    Words sums = {};
    for (int32_t i = 0; i < n; i += LANES) {
        float logits[LANES];
        for (int32_t j = 0; j < LANES; j++) logits[j] = i + j < n ? row.found[i + j].logit : -INFINITY;
        sums += weights_of(logits, row.top);
    }
    return sum_of(sums);
}

struct Weights {
    int64_t before;   // of what stands before a token
    int64_t kept;     // of what is kept, in the blocks that have something before it
};

static Weights weigh(const Row & row, const Candidate & token, const Candidate & last) {
    Weights sums = {0, 0};
    const float lightest = row.top + NO_WEIGHT, least = token.logit > lightest ? token.logit : lightest;
    for_logits(row, least, [&](const float * logits, int32_t first) {
        const Words weights = weights_of(logits, row.top);
        for (int32_t l = 0; l < LANES; l++) {
            const Candidate each = {logits[l], first + l};
            const int64_t weight = (int64_t) weights[l];
            sums.before += is_before(each, token) ? weight : 0;
            sums.kept += is_before(last, each) ? 0 : weight;
        }
    });
    return sums;
}

// ------------------------------------------------------------------------------------------ noise

constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15u, STREAM = 0xD1B54A32D192ED03u;

template <typename Word> static inline Word mix(Word z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t position_key(uint64_t seed, int64_t position) {
    return mix(mix(seed + GOLDEN) + ((uint64_t) position + 1) * STREAM);
}

static double score_of(const Candidate & token, double temperature, uint64_t key) {
    const uint64_t hash = mix((uint64_t) token.token * GOLDEN + key) >> 32;
    return token.logit / temperature - log(-log(((double) hash + 0.5) * 0x1p-32));
}

// Write upper bounds of the scores of a piece's tokens, relative to the largest logit's, and return
// whether one of them reaches `bar`. With c = 1 - u noise is at most -log(c), and the bits of a float,
// taken as a number, are a line below its logarithm.
static inline bool bound_scores(const float * logits, uint64_t start, float top, float cold, float bar, float * bounds) {
    Words steps;
    for (int32_t i = 0; i < LANES; i++) steps[i] = (uint64_t) i * GOLDEN;
    Ints hits = {};
    for (int32_t i = 0; i < PIECE; i += LANES) {
        const Words hashes = mix(steps + (start + (uint64_t) i * GOLDEN)) >> 32;
        const Floats c = __builtin_convertvector(__builtin_convertvector((hashes ^ 0xFFFFFFFFu) >> 1, Ints), Floats);
        Ints bits;
        memcpy(&bits, &c, sizeof bits);
        const Floats noise = 109.517255f - __builtin_convertvector(bits, Floats) * 8.26295818e-8f;   // ln 2 (158 - bits / 2^23)
        const Floats scores = (*(const Floats *) (logits + i) - top) * cold + noise;
        memcpy(bounds + i, &scores, sizeof scores);
        hits |= scores >= bar;
    }
    return is_any(hits);
}

// Return the token with the largest score among those up to `last`, the lowest id among equals.
static Candidate winner(const Row & row, const Candidate & first, const Candidate & last, double temperature, uint64_t key) {
    Candidate best = first;
    double best_score = score_of(first, temperature, key);
    // What is so far below the largest logit loses to it with any noise.
    const double reach = row.top + (GUMBEL_MIN - GUMBEL_MAX) * temperature;
    const float in_reach = (float) (reach - 1e-6 * fabs(reach));
    const float least = last.logit > in_reach ? last.logit : in_reach;
    // Bounds are floats; and beside a large logit noise loses digits in the score itself.
    const double of_top = row.top / temperature, slack = 2e-3 + 1e-15 * fabs(of_top);
    const float cold = (float) (1 / temperature);
    float bar = (float) (best_score - of_top - slack);
    float spare[PIECE], bounds[PIECE];
    for (int32_t block = 0; block < row.n_blocks; block++) {
        if (!row.reaches(block, least) || (row.peaks[block] - row.top) * cold + (float) GUMBEL_MAX < bar) continue;
        for (int32_t i = block * BLOCK; i < row.end(block); i += PIECE) {
            const float * logits = row.piece(i, spare);
            if (!bound_scores(logits, (uint64_t) i * GOLDEN + key, row.top, cold, bar, bounds)) continue;
            for (int32_t j = 0; j < PIECE; j++) {
                const Candidate each = {logits[j], i + j};
                if (bounds[j] < bar || each.logit == -INFINITY || is_before(last, each)) continue;
                const double score = score_of(each, temperature, key);
                if (score > best_score || (score == best_score && each.token < best.token)) {
                    best = each;
                    best_score = score;
                    bar = (float) (best_score - of_top - slack);
                }
            }
        }
    }
    return best;
}

// -------------------------------------------------------------------------------------- the token

// Return the token of a row that was scanned and has a finite largest logit.
static int32_t choose(Row & row, const paceline_rows_request & request, int64_t position) {
    const Candidate first = first_in(row);
    if (request.temperature == 0) return first.token;
    Candidate last = {-INFINITY, INT32_MAX};   // the last one that is kept
    if (request.log_min_p > -INFINITY) {
        const double least = row.top + request.log_min_p;
        last.logit = (float) least;
        if (last.logit < least) last.logit = nextafterf(last.logit, INFINITY);
    }
    const bool has_top_k = 0 < request.top_k && request.top_k < row.n;
    const bool is_cut = has_top_k && count_from(row, last.logit) > request.top_k;
    if (is_cut) last = row.found[first_of(row, request.top_k) - 1];
    const uint64_t key = position_key(request.seed, position);
    double enough = -1;   // weight for top-p; summed where it may decide
    for (;;) {
        const Candidate best = winner(row, first, last, request.temperature, key);
        if (request.top_p >= 1 || best.token == first.token) return best.token;
        const Weights weights = weigh(row, best, last);
        if (enough < 0) {
            if ((double) weights.before < request.top_p * (double) weights.kept) return best.token;   // all have more
            int64_t sum;
            if (has_top_k) {
                sum = weight_of_found(row, is_cut ? request.top_k : first_of(row, request.top_k));
            } else {
                sum = weight_of_all(row);
            }
            enough = request.top_p * (double) sum;
        }
        if ((double) weights.before < enough) return best.token;
        last = {best.logit, best.token - 1};
    }
}

static double confidence_of(Row & row) {
    const int32_t n = first_of(row, row.n < TOP_OF_CONFIDENCE ? row.n : TOP_OF_CONFIDENCE);
    std::sort(row.found, row.found + n, InOrder());
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += exp((double) row.found[i].logit - row.top);
    return 1 / sum;
}

// Tell the logarithm of a row's sum and its likeliest tokens; of an invalid row NaN and none.
static void tell(Row & row, paceline_rows_request & request, int32_t place) {
    const bool is_valid = row.is_valid && row.top > -INFINITY;
    const int32_t n = is_valid && request.n_best ? first_of(row, request.n_best < row.n ? request.n_best : row.n) : 0;
    std::sort(row.found, row.found + n, InOrder());
    for (int32_t i = 0; i < request.n_best; i++) {
        const Candidate each = i < n ? row.found[i] : Candidate{-INFINITY, -1};
        request.best[place * request.n_best + i] = each.token;
        request.best_logit[place * request.n_best + i] = each.logit;
    }
    request.log_sum[place] = NAN;
    if (!is_valid) return;
    Doubles sums = {};
    for_logits(row, row.top + NO_SHARE, [&](const float * logits, int32_t) { sums += exp_of(logits, row.top); });
    double sum = 0;
    for (int32_t i = 0; i < LANES; i++) sum += sums[i];
    request.log_sum[place] = row.top + log(sum);
}

// ------------------------------------------------------------------------------------------ edits

static void change(Row & row, int32_t token, float logit) {
    row.edited[row.n_edited++] = {row.logits[token], token};
    row.logits[token] = logit;
}

static void add_biases(Row & row, const paceline_rows_request & request) {
    for (int32_t i = 0; i < request.n_biased; i++) {
        const int32_t token = request.biased[i];
        if (token < row.n) change(row, token, row.logits[token] + request.biases[i]);
    }
    for (int32_t i = 0; i < request.n_forbidden; i++) {
        if (request.forbidden[i] < row.n) row.logits[request.forbidden[i]] = -INFINITY;   // never drawn
    }
}

// Penalise the last tokens of the window that has moved on by `n_ahead` drafted ones.
static void penalise(Row & row, const paceline_rows_request & request, int32_t n_ahead) {
    const int32_t n_all = request.n_recent + n_ahead;
    const int32_t n = n_all < PACELINE_WINDOW ? n_all : PACELINE_WINDOW;
    int32_t window[PACELINE_WINDOW];
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = n_all - n + i;
        window[i] = at < request.n_recent ? request.recent[at] : request.draft[at - request.n_recent];
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t token = window[i];
        int32_t n_before = 0, times = 0;
        for (int32_t j = 0; j < i; j++) n_before += window[j] == token;
        for (int32_t j = i; j < n; j++) times += window[j] == token;
        if (n_before > 0 || token < 0 || token >= row.n) continue;
        double logit = row.logits[token];
        logit = logit > 0 ? logit / request.repeat : logit * request.repeat;
        change(row, token, (float) (logit - times * request.frequency - request.presence));
    }
}

// ------------------------------------------------------------------------------------------ entry

static int draw(paceline_rows_request & request, float * rows, int64_t n_vocab, int64_t position, int32_t n_rows) {
    const bool is_told = request.n_best >= 0;
    const bool is_penalised = request.repeat != 1 || request.presence != 0 || request.frequency != 0;
    const bool is_edited = request.n_biased > 0 || request.n_forbidden > 0 || is_penalised;
    Row row = {};
    row.n = (int32_t) n_vocab;
    row.n_blocks = blocks_of(n_vocab);
    row.found = (Candidate *) request.scratch;
    row.edited = row.found + row.n;
    row.peaks = (float *) (row.edited + request.n_biased + PACELINE_WINDOW);
    for (int32_t place = 0; place < n_rows; place++) {
        request.n_drawn = place;
        row.logits = rows + place * n_vocab;
        row.n_edited = 0;
        if (is_told || !is_edited) scan(row);
        if (is_told) tell(row, request, place);
        if (is_edited) {
            add_biases(row, request);
            if (is_penalised) penalise(row, request, place);
            scan(row);
        }
        if (!row.is_valid) return PACELINE_ROWS_INVALID;
        if (row.top == -INFINITY) return PACELINE_ROWS_EMPTY;
        if (request.allowed) mask(row, request.allowed, request.n_allowed);
        if (row.top == -INFINITY) return PACELINE_ROWS_STUCK;
        const int32_t token = request.tokens[place] = choose(row, request, position + place);
        if (request.has_confidence) request.confidence = confidence_of(row);
        if (is_told) {
            request.logit[place] = row.logits[token];
            for (int32_t i = row.n_edited - 1; i >= 0; i--) {
                if (row.edited[i].token == token) request.logit[place] = row.edited[i].logit;
            }
        }
        if (place + 1 < n_rows && token != request.draft[place]) {
            n_rows = place + 1;
        }
    }
    request.n_drawn = n_rows;
    return 0;
}
