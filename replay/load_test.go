package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/replay"
)

// four returns a cluster of four segments of 30 rows: one growing, one sealed, and two indexed.
func four(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(2, 2)
	c.addLine(t, 1, replay.Growing, 100, 30)
	c.addLine(t, 2, replay.Unindexed, 200, 30)
	c.addLine(t, 3, replay.Indexed, 300, 30)
	c.addLine(t, 4, replay.Indexed, 400, 30)
	return c
}

func missingText(c *replay.Coverage) string {
	var b strings.Builder
	for _, m := range c.Missing {
		fmt.Fprintf(&b, "%d %s %d: %s\n", m.Segment, m.State.Word(), m.Rows, m.Reason)
	}
	return b.String()
}

func TestLoadCounts(t *testing.T) {
	c := four(t)
	var last replay.LoadProgress
	l, err := replay.Load(t.Context(), c, c.layout, replay.LoadOptions{
		Threads: 2, Progress: func(p replay.LoadProgress) { last = p },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	got := l.Coverage
	if got.Segments != 4 || got.Loaded != 4 || got.Rows != 120 || got.Covered != 120 || got.Deleted != 0 ||
		len(got.Missing) != 0 {
		t.Errorf("coverage %+v", got)
	}
	size := int64(0)
	for _, b := range c.memory {
		size += int64(len(b))
	}
	if got.Bytes < size*9/10 || got.Bytes > 4*size || got.Memory < 120*24 {
		t.Errorf("%d bytes were read of %d, %d are in memory", got.Bytes, size, got.Memory)
	}
	if last.Done != 4 || last.Total != 4 || last.Rows != 120 || last.Missing != 0 || last.Bytes != got.Bytes {
		t.Errorf("progress at the end: %+v", last)
	}
	for i, p := range l.Parts {
		if p.Info.ID != int64(i+1) || p.State != p.Info.State {
			t.Errorf("part %d is segment %d, %s", i, p.Info.ID, p.State)
		}
	}
}

func TestLoadSkips(t *testing.T) {
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	for name, c := range map[string]struct {
		change  func(c *cluster)
		covered int64
		want    string
	}{
		"a growing segment without files": {
			func(c *cluster) { c.layout.Segments[0].Files, c.layout.Segments[0].Rows = nil, 70 }, 90,
			"1 growing 70: growing, nothing in storage yet\n",
		},
		"rows that are not stored yet": {
			func(c *cluster) { c.layout.Segments[0].Rows = 45 }, 120, "1 growing 15: 30 of 45 rows are in storage\n",
		},
		"growing, of unknown rows": {
			func(c *cluster) { c.layout.Segments[0].Rows = -1 }, 120,
			"1 growing -1: 30 rows are in storage; the total is unknown\n",
		},
		"a sealed one without files": {
			func(c *cluster) { c.layout.Segments[1].Files = nil }, 90,
			"2 sealed_unindexed 30: no insert logs in the metadata\n",
		},
		"a binlog that is not there": {
			func(c *cluster) { delete(c.memory, "insert_log/1/2/2/100/7") }, 90,
			"2 sealed_unindexed 30: open insert_log/1/2/2/100/7: file does not exist\n",
		},
		"a broken binlog": {
			func(c *cluster) { c.memory["insert_log/1/2/2/101/7"] = cut(c.memory["insert_log/1/2/2/101/7"]) }, 90,
			"2 sealed_unindexed 30: read insert_log/1/2/2/101/7",
		},
		"an index that is not there": {
			func(c *cluster) { delete(c.memory, "index_files/50/1/2/3/HNSW") }, 90,
			"3 sealed_indexed 30: read index_files/50/1/2/3: no index files there\n",
		},
		"a broken index": {
			func(c *cluster) { c.memory["index_files/50/1/2/4/HNSW"] = cut(c.memory["index_files/50/1/2/4/HNSW"]) }, 90,
			"4 sealed_indexed 30: read index_files/50/1/2/4/HNSW",
		},
		"no index is named": {
			func(c *cluster) { c.layout.Segments[2].Files.Indexes = nil }, 120,
			"3 sealed_indexed 0: searched row by row: no index files in the metadata\n",
		},
		"other dimensions": {
			func(c *cluster) { c.layout.Segments = c.layout.Segments[:1]; c.addWide(t) }, 30,
			"9 sealed_unindexed 1: vectors of 4 dimensions of float32, the collection has 2 of float32\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := four(t)
			c.change(x)
			l, err := replay.Load(t.Context(), x, x.layout, replay.LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Release()
			if got := missingText(&l.Coverage); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("missing %q, want %q", got, c.want)
			}
			if l.Coverage.Covered != c.covered || l.Coverage.Loaded != len(l.Parts) {
				t.Errorf("%d rows of %d segments are covered, want %d", l.Coverage.Covered, l.Coverage.Loaded,
					c.covered)
			}
			for _, p := range l.Parts {
				if (p.State == replay.Indexed) != (p.Data.Index != nil) {
					t.Errorf("segment %d is %s, its index %v", p.Info.ID, p.State, p.Data.Index)
				}
			}
		})
	}
}

// addWide adds a segment with 4 dimensions, which do not match the collection.
func (c *cluster) addWide(t *testing.T) {
	t.Helper()
	s := c.addLine(t, 9, replay.Unindexed, 900, 2)
	s.Rows = 1
	for field, names := range s.Files.Insert {
		col, err := binlog.ReadColumns(t.Context(), c, names)
		if err != nil {
			t.Fatal(err)
		}
		col.Rows = 1
		if col.Vectors != nil {
			flat := append([]byte{}, col.Vectors.Row(0)...)
			col.Vectors = wide(t, append(flat, col.Vectors.Row(1)...))
		} else {
			col.Int64s = col.Int64s[:1]
		}
		var b bytes.Buffer
		col.Field = field
		if err := binlogtest.WriteColumn(&b, col); err != nil {
			t.Fatal(err)
		}
		c.memory[names[0]] = b.Bytes()
	}
}

func TestLoadRefuses(t *testing.T) {
	c := four(t)
	_, err := replay.Load(t.Context(), c, c.layout, replay.LoadOptions{MemoryLimit: 1000})
	var much *replay.MemoryError
	if !errors.As(err, &much) || much.Need < 120*8 || much.Limit != 1000 || much.Read != 0 ||
		!strings.Contains(err.Error(), "the limit is") {
		t.Errorf("a limit of 1000 bytes: %v", err)
	}
	for i := range c.layout.Segments {
		c.layout.Segments[i].Rows = -1 // so that there is no estimate before reading
	}
	_, err = replay.Load(t.Context(), c, c.layout, replay.LoadOptions{MemoryLimit: 1000, Threads: 1})
	if !errors.As(err, &much) || much.Read == 0 || much.Need <= 1000 {
		t.Errorf("a limit of 1000 bytes, rows unknown: %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Load(stopped, c, c.layout, replay.LoadOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
	if _, err := replay.Load(t.Context(), memory{}, c.layout, replay.LoadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "no segment of 4 could be read; segment 1: ") {
		t.Errorf("an empty store: %v", err)
	}
	c.layout.L0 = []replay.Deletes{{Segment: 77, Channel: channel(0), Files: []string{"delta_log/gone"}}}
	if _, err := replay.Load(t.Context(), c, c.layout, replay.LoadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "L0 segment 77") {
		t.Errorf("deletes that are not there: %v", err)
	}
}

// failing is a store that fails after a number of files.
type failing struct {
	object.Store
	files int
}

func (f *failing) Open(ctx context.Context, name string) (object.Reader, error) {
	if f.files--; f.files < 0 {
		return nil, errors.New("connection refused")
	}
	return f.Store.Open(ctx, name)
}

func TestLoadFromAStoreThatFails(t *testing.T) {
	c := four(t)
	l, err := replay.Load(t.Context(), &failing{c, 10}, c.layout, replay.LoadOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if l.Coverage.Loaded == 0 || l.Coverage.Loaded == 4 || len(l.Coverage.Missing) != 4-l.Coverage.Loaded {
		t.Errorf("coverage %+v", l.Coverage)
	}
	for _, m := range l.Coverage.Missing {
		if m.Rows != 30 || m.Reason != "connection refused" {
			t.Errorf("%+v", m)
		}
	}
}

// TestDeletesOfL0 checks the channels and partitions that delta logs apply to, with a recorded delta log.
func TestDeletesOfL0(t *testing.T) {
	for name, c := range map[string]struct {
		l0      replay.Deletes
		given   *binlog.Deltas
		deleted int64
	}{
		"of a channel, all partitions": {replay.Deletes{Channel: channel(0), Partition: -1}, nil, 40},
		"of the partition":             {replay.Deletes{Channel: channel(1), Partition: 2}, nil, 40},
		"of another partition":         {replay.Deletes{Channel: channel(0), Partition: 3}, nil, 0},
		"of another channel":           {replay.Deletes{Channel: "dml_7_v0"}, nil, 0},
		"given, for all channels": {
			replay.Deletes{Channel: "dml_7_v0"},
			&binlog.Deltas{
				Int64s: []int64{33, 34, 35}, Timestamps: []uint64{math.MaxUint64, deletedFrom, deletedFrom - 1},
			},
			8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newCluster(2, 2)
			for id := range int64(4) {
				x.addLine(t, id+1, replay.State(id%3), 30, 30) // the log deletes 0 to 49
			}
			x.layout.L0 = []replay.Deletes{c.l0}
			x.layout.L0[0].Files = []string{"delta"}
			x.memory["delta"] = deltaLog(t)
			l, err := replay.Load(t.Context(), x, x.layout, replay.LoadOptions{Deletes: c.given})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Release()
			if l.Coverage.Deleted != c.deleted {
				t.Errorf("%d rows are deleted, want %d", l.Coverage.Deleted, c.deleted)
			}
		})
	}
}

// deltaLog returns a delta log that deletes the keys 0 to 49.
func deltaLog(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "engine", "binlog", "testdata", "delta"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wide returns one row of 4 dimensions.
func wide(t *testing.T, row []byte) *engine.Vectors {
	t.Helper()
	v, err := engine.View(dist.Float32, 4, 1, 16, row)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
