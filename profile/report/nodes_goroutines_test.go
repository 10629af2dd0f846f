package report

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kitescope/profile"
)

func loadTestdata(t *testing.T, name string) *profile.Profile {
	t.Helper()
	return load(t, filepath.Join("..", "..", "profile", "report", "testdata", name))
}

func TestGrowth(t *testing.T) {
	var dumps []*profile.Profile
	for i := range 4 {
		dumps = append(dumps, loadTestdata(t, fmt.Sprintf("go-leak%d.goroutine.pb.gz", i)))
	}
	slices.Reverse(dumps) // the times determine the order
	g, err := NewGrowth(dumps)
	if err != nil {
		t.Fatal(err)
	}
	top := g.Stacks[0]
	got := fmt.Sprintf("%s of %s %v %s steady %v, all %v", top.Function, top.Entry, top.Counts, top.Verdict, top.Steady,
		g.Totals)
	if want := "main.leaky of main.leaky [0 200 400 600] more steady true, all [31 231 431 631]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if top.P > 1e-20 || !g.From.Before(g.To) {
		t.Errorf("p %v, from %v to %v", top.P, g.From, g.To)
	}
	for _, s := range g.Stacks[1:] {
		if s.Verdict != Noise {
			t.Errorf("%s: %s %v", s.Function, s.Verdict, s.Counts)
		}
	}
}

// TestGrowthOfMilvus checks that nothing is reported to grow in a query node under load, from dumps a quarter
// of an hour apart.
func TestGrowthOfMilvus(t *testing.T) {
	g, err := NewGrowth([]*profile.Profile{
		loadTestdata(t, "t3-querynode1.goroutine.pb.gz"), loadTestdata(t, "t5-querynode1.goroutine.pb.gz"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if g.Totals[0] != 151 || g.Totals[1] != 121 || g.To.Sub(g.From).Minutes() < 15 {
		t.Errorf("%v goroutines in %v", g.Totals, g.To.Sub(g.From))
	}
	for _, s := range g.Stacks {
		if s.Verdict == Increased {
			t.Errorf("%s: %v, p %v", s.Function, s.Counts, s.P)
		}
	}
}

func TestGrowthOfFew(t *testing.T) {
	one, err := NewGrowth([]*profile.Profile{loadTestdata(t, "go-leak3.goroutine.pb.gz")})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range one.Stacks {
		if s.Verdict != Undecided {
			t.Errorf("of one dump: %s %s", s.Function, s.Verdict)
		}
	}
	if g, err := NewGrowth(nil); err != nil || len(g.Stacks) > 0 {
		t.Errorf("of none: %+v, %v", g, err)
	}
	var mismatch *Mismatch
	if _, err := NewGrowth([]*profile.Profile{loadTestdata(t, "go-gc.cpu.pb.gz")}); !errors.As(err, &mismatch) {
		t.Errorf("of the CPU: %v", err)
	}
}

// TestNodesUnderContention checks the shares of programs that were made to wait for a lock or to allocate.
func TestNodesUnderContention(t *testing.T) {
	for file, share := range map[string]func(*NodeShares) (least float64, high, none Part){
		"go-lock.cpu.pb.gz": func(x *NodeShares) (float64, Part, Part) { return 0.2, x.LockWait, x.GC },
		"go-gc.cpu.pb.gz":   func(x *NodeShares) (float64, Part, Part) { return 0.4, x.GC, x.BruteForce.Knowhere },
	} {
		n, err := NewNodes([]*profile.Profile{loadTestdata(t, file)})
		if err != nil {
			t.Fatal(err)
		}
		if least, high, none := share(n[0]); !(high.Low >= least) || none.Events > 0 {
			t.Errorf("%s: %+v, %+v", file, high, none)
		}
		if b := n[0].BruteForce; b.Known || b.Reason == "" {
			t.Errorf("%s: brute force %+v", file, b)
		}
	}
}

// TestWaits checks NewWaits for a program whose goroutines contend for one mutex.
func TestWaits(t *testing.T) {
	p := loadTestdata(t, "go-lock.mutex.pb.gz")
	w, err := NewWaits(p)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(w.Waiting) || w.Total == 0 || len(w.Places) == 0 || w.Places[0].Function != "main.hot" {
		t.Errorf("since the start: %v, %d ns, %+v", w.Waiting, w.Total, w.Places)
	}
	window := *p
	window.Duration = 8 * time.Second
	if w, err = NewWaits(&window); err != nil || !(w.Waiting > 1) {
		t.Errorf("over a window: %v, %v", w.Waiting, err)
	}
	if _, err := NewWaits(loadTestdata(t, "go-gc.cpu.pb.gz")); err == nil {
		t.Error("a CPU profile has no delays")
	}
}
