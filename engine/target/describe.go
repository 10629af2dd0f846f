package target

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/ivf"
)

// Description is what is in an index file.
type Description struct {
	Target *Target
	Facts  []Fact
	Levels []Level // of a graph, level 0 first
	Parts  []index.Part
}

// Fact is one thing that is known, for people and, if it has a key, for scripts.
type Fact struct {
	Name, Text string
	Key        string
	Number     float64
	Whole      bool // Number counts
	Odd        bool // something is wrong here
}

// Level is one of a graph's, with how many links nodes have there.
type Level struct {
	Level            int
	Nodes            int
	Min, Median, Max int
	Mean             float64
}

// Describe looks at all of a target.
func Describe(ctx context.Context, t *Target) (*Description, error) {
	d := &Description{Target: t, Parts: t.File.Parts}
	f := t.File
	metric := f.Metric.String()
	switch {
	case t.metricGiven:
		metric += " (as given: the file does not say)"
	case !f.MetricKnown:
		metric += " (assumed: the file does not say)"
	}
	d.text("type", f.Kind.String())
	if t.Set == nil {
		format := f.Format.String()
		if len(f.Codes) > 0 {
			format += ", " + strings.Join(f.Codes, " > ")
		}
		d.text("format", format)
	} else {
		d.text("format", string(t.Set.Format))
	}
	d.text("metric", metric)
	d.text("element", t.vectors().Element.String())
	d.count("dimension", "", f.Dim)
	d.count("rows", "", f.Rows)
	d.text("size", strconv.Itoa(f.Bytes)+" bytes")
	switch {
	case f.HNSW != nil:
		d.graph(f.HNSW)
	case f.IVF != nil:
		d.lists(f.IVF)
	}
	return d, ctx.Err()
}

func (d *Description) text(name, text string) {
	d.Facts = append(d.Facts, Fact{Name: name, Text: text})
}

func (d *Description) count(name, key string, n int) {
	d.Facts = append(d.Facts, Fact{Name: name, Text: strconv.Itoa(n), Key: key, Number: float64(n), Whole: true})
}

func (d *Description) fault(name, key string, n int, text string) {
	d.Facts = append(d.Facts, Fact{Name: name, Text: text, Key: key, Number: float64(n), Whole: true, Odd: n > 0})
}

func (d *Description) graph(x *hnsw.Index) {
	s := x.Describe()
	d.count("M", "m", x.M)
	d.count("efConstruction", "ef_construction", x.EFConstruction)
	if d.Target.File.EFSearch > 0 {
		d.count("efSearch", "ef_search", d.Target.File.EFSearch)
	}
	if n := d.Target.File.MaxElements; n > 0 {
		d.count("room for", "max_elements", n)
	}
	d.count("deleted", "deleted", x.Deleted.Count())
	if x.Labels != nil {
		d.text("ids", "of their own")
	} else {
		d.text("ids", "row numbers")
	}
	if len(x.Levels) == 0 {
		return
	}
	d.count("entry node", "entry", int(x.Entry))
	share := 1.0
	if s.Links > 0 {
		share = float64(s.Symmetric) / float64(s.Links)
	}
	d.Facts = append(d.Facts, Fact{Name: "links both ways", Text: fmt.Sprintf("%.1f %% of %d", 100*share, s.Links), Key: "symmetric", Number: share})
	text := strconv.Itoa(s.Unreachable)
	if s.Unreachable > 0 {
		text += fmt.Sprintf(" of %d nodes: %v", len(x.Levels), s.Examples)
		if s.Unreachable > len(s.Examples) {
			text = strings.TrimSuffix(text, "]") + " ...]"
		}
	}
	d.fault("unreachable", "unreachable", s.Unreachable, text)
	for _, y := range []struct {
		name, key string
		n         int
	}{
		{"links to themselves", "self_links", s.SelfLinks},
		{"links twice in a list", "doubled_links", s.Doubled},
		{"links to no node", "outside_links", s.Outside},
		{"links above a node's level", "low_links", s.Low},
	} {
		if y.n > 0 {
			d.fault(y.name, y.key, y.n, strconv.Itoa(y.n))
		}
	}
	if s.EntryFault != "" {
		d.Facts = append(d.Facts, Fact{Name: "entry", Text: s.EntryFault, Odd: true})
	}
	for i, l := range s.Levels {
		d.Levels = append(d.Levels, Level{i, l.Nodes, l.Min, l.Median, l.Max, l.Mean})
	}
}

func (d *Description) lists(x *ivf.Index) {
	rows, largest, empty := 0, 0, 0
	for _, l := range x.Lists {
		n := len(l.IDs)
		rows += n
		largest = max(largest, n)
		if n == 0 {
			empty++
		}
	}
	d.count("nlist", "nlist", len(x.Lists))
	d.count("nprobe", "nprobe", x.NProbe)
	d.count("largest list", "largest_list", largest)
	d.count("empty lists", "empty_lists", empty)
	if len(x.Lists) > 0 {
		mean := float64(rows) / float64(len(x.Lists))
		d.Facts = append(d.Facts, Fact{Name: "rows in a list", Text: fmt.Sprintf("%.1f on average", mean), Key: "mean_list", Number: mean})
	}
}
