// What all kernels share: rounding to TF32, asynchronous copies, the matrix instruction, sums of a fixed shape.
//
// A geometry G describes a layer with compile-time numbers (the host writes one for each layer):
//   H, W, C    the input image; a dense layer has H = W = 1
//   OH, OW, F  the output image
//   KS, S      side of the kernel and stride; PY, PX zeros above and to the left
// Weights are [KS][KS][C][F], images are NHWC without a border.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

extern __shared__ __align__(256) float shared[];

static constexpr int THREADS = 128;
static constexpr int WARPS = 4;
// Depth of a tile, the same for all kernels: the order of every sum depends on it.
static constexpr int BK = 32;

// To the nearest TF32.
__device__ __forceinline__ float to_tf32(float x) {
    u32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
}
// What is rounded once when it is written need not be when it is read.
#ifdef PRECISE
__device__ __forceinline__ float rounded(float x) { return x; }
#else
__device__ __forceinline__ float rounded(float x) { return to_tf32(x); }
#endif

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// Copies BYTES to shared memory, or zeros; through the first cache if what is read is read again soon.
template <int BYTES, bool AGAIN = false>
__device__ __forceinline__ void copy_async(float* to, const void* from, bool valid) {
    // With no bytes to read, the address is not used.
    int size = valid ? BYTES : 0;
    if constexpr (BYTES == 16 && AGAIN)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(size));
    else if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(size));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from), "r"(size));
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;"); }
template <int PENDING>
__device__ __forceinline__ void copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(PENDING)); }

__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

// Calls `work` with each of COUNT numbers, shared out among the threads of a block in turns that are known beforehand.
template <int COUNT, int BLOCK, class Work>
__device__ __forceinline__ void share(Work work) {
    constexpr int WHOLE = COUNT / BLOCK;
#pragma unroll 4
    for (int turn = 0; turn < WHOLE; turn++) work(turn * BLOCK + (int)threadIdx.x);
    if (COUNT % BLOCK != 0 && WHOLE * BLOCK + threadIdx.x < COUNT) work(WHOLE * BLOCK + (int)threadIdx.x);
}

// Two numbers at once, which the compiler takes apart where they come from an instruction of ours.
__device__ __forceinline__ void store_two(float* to, float a, float b) {
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "f"(a), "f"(b) : "memory");
}

// Which of `count` places before or after a coordinate lie within [0, size): bit i for first + i·step.
__device__ __forceinline__ u32 places(int first, int step, int count, int size) {
    u32 bits = 0;
#pragma unroll
    for (int i = 0; i < count; i++) bits |= (u32)((u32)(first + i * step) < (u32)size) << i;
    return bits;
}
// Bits of rows and columns in one word: a place is in the image if both its bits are set.
static constexpr int MOST_PLACES = 16;
__device__ __forceinline__ u32 place_bits(int y, int x) { return (1u << y) | (65536u << x); }

// The sum over a block, in every thread's sight after it; `room` holds a number for each warp.
__device__ __forceinline__ double block_sum(double x, double* room) {
    for (int d = 16; d > 0; d >>= 1) x += __shfl_down_sync(0xffffffffu, x, d);
    int warps = (blockDim.x + 31) / 32;
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0.0;
    for (int w = 0; w < warps; w++) sum += room[w];
    __syncthreads();
    return sum;
}

// xⁿ by squaring: quicker than `pow`, and as good for this.
__device__ __forceinline__ double power(double x, u64 n) {
    double y = 1.0;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1) y *= x;
    return y;
}

// How an operand that is gathered from an image comes in.
static constexpr int VALUES4 = 0;  // f32, rounded already, channels a multiple of 4: asynchronous copies of 16 bytes
static constexpr int BYTES4 = 2;   // u8, channels a multiple of 4
static constexpr int FLOATS = 3;   // f32, any number of channels
static constexpr int BYTES = 4;    // u8, any number of channels
template <int KIND>
struct Operand {
    static constexpr bool async = KIND == VALUES4;
    static constexpr int size = (KIND == BYTES4 || KIND == BYTES) ? 1 : 4;  // bytes of a number
    static constexpr int width = (KIND == VALUES4 || KIND == BYTES4) ? 4 : 1;
};

// Up to four numbers of an operand on their way through registers.
template <int KIND>
struct Item {
    u32 bits;
    __device__ __forceinline__ void load(const u8* at, bool valid) {
        if constexpr (KIND == BYTES) bits = valid ? *at : 0u;
        else bits = valid ? *(const u32*)at : 0u;
    }
    __device__ __forceinline__ void store(float* to) const {
        // Whole numbers up to 255 are TF32. A byte in the last place of 2²³ is that number and 2²³: two instructions, where
        // a conversion would take a slow one.
        if constexpr (KIND == BYTES4) {
            auto number = [&](u32 byte) { return __uint_as_float(__byte_perm(bits, 0x4b000000u, 0x7440u | byte)) - 8388608.0f; };
            *(float4*)to = make_float4(number(0), number(1), number(2), number(3));
        }
        if constexpr (KIND == BYTES) *to = (float)bits;
        if constexpr (KIND == FLOATS) *to = rounded(__uint_as_float(bits));
    }
};

// A warp's share of a tile: MI x NI matrices of 16 x 8.
template <int MI, int NI>
struct Sums {
    float c[MI][NI][4];
    __device__ __forceinline__ void clear() {
        for (int i = 0; i < MI; i++)
            for (int j = 0; j < NI; j++)
                for (int e = 0; e < 4; e++) c[i][j][e] = 0.0f;
    }
};

// Adds the product of a tile of A and one of B. A lies as [m][k] (A_ROWS) or [k][m], B as [n][k] (B_ROWS) or [k][n];
// ROUND_B says that B is not rounded yet.
template <int MI, int NI, bool A_ROWS, bool B_ROWS, int AS, int BS, bool ROUND_B>
__device__ __forceinline__ void multiply(Sums<MI, NI>& sums, const float* a, const float* b, int m0, int n0) {
    int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#ifdef PRECISE
    for (int k = 0; k < BK; k++) {
#pragma unroll
        for (int i = 0; i < MI; i++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int m = m0 + i * 16 + g + h * 8;
                float x = A_ROWS ? a[m * AS + k] : a[k * AS + m];
#pragma unroll
                for (int j = 0; j < NI; j++)
#pragma unroll
                    for (int e = 0; e < 2; e++) {
                        int n = n0 + j * 8 + 2 * t + e;
                        sums.c[i][j][2 * h + e] += x * (B_ROWS ? b[n * BS + k] : b[k * BS + n]);
                    }
            }
        }
    }
#else
    // The factors of the next eight are loaded while these are multiplied.
    u32 af[2][MI][4], bf[2][NI][2];
    auto load = [&](int k, u32(&af)[MI][4], u32(&bf)[NI][2]) {
#pragma unroll
        for (int i = 0; i < MI; i++) {
            if constexpr (A_ROWS) {
                // Matrices: rows 0-7 and 8-15 of columns 0-3, then of columns 4-7.
                load_matrices(af[i], shared_address(a + (m0 + i * 16 + lane % 16) * AS + k + lane / 16 * 4));
            } else {
                const float* p = a + (k + t) * AS + m0 + i * 16 + g;
                af[i][0] = __float_as_uint(p[0]);
                af[i][1] = __float_as_uint(p[8]);
                af[i][2] = __float_as_uint(p[4 * AS]);
                af[i][3] = __float_as_uint(p[4 * AS + 8]);
            }
        }
#pragma unroll
        for (int j = 0; j < NI; j++) {
            if constexpr (B_ROWS) {
                if (j % 2 == 0) {
                    u32 two[4];
                    int row = j * 8 + lane % 8 + (NI > 1 ? lane / 16 * 8 : 0);
                    load_matrices(two, shared_address(b + (n0 + row) * BS + k + lane / 8 % 2 * 4));
                    bf[j][0] = two[0], bf[j][1] = two[1];
                    if (j + 1 < NI) bf[j + 1][0] = two[2], bf[j + 1][1] = two[3];
                }
            } else {
                const float* p = b + (k + t) * BS + n0 + j * 8 + g;
                bf[j][0] = __float_as_uint(p[0]);
                bf[j][1] = __float_as_uint(p[4 * BS]);
            }
        }
    };
    load(0, af[0], bf[0]);
#pragma unroll
    for (int k = 0; k < BK; k += 8) {
        int now = k / 8 % 2;
        if (k + 8 < BK) load(k + 8, af[1 - now], bf[1 - now]);
        if constexpr (ROUND_B) {
#pragma unroll
            for (int j = 0; j < NI; j++)
#pragma unroll
                for (int e = 0; e < 2; e++) bf[now][j][e] = __float_as_uint(rounded(__uint_as_float(bf[now][j][e])));
        }
#pragma unroll
        for (int i = 0; i < MI; i++)
#pragma unroll
            for (int j = 0; j < NI; j++) mma(sums.c[i][j], af[now][i], bf[now][j]);
    }
#endif
}
