package profilegen

import (
	"bytes"
	"io"
	"testing"
)

// TestGeneratedProfilesAreAlwaysTheSame checks that a shape determines the bytes and the counts of a profile.
func TestGeneratedProfilesAreAlwaysTheSame(t *testing.T) {
	s := Shape{Samples: 50, Functions: 200, Depth: 20, Seed: 7}
	var first, second, other bytes.Buffer
	for _, x := range []struct {
		s Shape
		w io.Writer
	}{{s, &first}, {s, &second}, {Shape{Samples: 50, Functions: 200, Depth: 20, Seed: 8}, &other}} {
		if err := x.s.write(x.w); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) || bytes.Equal(first.Bytes(), other.Bytes()) {
		t.Error("the bytes do not follow from the shape")
	}
	samples, functions := 0, 0
	for b := first.Bytes(); len(b) > 0; {
		number, n := b[0]>>3, 0
		b = b[1:]
		length := uint64(0)
		for ; ; n++ {
			length |= uint64(b[n]&0x7f) << (7 * n)
			if b[n] < 0x80 {
				break
			}
		}
		b = b[n+1:]
		if number == 9 || number == 10 || number == 12 { // numbers
			continue
		}
		switch number {
		case 2:
			samples++
		case 5:
			functions++
		}
		b = b[length:]
	}
	if samples != s.Samples || functions != s.Functions {
		t.Errorf("%d samples and %d functions", samples, functions)
	}
}
