// The memory: the priority tree, what is taken in, and what is drawn.
//
// The tree is that of `replay/sum_tree.rs`: blocks of sixteen leaves, and over them levels of nodes that hold sixteen sums
// (f64) and minima (f32). Sums have the same order as there, so both are the same bits.

static constexpr u32 FIRST = 1, TERMINATED = 2, TRUNCATED = 4, FINAL = 8;

__device__ __forceinline__ int level_start(int level) {
    constexpr int starts[LEVELS] = LEVEL_STARTS;
    int start = 0;
#pragma unroll
    for (int i = 0; i < LEVELS; i++) start = i == level ? starts[i] : start;
    return start;
}

struct Sixteen {
    double v[16];
};

__device__ __forceinline__ Sixteen sixteen(const double* at) {
    Sixteen all;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        double2 two = ((const double2*)at)[i];
        all.v[2 * i] = two.x, all.v[2 * i + 1] = two.y;
    }
    return all;
}
__device__ __forceinline__ Sixteen sixteen(const float* at) {
    Sixteen all;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float4 four = ((const float4*)at)[i];
        all.v[4 * i] = four.x, all.v[4 * i + 1] = four.y, all.v[4 * i + 2] = four.z, all.v[4 * i + 3] = four.w;
    }
    return all;
}

// Four sums side by side, then pairs of them.
__device__ __forceinline__ double sum(const Sixteen& s) {
    double a = s.v[0] + s.v[4] + s.v[8] + s.v[12], b = s.v[1] + s.v[5] + s.v[9] + s.v[13];
    double c = s.v[2] + s.v[6] + s.v[10] + s.v[14], d = s.v[3] + s.v[7] + s.v[11] + s.v[15];
    return (a + b) + (c + d);
}

__device__ __forceinline__ float minimum(const float* at) {
    float least = __int_as_float(0x7f800000);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float4 four = ((const float4*)at)[i];
        least = fminf(least, fminf(fminf(four.x, four.y), fminf(four.z, four.w)));
    }
    return least;
}

// The same of leaves, of which zeros are absent.
__device__ __forceinline__ float least_present(const Sixteen& s) {
    float least = __int_as_float(0x7f800000);
#pragma unroll
    for (int i = 0; i < 16; i++) least = s.v[i] > 0.0 ? fminf(least, (float)s.v[i]) : least;
    return least;
}

struct Child {
    int at;
    double before;
};

// The child under `point`, and the sum of those before it.
__device__ __forceinline__ Child child(const Sixteen& s, double point) {
    double prefix = 0.0, before = 0.0;
    int at = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        prefix += s.v[i];
        bool passed = prefix <= point;
        before = passed ? prefix : before;
        at += passed;
    }
    if (at < 16) return {at, before};
    // Rounding put the point past the last child: an absent one must not be found.
    int last = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) last = s.v[i] > 0.0 ? i : last;
    before = 0.0;
#pragma unroll
    for (int i = 0; i < 16; i++) before = i < last ? before + s.v[i] : before;
    return {last, before};
}

// Makes anew the nodes over the blocks of leaves in `touched`. All threads of the block take part.
__device__ void refresh(u32* touched, int count, const float* leaves, double* sums, float* minima) {
    for (int level = 0; level < LEVELS; level++) {
        long long below = level == 0 ? 0 : level_start(level - 1), own = level_start(level);
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            long long block = touched[i], at = (own + block / 16) * 16 + block % 16;
            if (level == 0) {
                Sixteen all = sixteen(leaves + block * 16);
                sums[at] = sum(all);
                minima[at] = least_present(all);
            } else {
                sums[at] = sum(sixteen(sums + (below + block) * 16));
                minima[at] = minimum(minima + (below + block) * 16);
            }
            touched[i] = (u32)(block / 16);
        }
        __syncthreads();
    }
}

// Takes in what was written to the memory since the last time. A pack is, for each run, 2 LANES places + 1 (0: nothing),
// as many rewards, as many actions with flags in the highest byte, the number of changed leaves, and these as 2 place +
// present, in their order; then the frames, 2 LANES for each run. The entry 2 i is the step of lane i, 2 i + 1 its final
// frame. Grid: (2 LANES + 1, runs). What came before is done by now, and the host may write over its pack.
extern "C" __global__ void __launch_bounds__(128) absorb(MEMORY, const u32* pack, u32 number) {
    int run = blockIdx.y, part = blockIdx.x;
    const volatile u32* words = pack + (long long)run * PACK_WORDS;
    if (part < 2 * LANES) {
        u32 place = words[part];
        if (place == 0) return;
        constexpr long long PADDED = (FRAME_BYTES + 15) / 16 * 16;
        const u8* from = (const u8*)(pack + (long long)gridDim.y * PACK_WORDS) + ((long long)run * 2 * LANES + part) * PADDED;
        u8* to = frames + ((long long)run * PLACES + place - 1) * FRAME_BYTES;
        if (FRAME_BYTES % 16 == 0) {
            for (int i = threadIdx.x; i < FRAME_BYTES / 16; i += 128) ((uint4*)to)[i] = __ldcv((const uint4*)from + i);
        } else {
            for (int i = threadIdx.x; i < FRAME_BYTES; i += 128) to[i] = __ldcv(from + i);
        }
        return;
    }
    __shared__ u32 changed[CHANGES];
    __shared__ u32 entries[6 * LANES];
    double* state = all_state + run * STATES;
    int count = words[6 * LANES];
    for (int i = threadIdx.x; i < 6 * LANES; i += 128) entries[i] = words[i];
    for (int i = threadIdx.x; i < count; i += 128) changed[i] = words[6 * LANES + 1 + i];
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * LANES; i += 128)
        if (entries[i] != 0)
            slots[(long long)run * PLACES + entries[i] - 1] = make_uint2(entries[2 * LANES + i], entries[4 * LANES + i]);
    leaves += (long long)run * LEAF_BLOCKS * 16;
    if (threadIdx.x == 0) {
        if (run == 0) ((volatile u32*)mail)[0] = number;
        for (int i = 0; i < 2 * LANES; i += 2) {
            if (entries[i] == 0) continue;
            double reward = __uint_as_float(entries[2 * LANES + i]);
            state[STEP] += 1.0;
            state[LEAST] = fmin(state[LEAST], reward);
            state[GREATEST] = fmax(state[GREATEST], reward);
        }
        float fresh = (float)state[FRESH];
        if (PRIORITISED)
            for (int i = 0; i < count; i++) leaves[changed[i] >> 1] = changed[i] & 1 ? fresh : 0.0f;
    }
    if (!PRIORITISED) return;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += 128) changed[i] = (changed[i] >> 1) / 16;
    __syncthreads();
    long long nodes = (long long)run * NODES * 16;
    refresh(changed, count, leaves, sums + nodes, minima + nodes);
}

// Copies bytes of frames to the host's memory.
extern "C" __global__ void __launch_bounds__(256) fetch(MEMORY, u64 start, u64 count, u8* to) {
    u64 end = min((blockIdx.x + 1ULL) * 4096, count);
    for (u64 i = blockIdx.x * 4096ULL + threadIdx.x; i < end; i += 256) to[i] = frames[start + i];
}

// Makes all nodes of a tree from its leaves. Grid: (1, runs).
extern "C" __global__ void __launch_bounds__(256) rebuild(MEMORY) {
    long long run = blockIdx.y;
    leaves += run * LEAF_BLOCKS * 16, sums += run * NODES * 16, minima += run * NODES * 16;
    int below = LEAF_BLOCKS;
    for (int level = 0; level < LEVELS; level++) {
        long long under = level == 0 ? 0 : level_start(level - 1), own = level_start(level);
        for (int block = threadIdx.x; block < below; block += 256) {
            long long at = own * 16 + block;
            Sixteen all = level == 0 ? sixteen(leaves + block * 16LL) : sixteen(sums + (under + block) * 16);
            sums[at] = sum(all);
            minima[at] = level == 0 ? least_present(all) : minimum(minima + (under + block) * 16);
        }
        below = (below + 15) / 16;
        __syncthreads();
    }
}

// The place under the i-th point, and its importance weight.
__device__ u32 find(const double* settings, const double* state, const float* leaves, const double* sums,
                    const float* minima, double draw, int i, float& weight) {
    const double* root = sums + level_start(LEVELS - 1) * 16LL;
    double part = sum(sixteen(root)) / (double)BATCH, point = __dmul_rn(part, (double)i + draw);
    double smallest = minimum(minima + level_start(LEVELS - 1) * 16LL);
    long long place = 0;
    for (int level = LEVELS - 1; level >= 0; level--) {
        Child found = child(sixteen(sums + (level_start(level) + place) * 16), point);
        point -= found.before;
        place = place * 16 + found.at;
    }
    place = place * 16 + child(sixteen(leaves + place * 16), point).at;
    // The exponent rises in a line over the run, as `Config::beta` has it.
    float start = (float)settings[BETA], done = (float)fmin(state[STEP] / settings[STEPS], 1.0);
    float beta = __fadd_rn(start, __fmul_rn(__fsub_rn(1.0f, start), done));
    weight = (float)pow(smallest / (double)leaves[place], (double)beta);
    return (u32)place;
}

// Draws the transitions of a batch and puts their observations together, s in even and s' in odd blocks. Grid: (2 BATCH,
// runs).
extern "C" __global__ void __launch_bounds__(256) sample(MEMORY) {
    int run = blockIdx.y, i = blockIdx.x / 2;
    bool is_next = blockIdx.x % 2;
    const double *settings = all_settings + run * SETTINGS, *state = all_state + run * STATES;
    frames += (long long)run * PLACES * FRAME_BYTES, slots += (long long)run * PLACES;
    __shared__ u32 stacked[STACK];
    if (threadIdx.x == 0) {
        u32 place;
        float weight = 1.0f;
        if (PRIORITISED) {
            double draw = draws[((long long)run * DRAWS + (u64)state[LEARNED] % DRAWS) * BATCH + i];
            long long nodes = (long long)run * NODES * 16;
            place = find(settings, state, leaves + (long long)run * LEAF_BLOCKS * 16, sums + nodes, minima + nodes, draw, i,
                         weight);
        } else {
            place = places[run * BATCH + i];
        }
        u32 base = place / SLOTS * SLOTS, slot = place % SLOTS;
        // Σ γᵏ rₖ and γᵐ, up to n steps or the episode's end.
        int steps = 0, most = (int)settings[N_STEP];
        const double* power = powers + run * POWERS;
        double reward = 0.0;
        bool terminal = false;
        u32 end = slot;
        uint2 first = slots[base + slot];
        while (steps < most) {
            uint2 now = steps == 0 ? first : slots[base + end];
            u32 flags = now.y >> 24;
            if (flags & FINAL) break;  // Interrupted: this frame is the successor.
            reward = __dadd_rn(reward, __dmul_rn(power[steps], (double)__uint_as_float(now.x)));
            steps++;
            end = end + 1 == SLOTS ? 0 : end + 1;
            if (flags & (TERMINATED | TRUNCATED)) {
                terminal = flags & TERMINATED;
                break;
            }
        }
        if (!is_next) {
            if (PRIORITISED) places[run * BATCH + i] = place;
            u32 action = first.y & 0xffffffu;
            rows[run * BATCH + i] = {(float)reward, (float)power[steps], weight, action | (terminal ? TERMINAL : 0u)};
        }
        // Before the first frame of an episode come copies of it.
        u32 at = is_next ? end : slot;
        bool begun = false;
        for (int k = STACK - 1; k >= 0; k--) {
            stacked[k] = base + at;
            if (k == 0) break;
            begun = begun || ((slots[base + at].y >> 24) & FIRST);
            if (!begun) at = at == 0 ? SLOTS - 1 : at - 1;
        }
    }
    __syncthreads();
    ELEMENT* out = (is_next ? next : here) + ((long long)run * BATCH + i) * (ELEMENTS * STACK);
    if (STACK == 4 && INNER == 1 && sizeof(ELEMENT) == 1 && FRAME_BYTES % 4 == 0) {
        // Four numbers of four frames: a transposition of bytes.
        const u32* from[4];
#pragma unroll
        for (int k = 0; k < 4; k++) from[k] = (const u32*)(frames + (long long)stacked[k % STACK] * FRAME_BYTES);
        for (int j = threadIdx.x; j < FRAME_BYTES / 4; j += 256) {
            u32 a = from[0][j], b = from[1][j], c = from[2][j], d = from[3][j];
            u32 ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
            u32 ef = __byte_perm(a, b, 0x7362), gh = __byte_perm(c, d, 0x7362);
            ((uint4*)out)[j] = make_uint4(__byte_perm(ab, cd, 0x5410), __byte_perm(ab, cd, 0x7632),
                                          __byte_perm(ef, gh, 0x5410), __byte_perm(ef, gh, 0x7632));
        }
    } else {
        for (int j = threadIdx.x; j < ELEMENTS * STACK; j += 256) {
            int row = j / (INNER * STACK), rest = j % (INNER * STACK);
            const ELEMENT* frame = (const ELEMENT*)(frames + (long long)stacked[rest / INNER] * FRAME_BYTES);
            out[j] = frame[row * INNER + rest % INNER];
        }
    }
}
