package profiles

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/profile"
	"kitescope/tui"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

// manyFrames returns a profile whose flame graph has about n frames. Its stacks branch at random and are as deep as
// those of a server.
func manyFrames(tb testing.TB, n int) *profile.Profile {
	tb.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	rnd := rand.New(rand.NewPCG(1, 2))
	names := make([]uint32, 20_000)
	for i := range names {
		names[i] = b.Frame(fmt.Sprintf("github.com/milvus-io/milvus/internal/part%d/package%d.(*Type%d).method%d", i%7,
			i%501, i%1999, i), profile.NoMapping)
	}
	var stack []uint32 // root first
	for frames := 0; frames < n; {
		keep := rnd.IntN(len(stack) + 1)
		stack = stack[:keep]
		for range 1 + rnd.IntN(12) {
			if len(stack) < 60 {
				stack = append(stack, names[rnd.IntN(len(names))])
				frames++
			}
		}
		leaf := make([]uint32, len(stack))
		for i := range stack {
			leaf[len(stack)-1-i] = stack[i]
		}
		if err := b.Sample(leaf, []int64{int64(1+rnd.IntN(5)) * 10_000_000}); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Profile()
}

// benchFlame opens a flame graph of n frames at 200x60.
func benchFlame(b *testing.B, n int) (*tui.Model, *flamePage) {
	b.Helper()
	p := manyFrames(b, n)
	v := View{Items: []Item{{Name: "many", Load: func(context.Context) (*profile.Profile, error) { return p, nil }}}}
	cfg := pagetest.Config()
	cfg.Now = time.Now
	m := tui.New(v.config(cfg))
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	tuitest.Pump(m, m.Init())
	page := m.Top().(*flamePage)
	if page.graph() == nil {
		b.Fatal("there is no graph: ", page.err)
	}
	if got := len(page.graph().index.tree.Frames); got < n*9/10 {
		b.Fatalf("%d frames, want %d", got, n)
	}
	return m, page
}

// BenchmarkFlameView measures one key and the frame after it, with 100,000 frames at 200x60.
func BenchmarkFlameView(b *testing.B) {
	for _, x := range []struct {
		name string
		keys []string
	}{
		{"move", []string{"down", "right", "up", "left", "right", "down"}},
		{"zoom", []string{"down", "enter", "backspace", "up"}}, // computes the layout again
		{"scroll", []string{"G", "g"}},
	} {
		b.Run(x.name, func(b *testing.B) {
			m, _ := benchFlame(b, 100_000)
			m.View()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.Update(tuitest.KeyPress(x.keys[i%len(x.keys)]))
				m.View()
			}
		})
	}
}
