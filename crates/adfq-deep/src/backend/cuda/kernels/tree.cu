// The tree of `replay/sum_tree.rs`: blocks of sixteen leaves, and over them levels of nodes that hold sixteen sums (f64) and
// minima (f32). Sums have the same order as there, so both are the same bits.

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

// A barrier of the last THREADS threads of a block.
template <int NUMBER, int THREADS>
__device__ __forceinline__ void barrier() {
    asm volatile("bar.sync %0, %1;" ::"n"(NUMBER), "n"(THREADS) : "memory");
}

// Makes anew the nodes over the blocks of leaves in `touched`. The last THREADS threads of the block take part.
template <int BARRIER, int THREADS>
__device__ void refresh(u32* touched, int count, const float* leaves, double* sums, float* minima) {
    for (int level = 0; level < LEVELS; level++) {
        long long below = level == 0 ? 0 : level_start(level - 1), own = level_start(level);
        for (int i = threadIdx.x + THREADS - blockDim.x; i < count; i += THREADS) {
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
        barrier<BARRIER, THREADS>();
    }
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
