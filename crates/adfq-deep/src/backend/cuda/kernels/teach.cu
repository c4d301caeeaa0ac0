// Targets, the gradient of the outputs, errors and the parts of the metrics. A warp for each transition.
// Grid: (BATCH / 4, runs).
extern "C" __global__ void __launch_bounds__(128) teach(MEMORY) {
    __shared__ Targets sorted[4];
    int run = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 4 + warp;
    if (i >= BATCH) return;
    const double *settings = all_settings + run * SETTINGS, *state = all_state + run * STATES;
    Row row = rows[run * BATCH + i];
    float* slopes = gradient + ((long long)run * BATCH + i) * OUTPUTS;
    for (int j = lane; j < OUTPUTS; j += 32) slopes[j] = 0.0f;
    __syncwarp();
    At at = {settings, settings + OWN, state, outputs, slopes, &sorted[warp], (int)gridDim.y, run, i, lane,
             (int)(row.action & ~TERMINAL), (row.action & TERMINAL) != 0, row, rows + run * BATCH, places[run * BATCH + i],
             heads + run * ENVS, left + ((long long)run * BATCH + i) * ACTIONS, counts + run * COUNTS,
             notes + run * BATCH + i};
    Answer answer = {};
    switch ((int)settings[AGENT]) { LOSSES }
    if (lane != 0) return;
    targets[run * BATCH + i] = answer.target;
    errors[run * BATCH + i] = answer.error;
    parts[run * BATCH + i] = answer.part;
}
