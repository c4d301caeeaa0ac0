// Where agents have been: `algorithm/own_variance.rs` on the device, with the same sums in the same order, so both are the
// same bits. The host writes FEATURES, the number of features, and SCALE_BITS, what a byte of an observation is multiplied with.
//
// `weights` is [run][INPUTS + 1][FEATURES], `inverse` [run][ACTIONS][FEATURES][FEATURES], `counts` [run][COUNTS]. Rows are
// observations, `count` of each run.

static constexpr int INPUTS = ELEMENTS * STACK;
// Rows of a block: what is read of weights and matrices serves all of them.
static constexpr int TOGETHER = FEATURES <= 512 ? 4 : 1;

__device__ __forceinline__ float number(u8 byte) { return __fmul_rn((float)byte, __uint_as_float(SCALE_BITS)); }
__device__ __forceinline__ float number(float value) { return value; }

// φ(s): a layer of rectified units, scaled to length 1. Grid: (rows / TOGETHER, runs).
extern "C" __global__ void __launch_bounds__(256) look(const ELEMENT* seen, const float* weights, double* features,
                                                       int count) {
    __shared__ float inputs[TOGETHER][256];
    __shared__ double lengths[TOGETHER];
    int run = blockIdx.y, row_0 = blockIdx.x * TOGETHER, rows = min(TOGETHER, count - row_0);
    seen += ((long long)run * count + row_0) * INPUTS;
    features += ((long long)run * count + row_0) * FEATURES;
    weights += (long long)run * (INPUTS + 1) * FEATURES;
    for (int j_0 = 0; j_0 < FEATURES; j_0 += 256) {
        int j = j_0 + threadIdx.x;
        float sums[TOGETHER] = {};
        for (int first = 0; first < INPUTS; first += 256) {
            int size = min(256, INPUTS - first);
            __syncthreads();
            if (threadIdx.x < size)
                for (int r = 0; r < TOGETHER; r++)
                    inputs[r][threadIdx.x] = r < rows ? number(seen[(long long)r * INPUTS + first + threadIdx.x]) : 0.0f;
            __syncthreads();
            if (j >= FEATURES) continue;
#pragma unroll 8
            for (int i = 0; i < size; i++) {
                float weight = weights[(long long)(first + i) * FEATURES + j];
#pragma unroll
                for (int r = 0; r < TOGETHER; r++) sums[r] = __fadd_rn(sums[r], __fmul_rn(inputs[r][i], weight));
            }
        }
        if (j >= FEATURES) continue;
        // The constant.
        float weight = weights[(long long)INPUTS * FEATURES + j];
#pragma unroll
        for (int r = 0; r < TOGETHER; r++) {
            float sum = __fadd_rn(sums[r], __fmul_rn(0.5f, weight));
            if (r < rows) features[(long long)r * FEATURES + j] = (double)fmaxf(sum, 0.0f);
        }
    }
    __syncthreads();
    if (threadIdx.x < rows) {
        const double* own = features + (long long)threadIdx.x * FEATURES;
        double length = 0.0;
        for (int j = 0; j < FEATURES; j++) length = __dadd_rn(length, __dmul_rn(own[j], own[j]));
        length = sqrt(length);
        // Where all units are at rest, nothing is known.
        lengths[threadIdx.x] = length > 0.0 ? length : 1.0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * FEATURES; i += 256) features[i] = features[i] / lengths[i / FEATURES];
}

// The share h(s,a) of the prior variance that is left. Grid: (rows / TOGETHER · ACTIONS, runs).
extern "C" __global__ void __launch_bounds__(256) find_left(const double* features, const double* inverse, double* left,
                                                            int count) {
    __shared__ double phi[TOGETHER][FEATURES], product[TOGETHER][FEATURES];
    int run = blockIdx.y, action = blockIdx.x % ACTIONS, row_0 = blockIdx.x / ACTIONS * TOGETHER;
    int rows = min(TOGETHER, count - row_0);
    const double* matrix = inverse + ((long long)run * ACTIONS + action) * FEATURES * FEATURES;
    features += ((long long)run * count + row_0) * FEATURES;
    for (int j = threadIdx.x; j < FEATURES; j += 256)
        for (int r = 0; r < TOGETHER; r++) phi[r][j] = r < rows ? features[(long long)r * FEATURES + j] : 0.0;
    __syncthreads();
    for (int j = threadIdx.x; j < FEATURES; j += 256) {
        double sums[TOGETHER] = {};
#pragma unroll 8
        for (int i = 0; i < FEATURES; i++) {
            double entry = matrix[(long long)i * FEATURES + j];
#pragma unroll
            for (int r = 0; r < TOGETHER; r++) sums[r] = __dadd_rn(sums[r], __dmul_rn(phi[r][i], entry));
        }
#pragma unroll
        for (int r = 0; r < TOGETHER; r++) product[r][j] = sums[r];
    }
    __syncthreads();
    if (threadIdx.x >= rows) return;
    double found = 0.0;
    for (int j = 0; j < FEATURES; j++)
        found = __dadd_rn(found, __dmul_rn(product[threadIdx.x][j], phi[threadIdx.x][j]));
    found = found < 0.0 ? 0.0 : found > 1.0 ? 1.0 : found;
    left[((long long)run * count + row_0 + threadIdx.x) * ACTIONS + action] = found;
}

// The actions were taken in states with these features, one of each environment. A block for each action; its environments
// come one after the other. `before` becomes what was left before each visit. Grid: (ACTIONS, runs).
extern "C" __global__ void __launch_bounds__(512) visit(const double* features, const u32* actions,
                                                        const double* all_settings, double* inverse, double* before) {
    __shared__ double phi[FEATURES], product[FEATURES];
    __shared__ double scale;
    int run = blockIdx.y, action = blockIdx.x;
    double* matrix = inverse + ((long long)run * ACTIONS + action) * FEATURES * FEATURES;
    // λ is the first of the algorithm's own numbers.
    double noise = all_settings[run * SETTINGS + OWN];
    for (int env = 0; env < ENVS; env++) {
        long long at = (long long)run * ENVS + env;
        if (actions[at] != (u32)action) continue;
        __syncthreads();
        for (int j = threadIdx.x; j < FEATURES; j += 512) phi[j] = features[at * FEATURES + j];
        __syncthreads();
        for (int j = threadIdx.x; j < FEATURES; j += 512) {
            double sum = 0.0;
#pragma unroll 16
            for (int i = 0; i < FEATURES; i++)
                sum = __dadd_rn(sum, __dmul_rn(phi[i], matrix[(long long)i * FEATURES + j]));
            product[j] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            double left = 0.0;
            for (int j = 0; j < FEATURES; j++) left = __dadd_rn(left, __dmul_rn(product[j], phi[j]));
            left = fmax(left, 0.0);
            scale = 1.0 / __dadd_rn(noise, left);
            before[at] = fmin(left, 1.0);
        }
        __syncthreads();
        for (int k = threadIdx.x; k < FEATURES * FEATURES; k += 512) {
            double factor = __dmul_rn(product[k / FEATURES], scale);
            matrix[k] = __dsub_rn(matrix[k], __dmul_rn(factor, product[k % FEATURES]));
        }
    }
}

// Counts the pairs that were new, environment after environment. Grid: (1, runs).
extern "C" __global__ void __launch_bounds__(32) count_pairs(const double* before, double* counts) {
    if (threadIdx.x != 0) return;
    double pairs = counts[blockIdx.y * COUNTS + PAIRS];
    for (int env = 0; env < ENVS; env++) pairs = __dadd_rn(pairs, before[(long long)blockIdx.y * ENVS + env]);
    counts[blockIdx.y * COUNTS + PAIRS] = pairs;
}

// Notes how far targets lie from 0, and from the means that the network gives for them, on average over a batch. Gives the sums
// of the own and of the inherited sd of the best actions in s', and how many there are.
__device__ uint4 note_batch(double* counts, const float4* notes, const Row* rows) {
    float squares = 0.0f, residuals = 0.0f, weights = 0.0f;
    double own = 0.0, inherited = 0.0, found = 0.0;
    for (int i = 0; i < BATCH; i++) {
        float4 note = notes[i];
        squares = __fadd_rn(squares, note.x), residuals = __fadd_rn(residuals, note.y);
        weights = __fadd_rn(weights, __fmul_rn(rows[i].weight, SHARE));
        if (note.z >= 0.0f) own += note.z, inherited += note.w, found += 1.0;
    }
    double batches = counts[BATCHES] + 1.0, rate = 1.0 / fmin(batches, 1000.0);
    double square = (double)(squares / weights), residual = (double)(residuals / weights);
    counts[BATCHES] = batches;
    counts[SQUARE] = __dadd_rn(counts[SQUARE], __dmul_rn(rate, __dsub_rn(square, counts[SQUARE])));
    counts[RESIDUAL] = __dadd_rn(counts[RESIDUAL], __dmul_rn(rate, __dsub_rn(residual, counts[RESIDUAL])));
    return make_uint4(__float_as_uint((float)own), __float_as_uint((float)inherited), __float_as_uint((float)found), 0);
}
