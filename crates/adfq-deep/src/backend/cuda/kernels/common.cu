// What all kernels share. The host writes sizes before this text, the same for all runs that share a launch:
//   PLACES, SLOTS, ENVS           slots of a run, of an environment, and environments of a run
//   FRAME_BYTES, ELEMENTS, INNER  a frame in bytes and in numbers, and numbers along its innermost axis
//   STACK, ELEMENT                frames of an observation, and the type of its numbers
//   BATCH, ACTIONS, OUTPUTS       rows of a batch, and what the network gives for one
//   LEVELS, LEAF_BLOCKS, NODES, LEVEL_STARTS   the tree, see tree.cu
//   PRIORITISED, ANY_RULE         whether draws are by priority, and whether a rule other than the analytic one is used
//   ROWS, SPLIT                   transitions of a block of `sample`, or blocks of a transition
//   PASS_…                        the forward passes that there are, by number
//   FEATURES                      random features of an observation, 0 where no algorithm has them, see visits.cu
//   POWERS, DRAWS, RING, ROW_WORDS, PACK_WORDS
//
// A run's numbers are computed by blocks of its own, in an order that does not depend on the others.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// A run's settings and state: the host writes both in this order.
enum Setting {
    ALPHA, EPSILON, GAMMA, BETA, STEPS, AGENT, HUBER, BOUND, N_STEP,
    OWN,  // the algorithm's own numbers
    SETTINGS = OWN + 8
};
enum State { STEP, LEARNED, LEAST, GREATEST, LARGEST, FRESH, STATES };
// What is counted of a run that keeps visits: different pairs that were tried, batches, the mean squared target, and the mean
// squared difference between target and mean.
enum Count { PAIRS, BATCHES, SQUARE, RESIDUAL, COUNTS };
enum Rule { ANALYTIC, EXACT, GRID };
enum Noise { NO_NOISE, APPROXIMATE_NOISE, EXACT_NOISE };

// A sampled transition.
struct Row {
    float reward, discount, weight;
    u32 action;  // the highest bit says that the episode terminated
};
static constexpr u32 TERMINAL = 1u << 31;

// All memory of the runs, `[run][...]` throughout; the same parameters for every kernel of a step.
#define MEMORY                                                                                                     \
    u8 *frames, uint2 *slots, float *leaves, double *sums, float *minima, const double *all_settings,              \
        double *all_state, const double *powers, const double *draws, u32 *places, Row *rows, ELEMENT *here,       \
        ELEMENT *next, const float *outputs, float *gradient, float4 *parts, float *errors, float2 *targets,       \
        const float *norms, u32 *mail, u64 *heads, const double *left, double *counts, float4 *notes

#define PASS_ON                                                                                                    \
    frames, slots, leaves, sums, minima, all_settings, all_state, powers, draws, places, rows, here, next, outputs, \
        gradient, parts, errors, targets, norms, mail, heads, left, counts, notes

static constexpr double LEAST_NORMAL = 2.2250738585072014e-308;

__device__ __forceinline__ bool finite(double x) { return fabs(x) <= 1.7976931348623157e308; }

__device__ __forceinline__ double warp_sum(double x) {
    for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    return x;
}
__device__ __forceinline__ double warp_max(double x) {
    for (int d = 16; d > 0; d >>= 1) x = fmax(x, __shfl_xor_sync(0xffffffffu, x, d));
    return x;
}
