package tui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/tui/tuitest"
)

// million is the size at which the bars are held.
const million = 1_000_000

// benchModel shows the segments of a cluster of n, its rows built.
func benchModel(b *testing.B, n int) *Model {
	b.Helper()
	cfg := testConfig()
	cfg.Now = time.Now
	cfg.StartPage = "segments"
	m := New(cfg)
	m.done = b.Context().Done()
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	_, c := m.Update(news.Update{Cluster: tuitest.ManySegments(n), Live: true})
	tuitest.Pump(m, c)
	if r := &m.Top().(*gridPage).rows; r.Count()+r.Left != n {
		b.Fatalf("%d rows and %d that are left out, want %d", r.Count(), r.Left, n)
	}
	return m
}

// BenchmarkKey is one key and the frame that follows.
func BenchmarkKey(b *testing.B) {
	m := benchModel(b, million)
	keys := []tea.KeyPressMsg{tuitest.KeyPress("down"), tuitest.KeyPress("pgdown"), tuitest.KeyPress("down"), tuitest.KeyPress("up"), tuitest.KeyPress("end"), tuitest.KeyPress("home")}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m.Update(keys[i%len(keys)])
		m.View()
		i++
	}
}

// BenchmarkFilterKey is one key in the filter, its first piece, and the frame that follows.
func BenchmarkFilterKey(b *testing.B) {
	for _, text := range []string{"growing", "4705907606", "nothing has this"} {
		b.Run(text, func(b *testing.B) {
			m := benchModel(b, million)
			m.Update(tuitest.KeyPress("/"))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if i == len(text) {
					m.Update(tuitest.KeyPress("ctrl+k"))
					i = 0
				}
				r := rune(text[i])
				_, c := m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
				m.View()
				if c != nil {
					m.Update(c())
					m.View()
				}
				i++
			}
		})
	}
}

// BenchmarkFilterAll is a filter's way through all rows.
func BenchmarkFilterAll(b *testing.B) {
	m := benchModel(b, million)
	g := m.Top().(*gridPage)
	f, err := parseRowFilter(g.resource, "nothing has this")
	if err != nil {
		b.Fatal(err)
	}
	g.filter = f
	for b.Loop() {
		for j := g.newMatching(m); !j.Done(); {
			j = j.Step()
		}
	}
}

// BenchmarkRefresh is what the page costs off the loop when one segment has changed.
func BenchmarkRefresh(b *testing.B) {
	m := benchModel(b, million)
	parts := m.data.cluster.Parts
	parts.Segments = slices.Clone(parts.Segments)
	grown := *parts.Segments[77]
	grown.Rows++
	parts.Segments[77] = &grown
	m.data.previous, m.data.cluster = m.data.cluster, model.Build(parts)
	g := m.Top().(*gridPage)
	b.ResetTimer()
	for b.Loop() {
		m.data.env = newEnv(m, m.data.cluster)
		msg := g.rebuild(m, "")().(builtMsg)
		if msg.rows.Changes(77, grown.ID.String()) != RowChanged {
			b.Fatal("the changed segment is not marked")
		}
	}
}

// BenchmarkSort is a new order off the loop.
func BenchmarkSort(b *testing.B) {
	m := benchModel(b, million)
	g := m.Top().(*gridPage)
	for _, column := range []string{"rows", "collection"} {
		b.Run(column, func(b *testing.B) {
			for b.Loop() {
				g.sortBy(m, g.resource.Column(column))()
			}
		})
	}
}
