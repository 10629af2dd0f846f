package profile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"kitescope/profile"
)

// repeatReader is a reader of n units. Each is computed from its number.
type repeatReader struct {
	n, at int
	unit  func(i int) wire
	rest  []byte
}

func (r *repeatReader) Read(b []byte) (int, error) {
	for len(r.rest) < 64<<10 && r.at < r.n {
		r.rest = append(r.rest, r.unit(r.at)...)
		r.at++
	}
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestDecodeMemoryLimit checks, for each table of a profile, that Decode stops at the memory
// limit.
func TestDecodeMemoryLimit(t *testing.T) {
	const limit = 3 << 20
	long := strings.Repeat("n", 1<<20-1)
	head := append(oneType(), wire{}.names("a", "b", "samples", "count", long)...)
	for name, unit := range map[string]func(i int) wire{
		"empty names":         func(int) wire { return wire{}.names("") },
		"names":               func(i int) wire { return wire{}.names(fmt.Sprint("name of some length ", i)) },
		"long names":          func(int) wire { return wire{}.names(long[:10000]) },
		"comments":            func(int) wire { return wire{}.number(13, 1) },
		"mappings":            func(i int) wire { return wire{}.bytes(3, wire{}.number(1, uint64(i)+1)) },
		"functions":           func(i int) wire { return wire{}.bytes(5, wire{}.number(1, uint64(i)+1)) },
		"functions far apart": func(i int) wire { return wire{}.bytes(5, wire{}.number(1, uint64(i)*1000+7)) },
		"functions far out":   func(i int) wire { return wire{}.bytes(5, wire{}.number(1, uint64(i)<<32+1<<40)) },
		"locations":           func(i int) wire { return wire{}.bytes(4, wire{}.number(1, uint64(i)+1)) },
		"locations far apart": func(i int) wire { return wire{}.bytes(4, wire{}.number(1, uint64(i)*999+7)) },
		"lines": func(i int) wire {
			return wire{}.bytes(4,
				append(wire{}.number(1, uint64(i)+1), bytes.Repeat(wire{}.bytes(4, wire{}.number(2, 5)), 50)...))
		},
		"samples": func(int) wire { return wire{}.bytes(2, wire{}.packed(2, 5)) },
		"references far out": func(i int) wire {
			return wire{}.bytes(2, wire{}.packed(1, uint64(i)<<32+1<<40).packed(2, 5))
		},
		"labels": func(i int) wire {
			return wire{}.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(3, uint64(i)+1)))
		},
		"labels of a long key": func(i int) wire {
			return wire{}.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 7).number(3, uint64(i)+1)))
		},
		"labels that say little": func(i int) wire {
			return wire{}.bytes(2,
				wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(3, uint64(i)+1)).bytes(3,
					bytes.Repeat(wire{}.number(2, 1), 3)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := io.MultiReader(bytes.NewReader(head), &repeatReader{n: 50_000_000, unit: unit})
			_, err := profile.Decode(context.Background(), r, profile.Limits{MaxBytes: 64 << 20, MaxMemory: limit})
			if !errors.Is(err, profile.ErrTooLarge) || !strings.Contains(err.Error(), "memory") {
				t.Errorf("error %v", err)
			}
		})
	}
}
