package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tail is what is left to do after the main loop for one query and four rows.
type tail struct {
	recipe
	query reg.Register
	left  reg.GPPhysical // spoilt; how many elements are left
	mark  string         // makes labels unique
}

// finish leaves in X0 the sums of four rows whose accumulators are where chunk has them. off
// is where the main loop ended.
func (p *program) finish(t tail) {
	n, err := p.Param("n").Resolve()
	if err != nil {
		panic(err)
	}
	p.MOVQ(n.Addr, t.left)
	p.ANDQ(operand.U8(15), t.left)
	switch t.order {
	case pyramid16, pyramid8, pyramid4:
		p.narrow(t)
		p.masked(t)
		p.pairsOfNeighbours()
	case faiss:
		p.narrow(t)
		p.pairsOfHalves()
		p.sequence(t)
	case hnsw16:
		if t.l2 {
			p.lanesInTurn(t)
		} else {
			p.fold16(t)
			p.fold8()
			p.pairsOfHalves()
		}
		p.residue(t)
	case hnsw4:
		p.narrow(t)
		p.transpose(x, 0, 4)
		for i := 5; i < 8; i++ {
			p.VADDPS(x(i), x(4), x(4))
		}
		p.VMOVAPS(x(4), x(0))
		p.residue(t)
	}
}

// narrow folds accumulators down to four lanes, taking up eight and four elements at a time
// where the order does so.
func (p *program) narrow(t tail) {
	switch t.lanes() {
	case 16:
		p.fold16(t)
		p.take(t, 8)
		p.fold8()
	case 8:
		if t.order == pyramid8 {
			p.take(t, 8)
		}
		p.fold8()
	}
	switch t.order {
	case pyramid16, pyramid8:
		p.take(t, 4)
	case pyramid4, hnsw4:
		loop, done := "four_"+t.mark, "fours_"+t.mark
		p.Label(loop)
		p.CMPQ(t.left, operand.U8(4))
		p.JLT(operand.LabelRef(done))
		p.four(t)
		p.SUBQ(operand.U8(4), t.left)
		p.JMP(operand.LabelRef(loop))
		p.Label(done)
	}
}

// take adds the next elements, eight or four, to accumulators of as many lanes, if as many
// are left.
func (p *program) take(t tail, elements int) {
	skip := fmt.Sprintf("no%d_%s", elements, t.mark)
	p.TESTQ(operand.U32(uint32(elements)), t.left)
	p.JZ(operand.LabelRef(skip))
	r := wide(elements)
	p.VMOVUPS(at(t.query, 0), r(8))
	for i, row := range rows4 {
		p.step(t.recipe, t.fused(), r(8), at(row, 0), r(10+i), r(i))
	}
	p.ADDQ(operand.U8(uint8(4*elements)), off)
	p.Label(skip)
}

// four adds the next four elements to accumulators of four lanes.
func (p *program) four(t tail) {
	p.VMOVUPS(at(t.query, 0), x(8))
	for i, row := range rows4 {
		p.step(t.recipe, t.fused(), x(8), at(row, 0), x(10+i), x(i))
	}
	p.ADDQ(operand.U8(16), off)
}

// fold16 adds the upper eight lanes to the lower.
func (p *program) fold16(t tail) {
	for i := range 4 {
		if t.isa == avx512 {
			p.VEXTRACTF64X4(operand.U8(1), z(i), y(10+i))
			p.VADDPS(y(10+i), y(i), y(i))
		} else {
			p.VADDPS(y(4+i), y(i), y(i))
		}
	}
}

// fold8 adds the upper four lanes of eight to the lower.
func (p *program) fold8() {
	for i := range 4 {
		p.VEXTRACTF128(operand.U8(1), y(i), x(10+i))
		p.VADDPS(x(10+i), x(i), x(i))
	}
}

// masked adds the last one to three elements, filled up with zeros to four.
func (p *program) masked(t tail) {
	skip := "none_" + t.mark
	p.ANDQ(operand.U8(3), t.left)
	p.JZ(operand.LabelRef(skip))
	p.VMOVD(t.left.As32(), x(9))
	p.VPBROADCASTD(x(9), x(9))
	p.VPCMPGTD(p.iota, x(9), x(9))
	p.VMASKMOVPS(at(t.query, 0), x(9), x(8))
	for i, row := range rows4 {
		p.VMASKMOVPS(at(row, 0), x(9), x(10+i))
	}
	for i := range 4 {
		p.step(t.recipe, t.fused(), x(8), x(10+i), x(10+i), x(i))
	}
	p.Label(skip)
}

// pairsOfNeighbours adds up four lanes: (0+1)+(2+3).
func (p *program) pairsOfNeighbours() {
	p.VHADDPS(x(1), x(0), x(0))
	p.VHADDPS(x(3), x(2), x(2))
	p.VHADDPS(x(2), x(0), x(0))
}

// pairsOfHalves adds up four lanes: (0+2)+(1+3).
func (p *program) pairsOfHalves() {
	for i := 0; i < 4; i += 2 {
		p.VUNPCKLPS(x(i+1), x(i), x(10+i))
		p.VUNPCKHPS(x(i+1), x(i), x(11+i))
		p.VADDPS(x(11+i), x(10+i), x(10+i))
	}
	p.VMOVLHPS(x(12), x(10), x(0))
	p.VMOVHLPS(x(10), x(12), x(1))
	p.VADDPS(x(1), x(0), x(0))
}

// transpose makes of registers from, from+1, ... from+3, a row each, four with a lane each:
// in every 128 bits of to+j, lane j of the four rows. It spoils from and 10 to 13.
func (p *program) transpose(r func(int) reg.VecPhysical, from, to int) {
	p.VUNPCKLPS(r(from+1), r(from), r(10))
	p.VUNPCKHPS(r(from+1), r(from), r(11))
	p.VUNPCKLPS(r(from+3), r(from+2), r(12))
	p.VUNPCKHPS(r(from+3), r(from+2), r(13))
	p.VUNPCKLPD(r(12), r(10), r(to))
	p.VUNPCKHPD(r(12), r(10), r(to+1))
	p.VUNPCKLPD(r(13), r(11), r(to+2))
	p.VUNPCKHPD(r(13), r(11), r(to+3))
}

// lanesInTurn adds up 16 lanes one after the other.
func (p *program) lanesInTurn(t tail) {
	sum, begun := x(14), false
	add := func(lane reg.VecPhysical) {
		if !begun {
			p.VMOVAPS(lane, sum)
			begun = true
			return
		}
		p.VADDPS(lane, sum, sum)
	}
	if t.isa == avx512 {
		p.transpose(z, 0, 4)
		for block := range 4 {
			for i := range 4 {
				if block == 0 {
					add(x(4 + i))
					continue
				}
				p.VEXTRACTF32X4(operand.U8(uint8(block)), z(4+i), x(10+i))
				add(x(10 + i))
			}
		}
	} else {
		for half := range 2 {
			p.transpose(y, 4*half, 0)
			for i := range 4 {
				add(x(i))
			}
			for i := range 4 {
				p.VEXTRACTF128(operand.U8(1), y(i), x(10+i))
				add(x(10 + i))
			}
		}
	}
	p.VMOVAPS(sum, x(0))
}

// one adds the next element of each row to the lanes of acc.
func (p *program) one(t tail, fused bool, acc reg.VecPhysical) {
	p.VMOVSS(at(rows4[0], 0), x(10))
	for i := 1; i < 4; i++ {
		p.VINSERTPS(operand.U8(uint8(16*i)), at(rows4[i], 0), x(10), x(10))
	}
	p.VBROADCASTSS(at(t.query, 0), x(11))
	p.step(t.recipe, fused, x(11), x(10), x(12), acc)
	p.ADDQ(operand.U8(4), off)
}

// sequence adds the last up to seven elements to the sums in X0, one after the other.
func (p *program) sequence(t tail) {
	loop, done := "one_"+t.mark, "ones_"+t.mark
	p.ANDQ(operand.U8(7), t.left)
	p.JZ(operand.LabelRef(done))
	p.Label(loop)
	p.one(t, true, x(0))
	p.DECQ(t.left)
	p.JNZ(operand.LabelRef(loop))
	p.Label(done)
}

// residue adds up the elements that are left, one after the other, and adds their sum to X0.
// The compiler of hnswlib rounds the products of a first eight of them in L2.
func (p *program) residue(t tail) {
	loop, done, skip := "one_"+t.mark, "ones_"+t.mark, "eight_"+t.mark
	p.TESTQ(t.left, t.left)
	p.JZ(operand.LabelRef(done))
	p.VXORPS(x(1), x(1), x(1))
	if t.l2 && t.order == hnsw16 {
		eight := "product_" + t.mark
		p.TESTQ(operand.U32(8), t.left)
		p.JZ(operand.LabelRef(skip))
		p.Label(eight)
		p.one(t, false, x(1))
		p.TESTQ(operand.U32(32), off)
		p.JZ(operand.LabelRef(eight))
		p.Label(skip)
		p.ANDQ(operand.U8(7), t.left)
		p.JZ(operand.LabelRef("sum_" + t.mark))
	}
	p.Label(loop)
	p.one(t, t.l2, x(1))
	p.DECQ(t.left)
	p.JNZ(operand.LabelRef(loop))
	if t.l2 && t.order == hnsw16 {
		p.Label("sum_" + t.mark)
	}
	p.VADDPS(x(1), x(0), x(0))
	p.Label(done)
}
