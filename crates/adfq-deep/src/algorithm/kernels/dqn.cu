// The target is r + γ max_b Q′(s′,b).
__device__ Answer loss_dqn(const At& at) {
    const float lowest = -__int_as_float(0x7f800000);
    float judged = at.lane < ACTIONS ? row_of(at, PASS_TARGET_NEXT)[at.lane] : lowest;
    return value_loss(at, chosen(judged, judged, at.lane));
}
