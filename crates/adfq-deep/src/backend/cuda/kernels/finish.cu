// The end of a step: its metrics, and the priorities of what was sampled. Grid: (1, runs).

// p^α as the tree keeps it: neither zero, which would say absent, nor infinite.
__device__ __forceinline__ float weight_of(double p, double alpha) {
    return fminf(fmaxf((float)pow(p, alpha), 1.17549435e-38f), 3.40282347e38f);
}

// Warp 0 reports, warp 1 finds the largest priority, the others set priorities; all make the tree anew.
extern "C" __global__ void __launch_bounds__(128) finish(MEMORY) {
    __shared__ float4 part[BATCH];
    __shared__ double priority[BATCH];
    __shared__ u32 place[BATCH], touched[BATCH];
    int run = blockIdx.y;
    const double* settings = all_settings + run * SETTINGS;
    double* state = all_state + run * STATES;
    float norm = norms[run];
    double learned = state[LEARNED];
    bool beliefs = true, good = finite(norm);
    for (int i = threadIdx.x; i < BATCH; i += 128) {
        part[i] = parts[run * BATCH + i];
        place[i] = places[run * BATCH + i];
        priority[i] = fabs((double)errors[run * BATCH + i]) + settings[EPSILON];
        float2 target = targets[run * BATCH + i];
        beliefs = beliefs && finite(target.x) && finite(target.y);
        good = good && beliefs && finite(part[i].x) && finite(part[i].y);
    }
    beliefs = __syncthreads_and(beliefs);
    good = __syncthreads_and(good);
    if (threadIdx.x == 0) {
        // In the order of the CPU's sums.
        float loss = 0.0f, mean_q = 0.0f, mean_sigma = 0.0f;
        for (int i = 0; i < BATCH; i++) {
            loss = __fadd_rn(__fadd_rn(loss, part[i].x), part[i].y);
            mean_q += part[i].z;
            mean_sigma += part[i].w;
        }
        u32 failed = !beliefs ? 1 : !finite(loss) ? 2 : !finite(norm) ? 3 : 0;
        state[LEARNED] = learned + 1.0;
        uint4* row = (uint4*)(mail + ROW_WORDS + (((u64)learned % RING) * gridDim.y + run) * ROW_WORDS);
        uint4 own = make_uint4(0, 0, 0, 0);
#if FEATURES
        own = note_batch(counts + run * COUNTS, notes + run * BATCH, rows + run * BATCH);
#endif
        u64 step = (u64)state[STEP];
        __stcg(row, make_uint4(__float_as_uint(loss), __float_as_uint(norm), __float_as_uint(mean_q), __float_as_uint(mean_sigma)));
        __stcg(row + 1, own);
        __threadfence_system();
        // The last word says that the row is whole.
        __stcg(row + 2, make_uint4((u32)step, (u32)(step >> 32), failed, (u32)learned + 1));
    }
    // Warp 0 is done when the host has heard; the others do not wait for that.
    if (!PRIORITISED || !good || threadIdx.x < 32) return;
    if (threadIdx.x == 32) {
        double largest = state[LARGEST];
        for (int i = 0; i < BATCH; i++) largest = fmax(largest, priority[i]);
        if (largest > state[LARGEST]) {
            state[LARGEST] = largest;
            state[FRESH] = weight_of(largest, settings[ALPHA]);
        }
    }
    leaves += (long long)run * LEAF_BLOCKS * 16;
    for (int i = threadIdx.x - 64; i >= 0 && i < BATCH; i += 64) {
        bool last = true;  // Of one drawn twice, the later error counts.
        for (int j = i + 1; j < BATCH; j++) last = last && place[j] != place[i];
        if (last) leaves[place[i]] = weight_of(priority[i], settings[ALPHA]);
        touched[i] = place[i] / 16;
    }
    barrier<1, 96>();
    long long nodes = (long long)run * NODES * 16;
    refresh<1, 96>(touched, BATCH, leaves, sums + nodes, minima + nodes);
}
