package dist

import (
	"math/rand/v2"
	"testing"
)

func TestTranslateLooksUpEachByte(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 400 {
		var table [256]byte
		for i := range table {
			table[i] = byte(r.Uint32())
		}
		src, dst := make([]byte, n), make([]byte, n+1)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		done := Translate(&table, src, dst[:n])
		if done != (Translates() && n > 0) {
			t.Fatalf("%d bytes: translated: %v", n, done)
		}
		for i, b := range dst {
			want := byte(0)
			if done && i < n {
				want = table[src[i]]
			}
			if b != want {
				t.Fatalf("byte %d of %d is %d, want %d", i, n, b, want)
			}
		}
	}
}
