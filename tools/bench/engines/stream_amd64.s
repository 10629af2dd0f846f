#include "textflag.h"

// func streamAVX512(data unsafe.Pointer, n uintptr)
// Reads n bytes, a multiple of 256, into four sums.
TEXT ·streamAVX512(SB), NOSPLIT, $0-16
	MOVQ data+0(FP), AX
	MOVQ n+8(FP), CX
	ADDQ AX, CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3

loop:
	CMPQ AX, CX
	JAE  done
	VPADDQ (AX), Z0, Z0
	VPADDQ 64(AX), Z1, Z1
	VPADDQ 128(AX), Z2, Z2
	VPADDQ 192(AX), Z3, Z3
	ADDQ $256, AX
	JMP  loop

done:
	VZEROUPPER
	RET
