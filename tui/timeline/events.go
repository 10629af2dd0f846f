package timeline

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"kitescope/inspect/history"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// maxListed is the number of events that a list has at most. It keeps the newest.
const maxListed = 20_000

// openEvents opens ":events", filtered by the arguments if there are any.
func (t *sharedState) openEvents(m *tui.Model, typed []string) (tui.Page, error) {
	if m.Past() == nil {
		_, why := m.Axis()
		return nil, errors.New(why)
	}
	p := eventsPage("events", func(x *history.Axis) []int32 {
		list := make([]int32, 0, min(x.Len(), maxListed))
		for i := range x.Len() {
			list = append(list, int32(i))
		}
		return list[max(0, len(list)-maxListed):]
	})
	p.Filter = strings.ToLower(strings.Join(typed, " "))
	return p, nil
}

// eventsOf returns the list of the events of a lane. For a finding it lists all events since its beginning.
func (t *sharedState) eventsOf(in *lane) tui.Page {
	called := "events of " + in.name
	if s := in.span; s != nil {
		return eventsPage(called, func(x *history.Axis) []int32 {
			last := x.Len()
			var list []int32
			for i := max(x.CountUpTo(s.Revision-1), last-maxListed); i < last; i++ {
				list = append(list, int32(i))
			}
			return list
		})
	}
	return eventsPage(called, func(x *history.Axis) []int32 {
		if l := t.lanes; l != nil && l.axis == x {
			for _, other := range l.all {
				if other.group == in.group && other.name == in.name {
					return other.events[max(0, len(other.events)-maxListed):]
				}
			}
		}
		return in.events
	})
}

// eventsPage returns a page that lists events.
func eventsPage(title string, events func(x *history.Axis) []int32) *tui.TablePage[int32] {
	var x *history.Axis
	event := func(i int32) history.Event { return x.Event(int(i)) }
	col := func(
		name string, kind table.Kind, priority int, text func(e *history.Event) string, compare func(a, b int32) int,
	) tui.Column[int32] {
		return tui.SortedColumn(name, strings.ToUpper(name), kind, priority, func(i int32) string {
			e := event(i)
			return words.Sanitize(words.OneLine(text(&e)))
		}, compare)
	}
	byTime := func(a, b int32) int { return cmp.Compare(b, a) }
	columns := []tui.Column[int32]{
		col("time", table.ID, 0, func(e *history.Event) string { return draw.Stamp(x, e.Revision) }, byTime),
		col("revision", table.Int, 4, func(e *history.Event) string { return words.Number(e.Revision) }, byTime),
		col("kind", table.ID, 3, func(e *history.Event) string { return string(e.Kind) }, nil),
		col("object", table.Text, 0, draw.ObjectText, nil),
		col("collection", table.Text, 2, func(e *history.Event) string {
			return words.OrNone(cmp.Or(e.Collection.Name, e.Collection.ID))
		}, nil),
		col("what", table.Text, 0, func(e *history.Event) string { return e.Message }, nil),
	}
	return &tui.TablePage[int32]{
		Name: "events", CrumbName: title, CommandLine: "history",
		Rows: func(m *tui.Model) ([]int32, string) {
			axis, why := m.Axis()
			if axis == nil {
				return nil, words.Sanitize(why)
			}
			if x = axis; x.Len() == 0 {
				return nil, "no events in the history that etcd keeps"
			}
			list := slices.Clone(events(x))
			slices.Reverse(list)
			return list, ""
		},
		List: tui.List[int32]{
			Noun: "event", OriginalOrder: "newest first", MinNameWidth: 30,
			Columns: func(int) []tui.Column[int32] { return columns },
			Look: func(i int32) tui.RowLook {
				if e := x.Event(int(i)); markOf(&e) == problemMark {
					return tui.RowLook{Role: render.RoleBad}
				}
				return tui.RowLook{}
			},
			Words: func(i int32) string {
				e := event(i)
				return string(e.Kind) + " " + e.Object.Resource + "/" + e.Object.ID + " " + e.Collection.Name + " " +
					draw.Stamp(x, e.Revision) + " " + draw.EventText(&e)
			},
			Open: func(m *tui.Model, i int32) tui.Cmd {
				e := event(i)
				return visit(m, &e)
			},
		},
	}
}
