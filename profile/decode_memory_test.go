package profile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kitescope/profile"
)

// repeated are n units, each made of its number.
type repeated struct {
	n, at int
	unit  func(i int) wire
	rest  []byte
}

func (r *repeated) Read(b []byte) (int, error) {
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

// stopped is whether the world stands still while the collector marks. If it does not, all that is allocated in that time
// counts as live, however long it takes: on a busy machine that is megabytes. Only the environment of a process sets it.
func stopped() bool { return strings.Contains(os.Getenv("GODEBUG"), "gcstoptheworld=1") }

// standing runs the test in a process of its own, in which the world stands still.
func standing(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "GODEBUG=gcstoptheworld=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Fatalf("%v", err)
	}
}

// heap is the most that was live while work ran, as the collector found it: it comes whenever a tenth is added.
func heap(work func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	live := func() int64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	before := live()
	var most atomic.Int64
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			most.Store(max(most.Load(), live()))
			select {
			case <-done:
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
	}()
	work()
	runtime.GC()
	close(done)
	<-ended
	return max(most.Load(), live()) - before
}

// TestDecodeHoldsNoMoreThanItsLimit grows each table of a profile until it is refused: what is held counts, not what comes in.
func TestDecodeHoldsNoMoreThanItsLimit(t *testing.T) {
	if !stopped() {
		standing(t)
		return
	}
	const limit = 12 << 20
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
			return wire{}.bytes(4, append(wire{}.number(1, uint64(i)+1), bytes.Repeat(wire{}.bytes(4, wire{}.number(2, 5)), 50)...))
		},
		"samples":            func(int) wire { return wire{}.bytes(2, wire{}.packed(2, 5)) },
		"references far out": func(i int) wire { return wire{}.bytes(2, wire{}.packed(1, uint64(i)<<32+1<<40).packed(2, 5)) },
		"labels": func(i int) wire {
			return wire{}.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(3, uint64(i)+1)))
		},
		"labels of a long key": func(i int) wire {
			return wire{}.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 7).number(3, uint64(i)+1)))
		},
		"labels that say little": func(i int) wire {
			return wire{}.bytes(2, wire{}.packed(2, 5).bytes(3, wire{}.number(1, 1).number(3, uint64(i)+1)).bytes(3, bytes.Repeat(wire{}.number(2, 1), 3)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Logf("%10s %10s", "units", "held")
			for n, refused := 5000, false; !refused; n = n * 7 / 4 {
				var err error
				var p *profile.Profile
				held := heap(func() {
					r := io.MultiReader(bytes.NewReader(head), &repeated{n: n, unit: unit})
					p, err = profile.Decode(context.Background(), r, profile.Limits{MaxBytes: 1 << 30, MaxMemory: limit})
				})
				runtime.KeepAlive(p)
				refused = errors.Is(err, profile.ErrTooLarge)
				t.Logf("%10d %10d %v", n, held, err)
				if held > limit*5/4+3<<20 {
					t.Fatalf("%d MiB were held of %d units, the limit is %d MiB (%v)", held>>20, n, limit>>20, err)
				}
				if n > 50_000_000 {
					t.Fatal("it has no end")
				}
			}
		})
	}
}
