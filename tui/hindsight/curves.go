package hindsight

import (
	"math"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/history"
	"kitescope/inspect/news"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui"
)

// curves are the figures of objects at some moments.
type curves struct {
	of      news.Past
	axis    *history.Axis // nil: nothing was looked at
	ascii   bool
	places  []int64 // of the moments that were looked at, in order
	ahead   []int64 // revisions that are still to be looked at
	last    int64   // the revision that was looked at last
	series  map[string]map[string][]series
	columns map[string][]*table.Column // of each resource, those that are Curved
	busy    bool
	stepped bool // the past was shown
}

// series is a figure of an object at each moment, NaN where unknown; it may be shorter than there are moments.
type series []float32

const (
	// evenMoments are looked at over the time, mostMoments kept where it goes on.
	evenMoments = 40
	mostMoments = 2 * evenMoments
	// mostRows is how many rows a table has at most that has curves.
	mostRows = 5000
)

// look looks at the next moment where a table is shown whose rows have curves. A large etcd is not read again for that before the past
// was shown, for which it is read anyway.
func (s *curves) look(m *tui.Model, past news.Past, x *history.Axis, wish tui.Wish) tui.Cmd {
	if _, away := m.Shown(); away {
		s.stepped = true
	}
	if s.columns == nil {
		s.ascii, s.columns = m.Config.ASCII, curvedOf(m.Config.Resources)
	}
	if s.busy || len(s.columns[wish.Resource]) == 0 || wish.Costly && !s.stepped {
		return nil
	}
	s.follow(past, x)
	if len(s.ahead) == 0 {
		return nil
	}
	revision := s.ahead[0]
	s.ahead, s.busy = s.ahead[1:], true
	resources, curved := m.Config.Resources, s.columns
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		c, err := past.At(ctx, revision)
		if err != nil {
			return figuresMsg{s, past, x, revision, nil}
		}
		env, found := view.NewEnv(c, c.Origin.Taken), map[string]map[string][]float32{}
		for _, r := range resources {
			if columns := curved[r.Name]; len(columns) > 0 {
				found[r.Name] = figuresOf(r.Table(env), columns)
			}
		}
		return figuresMsg{s, past, x, revision, found}
	}
}

// curvedOf are the columns of resources that are Curved.
func curvedOf(resources []*view.Resource) map[string][]*table.Column {
	found := map[string][]*table.Column{}
	for _, r := range resources {
		for i := range r.Columns {
			if r.Columns[i].Curved {
				found[r.Name] = append(found[r.Name], &r.Columns[i])
			}
		}
	}
	return found
}

// follow decides which moments are looked at: some evenly over the time, and as often behind its end where it goes on.
func (s *curves) follow(past news.Past, x *history.Axis) {
	if s.axis != nil && s.of == past && s.axis.History.From == x.History.From {
		if end := x.History.To; s.axis != x && len(s.ahead) == 0 && end > s.last && x.Place(end)-x.Place(s.last) >= (x.To-x.From)/evenMoments {
			s.ahead = append(s.ahead, end)
		}
		s.axis = x
		return
	}
	*s = curves{of: past, axis: x, ascii: s.ascii, columns: s.columns, stepped: s.stepped, series: map[string]map[string][]series{}}
	for i := range evenMoments {
		s.ahead = append(s.ahead, x.Revision(x.From+int64(float64(x.To-x.From)*float64(i)/(evenMoments-1))))
	}
	s.ahead[0], s.ahead[evenMoments-1] = x.History.From, x.History.To
	slices.Sort(s.ahead)
	s.ahead = slices.Compact(s.ahead)
}

// figuresOf are the figures of the rows of a table, by id; none of a table that has too many.
func figuresOf(t view.Table, columns []*table.Column) map[string][]float32 {
	if t.Len() > mostRows {
		return nil
	}
	found, at := make(map[string][]float32, t.Len()), make([]int, len(columns))
	for i, c := range columns {
		at[i] = t.Schema().Column(c.Name)
	}
	for row := range t.Len() {
		list := make([]float32, len(columns))
		for i, c := range columns {
			list[i] = figure(t.Cell(row, at[i]), c.Kind)
		}
		found[t.Ref(row).ID] = list
	}
	return found
}

// figure is a cell as a number, NaN where it is none.
func figure(c table.Cell, kind table.Kind) float32 {
	switch {
	case c.Absent != table.Present:
		return float32(math.NaN())
	case kind == table.Percent, kind == table.Number, kind == table.Exact:
		return float32(c.Float)
	}
	return float32(c.Int)
}

// figuresMsg brings the figures of a moment, nil: it could not be looked at.
type figuresMsg struct {
	curves   *curves
	past     news.Past
	axis     *history.Axis
	revision int64
	found    map[string]map[string][]float32
}

// Apply takes them in; the page that shows them has the next moment looked at.
func (f figuresMsg) Apply(m *tui.Model) tui.Cmd {
	s := f.curves
	s.busy = false
	if s.axis == nil || s.of != f.past || s.axis.History.From != f.axis.History.From {
		return m.Refresh()
	}
	s.last = max(s.last, f.revision)
	if f.found == nil {
		return m.Refresh()
	}
	at := len(s.places)
	s.places = append(s.places, f.axis.Place(f.revision))
	for resource, rows := range f.found {
		if s.series[resource] == nil {
			s.series[resource] = map[string][]series{}
		}
		for id, figures := range rows {
			list := s.series[resource][id]
			if list == nil {
				list = make([]series, len(figures))
				s.series[resource][id] = list
			}
			for i, v := range figures {
				list[i] = append(padded(list[i], at), v)
			}
		}
	}
	if len(s.places) > mostMoments {
		s.thin()
	}
	return m.Refresh()
}

// padded is a series of so many moments.
func padded(s series, n int) series {
	for len(s) < n {
		s = append(s, float32(math.NaN()))
	}
	return s
}

// thin leaves every other moment out.
func (s *curves) thin() {
	s.places = everyOther(s.places)
	for _, rows := range s.series {
		for id, list := range rows {
			for i := range list {
				list[i] = everyOther(list[i])
			}
			rows[id] = list
		}
	}
}

func everyOther[S ~[]E, E any](list S) S {
	kept := list[:0]
	for i := 0; i < len(list); i += 2 {
		kept = append(kept, list[i])
	}
	return kept
}

// known reports whether anything is known of the i-th figure of a resource: what processes alone tell is of no past moment of an etcd.
func (s *curves) known(resource string, i int) bool {
	for _, list := range s.series[resource] {
		if slices.ContainsFunc(list[i], func(v float32) bool { return !math.IsNaN(float64(v)) }) {
			return true
		}
	}
	return false
}

// list are the curves of a resource of which something is known, as far as more than one moment was looked at.
func (s *curves) list(resource string) []tui.Curve {
	if len(s.places) < 2 || len(s.series[resource]) == 0 {
		return nil
	}
	var list []tui.Curve
	for i, c := range s.columns[resource] {
		if !s.known(resource, i) {
			continue
		}
		list = append(list, tui.Curve{Of: c, Span: s.span(), Draw: func(id string, cells int) string {
			if of := s.series[resource][id]; of != nil {
				return s.draw(of[i], cells)
			}
			return ""
		}})
	}
	return list
}

// span is how long the time is.
func (s *curves) span() string {
	if s.axis.Dated {
		return "over " + words.Span(time.Duration(s.axis.To-s.axis.From))
	}
	return "over " + words.Plural(s.axis.Len(), "event")
}

// draw draws a figure over the time, a cell for each part of it; "" where nothing is known.
func (s *curves) draw(of series, cells int) string {
	values, at, v := make([]float64, cells), 0, math.NaN()
	low, high := math.Inf(1), math.Inf(-1)
	for i := range values {
		end := s.axis.From + int64(float64(s.axis.To-s.axis.From)*float64(i+1)/float64(cells))
		for ; at < len(s.places) && s.places[at] <= end; at++ {
			if v = math.NaN(); at < len(of) {
				v = float64(of[at])
			}
		}
		if values[i] = v; !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if low > high {
		return ""
	}
	const noise = 0.1 // of its height: what moves by less is flat
	for i := range values {
		values[i] -= low
	}
	return render.Sparkline(values, max(high-low, noise*high), s.ascii)
}
