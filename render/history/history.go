// Package history writes what happened to a cluster. What enters is a history.History and which of its events are wanted; what leaves
// is a render.Sheet: a line an event for people, an item for scripts.
package history

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/history"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// Report is what is written.
type Report struct {
	History *history.History
	// Events are the positions of those that are wanted.
	Events []int
}

// Sheet is what happened as a part of another document.
func Sheet(r *Report) *render.Sheet { return newSheet(r, &render.ReportOptions{}) }

// event is an event at its place; it is worked out where it is shown.
type event struct {
	of *history.History
	at int
}

// get is the event without its message: each column asks for it.
func (e event) get() history.Event { return e.of.Event(e.at) }

func (e event) message() string { return e.of.Event(e.at).Message }

// Write writes what happened.
func Write(w io.Writer, r *Report, f render.Format, o render.ReportOptions) error {
	return newSheet(r, &o).Write(w, f)
}

// Formats are the formats of the report.
func Formats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "a line an event, the first one first (default)",
		"wide":  "the same with revisions, what it belongs to, and by how much the time may be wrong",
		"json":  "one JSON object (docs/reference/json.md)",
		"jsonl": "one JSON object per line and event",
		"name":  "",
	})
}

// Schema is what can be asked of the events.
func Schema(render.ReportOptions) *table.Schema { return table.New(schema(), nil, columns()).Schema() }

func schema() table.Schema {
	return table.Schema{Name: "events", Singular: "event", Names: []string{"object", "object_id"}, Sparse: true, Slashes: true}
}

// columns are the keys of an event, and what people see of it.
func columns() []table.ColumnOf[event] {
	at := render.Key("time", table.Time, func(e event) table.Cell { return table.OfTime(e.get().Time) })
	at.Doc = "when it happened, of a group when first; absent where nothing dates it"
	wrong := render.Key("time_error_seconds", table.Duration, func(e event) table.Cell {
		x := e.get()
		if x.Time.IsZero() || x.Error < 0 {
			return table.OfUnknown()
		}
		return table.OfInt(x.Error.Nanoseconds())
	})
	wrong.Doc = "by how much that may be wrong; absent where it is not known: before the first timestamp that Milvus reserved, and after the last"
	message := render.TextKey("message", event.message)
	message.Doc = "what happened, as a sentence"
	list := []table.ColumnOf[event]{
		at.Titled("TIME", 0, func(e event) string { return stamp(e.get()) }),
		wrong.Titled("±", 4, func(e event) string { return plusMinus(e.get()) }).Wider(),
		number("revision", "etcd's revision, of a group that of the first one", func(e history.Event) int64 { return e.Revision }).Wider(),
		number("last_revision", "that of the last one of a group; else the same", func(e history.Event) int64 { return e.Last }),
		text("kind", "what happened, one of the words in docs/HISTORY.md", func(e history.Event) string { return string(e.Kind) }).
			Word().Titled("KIND", 2, func(e event) string { return string(e.get().Kind) }),
		text("object", "what it happened to, resource/name", object).Titled("OBJECT", 0, func(e event) string { return object(e.get()) }),
		text("object_id", "its id, as in get RESOURCE -o json", func(e history.Event) string { return e.Object.ID }),
		text("resource", "the resource that it is of", func(e history.Event) string { return e.Object.Resource }).Word(),
		text("collection", "the collection that it belongs to, or is", collection).
			Titled("COLLECTION", 3, func(e event) string { return words.OrNone(collection(e.get())) }).Wider(),
		text("collection_id", "its id", func(e history.Event) string { return e.Collection.ID }),
		message.Titled("WHAT", 0, event.message),
		number("count", "how many of the same there were", func(e history.Event) int64 { return int64(e.Count) }),
		text("before", "the state before, or what of it has changed; of a group, before the first", func(e history.Event) string { return e.Before }),
		text("after", "the state after it; of a group, after the last", func(e history.Event) string { return e.After }),
	}
	last := render.Key("last_time", table.Time, func(e event) table.Cell { return table.OfTime(e.get().LastTime) })
	last.Doc = "when the last one of a group happened"
	return append(list, last)
}

func number(name, doc string, of func(history.Event) int64) table.ColumnOf[event] {
	c := render.Key(name, table.Int, func(e event) table.Cell { return table.OfInt(of(e.get())) })
	c.Doc = doc
	return c
}

func text(name, doc string, of func(history.Event) string) table.ColumnOf[event] {
	c := render.TextKey(name, func(e event) string { return of(e.get()) })
	c.Doc = doc
	return c
}

// object is "nodes/querynode-4".
func object(e history.Event) string {
	if e.Object.Name == "" {
		return e.Object.Resource + "/" + e.Object.ID
	}
	return e.Object.Resource + "/" + e.Object.Name
}

func collection(e history.Event) string {
	if e.Collection.Name == "" {
		return e.Collection.ID
	}
	return e.Collection.Name
}

// stamp is the time of an event, to the second: most errors are more than one.
func stamp(e history.Event) string {
	if e.Time.IsZero() {
		return words.UnknownMark
	}
	return render.Stamp(e.Time)
}

func plusMinus(e history.Event) string {
	if e.Time.IsZero() || e.Error < 0 {
		return words.UnknownMark
	}
	return words.Span(e.Error)
}

func newSheet(r *Report, o *render.ReportOptions) *render.Sheet {
	rows := make([]event, len(r.Events))
	for i, at := range r.Events {
		rows[i] = event{r.History, at}
	}
	asked := render.Ask(o, table.New(schema(), rows, columns()), nil)
	return &render.Sheet{
		Kind: "History", Options: o, Items: asked.Items, Parts: []render.Part{asked.List("nothing happened")},
		About: func(e *encode.Encoder) { about(e, r.History) },
		Foot:  append(asked.More(o), foot(r.History)...),
	}
}

// foot says which time it is about, and what is not in the list.
func foot(h *history.History) []render.Line {
	lines := []render.Line{{Role: render.RoleDim, Text: fmt.Sprintf(
		"etcd's history from %s to %s, revisions %d to %d", moment(h.First), moment(h.Until), h.From, h.To,
	)}}
	var plain int64
	for _, n := range h.Plain {
		plain += n
	}
	if plain > 0 {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: fmt.Sprintf(
			"%s of %s are not events: %s", words.Number(plain), words.Count(h.Changes, "change", "changes"), strings.Join(most(h.Plain, 4), ", "),
		)})
	}
	if h.Undecoded > 0 {
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: words.Count(h.Undecoded, "value", "values") + " could not be decoded"})
	}
	return lines
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return render.Stamp(t)
}

// most are the kinds of keys with the most changes: "binlog 545".
func most(counts map[string]int64, n int) []string {
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b] - counts[a])
		}
		return strings.Compare(a, b)
	})
	list := make([]string, 0, n)
	for _, kind := range kinds[:min(n, len(kinds))] {
		list = append(list, kindName(kind)+" "+words.Number(counts[kind]))
	}
	if len(kinds) > n {
		list = append(list, "...")
	}
	return list
}

func kindName(kind string) string {
	if kind == "" {
		return "unknown keys"
	}
	return kind
}

// about is what scripts read before the items.
func about(e *encode.Encoder, h *history.History) {
	e.Entry("from_revision", h.From)
	e.Entry("to_revision", h.To)
	if !h.First.IsZero() {
		e.Entry("from", h.First.UTC().Format(time.RFC3339))
		e.Entry("to", h.Until.UTC().Format(time.RFC3339))
	}
	e.Entry("revisions", h.Revisions)
	e.Entry("changes", h.Changes)
	e.Entry("undecoded", h.Undecoded)
	e.Key("plain")
	e.BeginObject()
	for _, kind := range slices.Sorted(maps.Keys(h.Plain)) {
		e.Entry(kindName(kind), h.Plain[kind])
	}
	e.EndObject()
}
