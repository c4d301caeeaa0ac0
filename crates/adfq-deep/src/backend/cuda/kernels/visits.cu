// Where agents have been: `algorithm/own_variance.rs` on the device, with the same sums in the same order, so both are the
// same bits. The host writes FEATURES, the number of features, and SCALE_BITS, what a byte of an observation is multiplied with.
//
// `weights` is [run][INPUTS + 1][FEATURES], `inverse` [run][ACTIONS][FEATURES][FEATURES], `counts` [run][COUNTS]. Rows are
// observations, `count` of each run.

static constexpr int INPUTS = ELEMENTS * STACK;
// Features of a thread, where a block has 256 threads.
static constexpr int PARTS = (FEATURES + 255) / 256;

__device__ __forceinline__ float number(u8 byte) { return __fmul_rn((float)byte, __uint_as_float(SCALE_BITS)); }
__device__ __forceinline__ float number(float value) { return value; }

// Writes the inputs of some rows from `first` on to shared memory, those that are not 0 in all rows one behind the other, and
// their numbers to `from`. Gives how many there are. Most inputs of a grid of things are 0.
template <int TOGETHER>
__device__ __forceinline__ int gather(const ELEMENT* seen, int rows, int first, float (*inputs)[TOGETHER], int* from) {
    __shared__ int found[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = first + threadIdx.x;
    float own[TOGETHER];
    bool some = false;
#pragma unroll
    for (int r = 0; r < TOGETHER; r++) {
        own[r] = i < INPUTS && r < rows ? number(seen[(long long)r * INPUTS + i]) : 0.0f;
        some |= own[r] != 0.0f;
    }
    unsigned votes = __ballot_sync(0xffffffffu, some);
    __syncthreads();
    if (lane == 0) found[warp] = __popc(votes);
    __syncthreads();
    int place = __popc(votes & ((1u << lane) - 1)), total = 0;
    for (int w = 0; w < 8; w++) {
        if (w < warp) place += found[w];
        total += found[w];
    }
    if (some) {
        from[place] = i;
#pragma unroll
        for (int r = 0; r < TOGETHER; r++) inputs[place][r] = own[r];
    }
    __syncthreads();
    return total;
}

// φ(s): a layer of rectified units, scaled to length 1. What is read of weights serves TOGETHER rows. Grid: (rows / TOGETHER, runs).
template <int TOGETHER>
__device__ __forceinline__ void look(const ELEMENT* seen, const float* weights, double* features, int count) {
    __shared__ float inputs[256][TOGETHER], units[FEATURES][TOGETHER];
    __shared__ int from[256];
    __shared__ double lengths[TOGETHER];
    int run = blockIdx.y, row_0 = blockIdx.x * TOGETHER, rows = min(TOGETHER, count - row_0);
    seen += ((long long)run * count + row_0) * INPUTS;
    features += ((long long)run * count + row_0) * FEATURES;
    weights += (long long)run * (INPUTS + 1) * FEATURES;
    float sums[PARTS][TOGETHER] = {};
    for (int first = 0; first < INPUTS; first += 256) {
        int size = gather<TOGETHER>(seen, rows, first, inputs, from);
#pragma unroll 4
        for (int i = 0; i < size; i++) {
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                int j = min(256 * part + (int)threadIdx.x, FEATURES - 1);
                float weight = weights[(long long)from[i] * FEATURES + j];
#pragma unroll
                for (int r = 0; r < TOGETHER; r++)
                    sums[part][r] = __fadd_rn(sums[part][r], __fmul_rn(inputs[i][r], weight));
            }
        }
    }
    // The constant.
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        int j = 256 * part + threadIdx.x;
        if (j >= FEATURES) continue;
        float weight = weights[(long long)INPUTS * FEATURES + j];
#pragma unroll
        for (int r = 0; r < TOGETHER; r++)
            units[j][r] = fmaxf(__fadd_rn(sums[part][r], __fmul_rn(0.5f, weight)), 0.0f);
    }
    __syncthreads();
    if (threadIdx.x < rows) {
        double length = 0.0;
#pragma unroll 16
        for (int j = 0; j < FEATURES; j++) {
            double unit = units[j][threadIdx.x];
            length = __dadd_rn(length, __dmul_rn(unit, unit));
        }
        length = sqrt(length);
        // Where all units are at rest, nothing is known.
        lengths[threadIdx.x] = length > 0.0 ? length : 1.0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * FEATURES; i += 256)
        features[i] = (double)units[i % FEATURES][i / FEATURES] / lengths[i / FEATURES];
}

// The share h(s,a) of the prior variance that is left. What is read of a matrix serves TOGETHER rows: the more there are, the less
// is read; the fewer, the more blocks share the work. Grid: (rows / TOGETHER · ACTIONS, runs).
template <int TOGETHER>
__device__ __forceinline__ void find_left(const double* features, const double* inverse, double* left, int count) {
    // Rows lie side by side, two apart at their end, so that they come in pairs and from different banks.
    static constexpr int STRIDE = TOGETHER > 1 ? TOGETHER + 2 : 1;
    // Rows of the matrix that are asked for before the first of them is used. φ is 0 behind its end.
    static constexpr int AHEAD = PARTS > 4 ? 4 : TOGETHER > 4 ? 8 : 16, PADDED = (FEATURES + AHEAD - 1) / AHEAD * AHEAD;
    __shared__ double2 room[(PADDED * STRIDE + 1) / 2];
    double* phi = (double*)room;
    int run = blockIdx.y, action = blockIdx.x % ACTIONS, row_0 = blockIdx.x / ACTIONS * TOGETHER;
    int rows = min(TOGETHER, count - row_0);
    const double* matrix = inverse + ((long long)run * ACTIONS + action) * FEATURES * FEATURES;
    features += ((long long)run * count + row_0) * FEATURES;
    for (int k = threadIdx.x; k < TOGETHER * PADDED; k += 256) {
        int r = k / PADDED, j = k % PADDED;
        phi[j * STRIDE + r] = r < rows && j < FEATURES ? features[(long long)r * FEATURES + j] : 0.0;
    }
    __syncthreads();
    double sums[PARTS][TOGETHER] = {};
    for (int i_0 = 0; i_0 < FEATURES; i_0 += AHEAD) {
        double entries[AHEAD][PARTS];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                int row = min(i_0 + i, FEATURES - 1), j = min(256 * part + (int)threadIdx.x, FEATURES - 1);
                entries[i][part] = matrix[(long long)row * FEATURES + j];
            }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const double* of_row = phi + (i_0 + i) * STRIDE;
#pragma unroll
            for (int part = 0; part < PARTS; part++)
#pragma unroll
                for (int r = 0; r < TOGETHER; r++)
                    sums[part][r] = __dadd_rn(sums[part][r], __dmul_rn(of_row[r], entries[i][part]));
        }
    }
    __syncthreads();
    // The terms of φᵀ P φ take the place of φ.
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        int j = 256 * part + threadIdx.x;
        if (j >= FEATURES) continue;
#pragma unroll
        for (int r = 0; r < TOGETHER; r++) phi[j * STRIDE + r] = __dmul_rn(sums[part][r], phi[j * STRIDE + r]);
    }
    __syncthreads();
    if (threadIdx.x >= rows) return;
    double found = 0.0;
#pragma unroll 16
    for (int j = 0; j < FEATURES; j++) found = __dadd_rn(found, phi[j * STRIDE + threadIdx.x]);
    found = found < 0.0 ? 0.0 : found > 1.0 ? 1.0 : found;
    left[((long long)run * count + row_0 + threadIdx.x) * ACTIONS + action] = found;
}

#define FOR_ROWS(TOGETHER)                                                                                            \
    extern "C" __global__ void __launch_bounds__(256)                                                                 \
        look_##TOGETHER(const ELEMENT* seen, const float* weights, double* features, int count) {                     \
        look<TOGETHER>(seen, weights, features, count);                                                               \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256)                                                                 \
        find_left_##TOGETHER(const double* features, const double* inverse, double* left, int count) {                \
        find_left<TOGETHER>(features, inverse, left, count);                                                          \
    }

// Shared memory has room for so many rows at most (`together` in visits.rs).
FOR_ROWS(1)
#if FEATURES <= 768
FOR_ROWS(4)
#endif
#if FEATURES <= 320
FOR_ROWS(16)
#endif

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
            for (int i_0 = 0; i_0 < FEATURES; i_0 += 16) {
                double entries[16];
#pragma unroll
                for (int i = 0; i < 16; i++) entries[i] = matrix[(long long)min(i_0 + i, FEATURES - 1) * FEATURES + j];
#pragma unroll
                for (int i = 0; i < 16; i++)
                    if (i_0 + i < FEATURES) sum = __dadd_rn(sum, __dmul_rn(phi[i_0 + i], entries[i]));
            }
            product[j] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            double left = 0.0;
#pragma unroll 16
            for (int j = 0; j < FEATURES; j++) left = __dadd_rn(left, __dmul_rn(product[j], phi[j]));
            left = fmax(left, 0.0);
            scale = 1.0 / __dadd_rn(noise, left);
            before[at] = fmin(left, 1.0);
        }
        __syncthreads();
        for (int k_0 = threadIdx.x; k_0 < FEATURES * FEATURES; k_0 += 8 * 512) {
            double entries[8];
#pragma unroll
            for (int n = 0; n < 8; n++) entries[n] = matrix[min(k_0 + 512 * n, FEATURES * FEATURES - 1)];
#pragma unroll
            for (int n = 0; n < 8; n++) {
                int k = k_0 + 512 * n;
                if (k >= FEATURES * FEATURES) continue;
                double factor = __dmul_rn(product[k / FEATURES], scale);
                matrix[k] = __dsub_rn(entries[n], __dmul_rn(factor, product[k % FEATURES]));
            }
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
