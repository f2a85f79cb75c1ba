package simd

const goldenRotation = 0x3f194fa24636613f
