// Turns observations to their next frames: the oldest frame goes and the newest comes, or it stands for all where an episode has
// begun. A thread for each row of a frame's innermost axis, in place. Grid: (rows of a frame / 256, observations).
extern "C" __global__ void __launch_bounds__(256) turn(const u8* frames, const u32* began, ELEMENT* seen) {
    constexpr long long PADDED = (FRAME_BYTES + 15) / 16 * 16;
    constexpr bool IS_WORD = STACK == 4 && INNER == 1 && sizeof(ELEMENT) == 1;
    int at = blockIdx.x * 256 + threadIdx.x;
    if (at >= ELEMENTS / INNER) return;
    long long number = blockIdx.y;
    const ELEMENT* newest = (const ELEMENT*)(frames + number * PADDED) + at * INNER;
    ELEMENT* row = seen + (number * ELEMENTS + at * INNER) * STACK;
    bool starts = began[number] != 0;
    if (IS_WORD) {
        u32* word = (u32*)row;
        u32 byte = (u32)newest[0];
        *word = starts ? byte * 0x01010101u : *word >> 8 | byte << 24;
        return;
    }
    for (int k = 0; k < STACK; k++)
        for (int i = 0; i < INNER; i++)
            row[k * INNER + i] = k + 1 < STACK && !starts ? row[(k + 1) * INNER + i] : newest[i];
}

// Counts the passes, where the host sees it: everything before it on the stream is done. One thread.
extern "C" __global__ void tell(u32* passes, u32* there) { *(volatile u32*)there = ++*passes; }
