// The memory: what is taken in, and what is drawn.

static constexpr u32 FIRST = 1, TERMINATED = 2, TRUNCATED = 4, FINAL = 8, EXPLORED = 16;

// Takes in what was written to the memory since the last time. A pack is, for each run, 2 ENVS places + 1 (0: nothing),
// as many rewards, as many actions with flags in the highest byte, the number of changed leaves, the learning rate from
// now on, and the changed leaves as 2 place + present, in their order; then the frames of the steps, ENVS for each run. The entry 2 i is the step of environment i, 2 i + 1
// its final frame, which lies in `finals`. Grid: (2 ENVS + 1, runs). The host hears that its pack has come up.
extern "C" __global__ void __launch_bounds__(512) absorb(MEMORY, const u32* pack, const u8* finals, float* rates,
                                                         u32 number) {
    int run = blockIdx.y, part = blockIdx.x;
    const u32* words = pack + (long long)run * PACK_WORDS;
    if (part < 2 * ENVS) {
        constexpr long long PADDED = (FRAME_BYTES + 15) / 16 * 16;
        u32 place = words[part];
        if (place == 0) return;
        const u8* steps = (const u8*)(pack + (long long)gridDim.y * PACK_WORDS);
        const u8* from = (part % 2 ? finals : steps) + ((long long)run * ENVS + part / 2) * PADDED;
        u8* to = frames + ((long long)run * PLACES + place - 1) * FRAME_BYTES;
        if (FRAME_BYTES % 16 == 0) {
            for (int i = threadIdx.x; i < FRAME_BYTES / 16; i += 512) ((uint4*)to)[i] = ((const uint4*)from)[i];
        } else {
            for (int i = threadIdx.x; i < FRAME_BYTES; i += 512) to[i] = from[i];
        }
        return;
    }
    __shared__ u32 copied[PACK_WORDS];
    for (int i = threadIdx.x; i < PACK_WORDS; i += 512) copied[i] = words[i];
    double* state = all_state + run * STATES;
    float fresh = (float)state[FRESH];
    __syncthreads();
    const u32* entries = copied;
    u32* changed = copied + 6 * ENVS + 2;
    int count = copied[6 * ENVS];
    for (int i = threadIdx.x; i < 2 * ENVS; i += 512)
        if (entries[i] != 0)
            slots[(long long)run * PLACES + entries[i] - 1] = make_uint2(entries[2 * ENVS + i], entries[4 * ENVS + i]);
    for (int i = threadIdx.x; i < ENVS; i += 512)
        heads[run * ENVS + i] += (entries[2 * i] != 0) + (entries[2 * i + 1] != 0);
    leaves += (long long)run * LEAF_BLOCKS * 16;
    if (threadIdx.x == 0) {
        if (run == 0) ((volatile u32*)mail)[0] = number;
        rates[run] = __uint_as_float(copied[6 * ENVS + 1]);
        double steps = 0.0, least = state[LEAST], greatest = state[GREATEST];
        for (int i = 0; i < 2 * ENVS; i += 2) {
            if (entries[i] == 0) continue;
            double reward = __uint_as_float(entries[2 * ENVS + i]);
            steps += 1.0, least = fmin(least, reward), greatest = fmax(greatest, reward);
        }
        state[STEP] += steps, state[LEAST] = least, state[GREATEST] = greatest;
    }
    if (!PRIORITISED) return;
    if (threadIdx.x == 32)
        for (int i = 0; i < count; i++) leaves[changed[i] >> 1] = changed[i] & 1 ? fresh : 0.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += 512) changed[i] = (changed[i] >> 1) / 16;
    __syncthreads();
    long long nodes = (long long)run * NODES * 16;
    refresh<0, 512>(changed, count, leaves, sums + nodes, minima + nodes);
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

// A transition drawn: where the frames of s and of s' lie.
struct Found {
    u32 here[STACK], next[STACK];
};

// The frames of an observation that ends with this slot. Before the first frame of an episode come copies of it.
__device__ __forceinline__ void stack(u32 (&at)[STACK], const uint2* slots, u32 base, u32 slot) {
    bool first[STACK];
    // All at once: a slot back that belongs to another episode is looked at in vain.
#pragma unroll
    for (int k = 0; k < STACK; k++) {
        u32 back = slot >= (u32)k ? slot - k : slot + SLOTS - k;
        first[k] = k + 1 < STACK && ((slots[base + back].y >> 24) & FIRST);
    }
    int back = 0;
    bool begun = false;
#pragma unroll
    for (int k = 0; k < STACK; k++) {
        at[STACK - 1 - k] = base + (slot >= (u32)back ? slot - back : slot + SLOTS - back);
        begun = begun || first[k];
        if (!begun) back++;
    }
}

// Draws the i-th transition of a batch, and writes its row unless another block does.
__device__ void draw(MEMORY, int run, int i, bool writes, Found& found) {
    const double *settings = all_settings + run * SETTINGS, *state = all_state + run * STATES;
    slots += (long long)run * PLACES;
    u32 place;
    float weight = 1.0f;
    if (PRIORITISED) {
        double number = draws[((long long)run * DRAWS + (u64)state[LEARNED] % DRAWS) * BATCH + i];
        long long nodes = (long long)run * NODES * 16;
        place = find(settings, state, leaves + (long long)run * LEAF_BLOCKS * 16, sums + nodes, minima + nodes, number, i,
                     weight);
    } else {
        place = places[run * BATCH + i];
    }
    u32 base = place / SLOTS * SLOTS, slot = place % SLOTS;
    // Σ γᵏ rₖ and γᵐ, up to n steps, the episode's end, or an action that was not the best.
    int steps = 0, most = (int)settings[N_STEP];
    const double* power = powers + run * POWERS;
    double reward = 0.0;
    bool terminal = false;
    u32 end = slot;
    uint2 first = slots[base + slot];
    stack(found.here, slots, base, slot);
    while (steps < most) {
        uint2 now = steps == 0 ? first : slots[base + end];
        u32 flags = now.y >> 24;
        if (flags & FINAL) break;  // Interrupted: this frame is the successor.
        if (steps > 0 && (flags & EXPLORED)) break;
        reward = __dadd_rn(reward, __dmul_rn(power[steps], (double)__uint_as_float(now.x)));
        steps++;
        end = end + 1 == SLOTS ? 0 : end + 1;
        if (flags & (TERMINATED | TRUNCATED)) {
            terminal = flags & TERMINATED;
            break;
        }
    }
    stack(found.next, slots, base, end);
    if (!writes) return;
    if (PRIORITISED) places[run * BATCH + i] = place;
    u32 action = first.y & 0xffffffu;
    rows[run * BATCH + i] = {(float)reward, (float)power[steps], weight, action | (terminal ? TERMINAL : 0u)};
}

// Draws transitions and puts their observations together: ROWS of them in a block, or one in SPLIT blocks. Grid:
// (BATCH / ROWS * SPLIT, runs).
extern "C" __global__ void __launch_bounds__(256) sample(MEMORY) {
    __shared__ Found found[ROWS];
    int run = blockIdx.y, row_0 = blockIdx.x / SPLIT * ROWS, split = blockIdx.x % SPLIT;
    int count = min(ROWS, BATCH - row_0);
    for (int i = threadIdx.x; i < count; i += 256) draw(PASS_ON, run, row_0 + i, split == 0, found[i]);
    __syncthreads();
    frames += (long long)run * PLACES * FRAME_BYTES;
    constexpr int LENGTH = ELEMENTS * STACK;
    constexpr bool TRANSPOSES = STACK == 4 && INNER == 1 && sizeof(ELEMENT) == 1 && FRAME_BYTES % 4 == 0;
    constexpr bool COPIES = STACK == 1 && FRAME_BYTES % 16 == 0;
    // Pieces of an observation that are moved at once.
    constexpr int PIECES = TRANSPOSES ? FRAME_BYTES / 4 : COPIES ? FRAME_BYTES / 16 : LENGTH;
    for (int j = threadIdx.x + 256 * split; j < 2 * count * PIECES; j += 256 * SPLIT) {
        int i = j / (2 * PIECES), rest = j % (2 * PIECES), piece = rest % PIECES;
        bool is_next = rest >= PIECES;
        const u32(&from)[STACK] = is_next ? found[i].next : found[i].here;
        ELEMENT* out = (is_next ? next : here) + ((long long)run * BATCH + row_0 + i) * LENGTH;
        if (TRANSPOSES) {
            // Four numbers of four frames: a transposition of bytes.
            u32 w[4];
#pragma unroll
            for (int k = 0; k < 4; k++) w[k] = ((const u32*)(frames + (long long)from[k % STACK] * FRAME_BYTES))[piece];
            u32 ab = __byte_perm(w[0], w[1], 0x5140), cd = __byte_perm(w[2], w[3], 0x5140);
            u32 ef = __byte_perm(w[0], w[1], 0x7362), gh = __byte_perm(w[2], w[3], 0x7362);
            ((uint4*)out)[piece] = make_uint4(__byte_perm(ab, cd, 0x5410), __byte_perm(ab, cd, 0x7632),
                                              __byte_perm(ef, gh, 0x5410), __byte_perm(ef, gh, 0x7632));
        } else if (COPIES) {
            ((uint4*)out)[piece] = ((const uint4*)(frames + (long long)from[0] * FRAME_BYTES))[piece];
        } else {
            int row = piece / (INNER * STACK), within = piece % (INNER * STACK);
            const ELEMENT* frame = (const ELEMENT*)(frames + (long long)from[within / INNER] * FRAME_BYTES);
            out[piece] = frame[row * INNER + within % INNER];
        }
    }
}
