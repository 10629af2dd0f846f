//go:build amd64 && !purego

#include "textflag.h"

// The look-up of bytes in a table of 256: in its halves, which are two registers each, by the lower seven bits; the highest bit selects
// the half.

// func translateVBMI(table *uint8, src *uint8, dst *uint8, n int)
TEXT ·translateVBMI(SB), NOSPLIT, $0-32
	MOVQ     table+0(FP), AX
	MOVQ     src+8(FP), SI
	MOVQ     dst+16(FP), DI
	MOVQ     n+24(FP), CX
	VMOVDQU8 (AX), Z0
	VMOVDQU8 64(AX), Z1
	VMOVDQU8 128(AX), Z2
	VMOVDQU8 192(AX), Z3
	SUBQ     $0x40, CX
	JL       rest

vector:
	VMOVDQU8  (SI), Z4
	VMOVDQA64 Z4, Z5
	VPMOVB2M  Z4, K1
	VPERMI2B  Z1, Z0, Z4
	VPERMI2B  Z3, Z2, Z5
	VMOVDQU8  Z5, K1, Z4
	VMOVDQU8  Z4, (DI)
	ADDQ      $0x40, SI
	ADDQ      $0x40, DI
	SUBQ      $0x40, CX
	JGE       vector

rest:
	ADDQ       $0x40, CX
	JZ         done
	MOVQ       $-1, AX
	BZHIQ      CX, AX, AX
	KMOVQ      AX, K2
	VMOVDQU8.Z (SI), K2, Z4
	VMOVDQA64  Z4, Z5
	VPMOVB2M   Z4, K1
	VPERMI2B   Z1, Z0, Z4
	VPERMI2B   Z3, Z2, Z5
	VMOVDQU8   Z5, K1, Z4
	VMOVDQU8   Z4, K2, (DI)

done:
	VZEROUPPER
	RET
