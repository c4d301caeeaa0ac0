// The online network chooses in s′ and the target network judges.
__device__ Answer loss_ddqn(const At& at) {
    const float lowest = -__int_as_float(0x7f800000);
    float judged = at.lane < ACTIONS ? row_of(at, PASS_TARGET_NEXT)[at.lane] : lowest;
    float choosing = at.lane < ACTIONS ? row_of(at, PASS_ONLINE_NEXT)[at.lane] : lowest;
    return value_loss(at, chosen(choosing, judged, at.lane));
}
