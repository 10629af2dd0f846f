//go:build !purego

#include "textflag.h"

// func prefetchRows(base unsafe.Pointer, stride uintptr, ids *uint32, count, lines int)
TEXT ·prefetchRows(SB), NOSPLIT, $0-40
	MOVD base+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD ids+16(FP), R2
	MOVD count+24(FP), R3
	MOVD lines+32(FP), R4

row:
	MOVWU.P 4(R2), R5
	MADD    R5, R0, R1, R5
	MOVD    R4, R6

line:
	PRFM (R5), PLDL1KEEP
	ADD  $64, R5, R5
	SUBS $1, R6, R6
	BNE  line
	SUBS $1, R3, R3
	BNE  row
	RET
