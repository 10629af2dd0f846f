package clusters

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

// HistoryReport holds the input of WriteHistory.
type HistoryReport struct {
	History *history.History
	// Events are the indices of the selected events.
	Events []int
	Wanted history.Filter
}

// wantsEarlier reports whether the selection includes a time before the start of the history. It returns false if the
// history starts at revision 1, because nothing happened before that.
func (r *HistoryReport) wantsEarlier() bool {
	h, w := r.History, &r.Wanted
	early := func(bound time.Time, revision int64) bool {
		return !bound.IsZero() && !h.FromTime.IsZero() && bound.Before(h.FromTime) || revision > 0 && revision < h.From
	}
	return h.From > 1 && (early(w.Since, w.SinceRevision) || early(w.Until, w.UntilRevision))
}

// empty explains why the list has no events.
func (r *HistoryReport) empty() string {
	switch h, w := r.History, &r.Wanted; {
	case r.wantsEarlier():
		return "no events"
	case !h.ToTime.IsZero() && w.Since.After(h.ToTime):
		return "no events: the history ends before " + render.Stamp(w.Since)
	}
	return "no events"
}

// HistorySheet returns the events as a part of another document.
func HistorySheet(r *HistoryReport) *render.Sheet { return newHistorySheet(r, &render.ReportOptions{}) }

// historyEvent is the index of an event in a history. The event is decoded on demand.
type historyEvent struct {
	history *history.History
	index   int
}

// get returns the event. Each column calls it.
func (e historyEvent) get() history.Event { return e.history.Event(e.index) }

func (e historyEvent) message() string { return e.history.Event(e.index).Message }

// WriteHistory writes the selected events.
func WriteHistory(w io.Writer, r *HistoryReport, f render.Format, o render.ReportOptions) error {
	return newHistorySheet(r, &o).Write(w, f)
}

// HistoryFormats returns the formats of the report.
func HistoryFormats() render.Formats {
	return render.FormatsOf(map[string]string{
		"table": "one line per event, oldest first (default)",
		"wide":  "the same with revisions, collection and time uncertainty",
		"json":  "one JSON object (docs/reference/json.md)",
		"jsonl": "one JSON object per line and event",
		"name":  "",
	})
}

// HistorySchema returns the keys of events that selections can use.
func HistorySchema(render.ReportOptions) *table.Schema {
	return table.New(historySchema(), nil, historyColumns()).Schema()
}

func historySchema() table.Schema {
	return table.Schema{
		Name: "events", Singular: "event", Names: []string{"object", "object_id"}, Sparse: true, Slashes: true,
	}
}

// historyColumns returns the keys of an event and the columns of the table.
func historyColumns() []table.ColumnOf[historyEvent] {
	at := render.Key("time", table.Time, func(e historyEvent) table.Cell { return table.OfTime(e.get().Time) })
	at.Doc = "time of the event; for a group, of the first; absent if unknown"
	wrong := render.Key("time_error_seconds", table.Duration, func(e historyEvent) table.Cell {
		x := e.get()
		if x.Time.IsZero() || x.Error < 0 {
			return table.OfUnknown()
		}
		return table.OfInt(x.Error.Nanoseconds())
	})
	wrong.Doc = "uncertainty of the time; absent if unknown: " +
		"before the first timestamp that Milvus reserved, and after the last"
	message := render.TextKey("message", historyEvent.message)
	message.Doc = "description of the event, as a sentence"
	list := []table.ColumnOf[historyEvent]{
		at.WithTitle("TIME", 0, func(e historyEvent) string { return historyStamp(e.get()) }),
		wrong.WithTitle("±", 4, func(e historyEvent) string { return plusMinus(e.get()) }).WideOnly(),
		historyNumber("revision", "etcd revision; for a group, of the first event",
			func(e history.Event) int64 { return e.Revision }).WideOnly(),
		historyNumber("last_revision", "revision of the last event of a group; else the same",
			func(e history.Event) int64 { return e.Last }),
		historyText("kind", "kind of event, see docs/HISTORY.md",
			func(e history.Event) string { return string(e.Kind) }).
			WithVocabulary().WithTitle("KIND", 2, func(e historyEvent) string { return string(e.get().Kind) }),
		historyText("object", "object of the event, as resource/name", historyObject).
			WithTitle("OBJECT", 0, func(e historyEvent) string { return historyObject(e.get()) }),
		historyText("object_id", "id of the object, as in get RESOURCE -o json",
			func(e history.Event) string { return e.Object.ID }),
		historyText("resource", "resource of the object", func(e history.Event) string {
			return e.Object.Resource
		}).WithVocabulary(),
		historyText("collection", "collection of the object, or the object itself", historyCollection).
			WithTitle("COLLECTION", 3,
				func(e historyEvent) string { return words.OrNone(historyCollection(e.get())) }).WideOnly(),
		historyText("collection_id", "id of that collection", func(e history.Event) string { return e.Collection.ID }),
		message.WithTitle("EVENT", 0, historyEvent.message),
		historyNumber("count", "number of events in the group", func(e history.Event) int64 { return int64(e.Count) }),
		historyText("before", "state before the event, or the part that changed; for a group, before the first",
			func(e history.Event) string { return e.Before }),
		historyText("after", "state after the event; for a group, after the last",
			func(e history.Event) string { return e.After }),
	}
	last := render.Key("last_time", table.Time, func(e historyEvent) table.Cell {
		return table.OfTime(e.get().LastTime)
	})
	last.Doc = "time of the last event of a group"
	return append(list, last)
}

func historyNumber(name, doc string, get func(history.Event) int64) table.ColumnOf[historyEvent] {
	c := render.Key(name, table.Int, func(e historyEvent) table.Cell { return table.OfInt(get(e.get())) })
	c.Doc = doc
	return c
}

func historyText(name, doc string, get func(history.Event) string) table.ColumnOf[historyEvent] {
	c := render.TextKey(name, func(e historyEvent) string { return get(e.get()) })
	c.Doc = doc
	return c
}

// historyObject returns the object of an event, e.g. "nodes/querynode-4".
func historyObject(e history.Event) string {
	if e.Object.Name == "" {
		return e.Object.Resource + "/" + e.Object.ID
	}
	return e.Object.Resource + "/" + e.Object.Name
}

func historyCollection(e history.Event) string {
	if e.Collection.Name == "" {
		return e.Collection.ID
	}
	return e.Collection.Name
}

// usualError is the error of event times while Milvus runs: Milvus reserves timestamps every 3 seconds.
const usualError = 3 * time.Second

// historyStamp returns the time of an event to the second. It includes the error if that exceeds usualError.
func historyStamp(e history.Event) string {
	switch {
	case e.Time.IsZero():
		return words.UnknownMark
	case e.Error > usualError:
		return render.Stamp(e.Time) + " ±" + words.Span(e.Error)
	}
	return render.Stamp(e.Time)
}

func plusMinus(e history.Event) string {
	if e.Time.IsZero() || e.Error < 0 {
		return words.UnknownMark
	}
	return words.Span(e.Error)
}

func newHistorySheet(r *HistoryReport, o *render.ReportOptions) *render.Sheet {
	rows := make([]historyEvent, len(r.Events))
	for i, at := range r.Events {
		rows[i] = historyEvent{r.History, at}
	}
	asked := render.Select(o, table.New(historySchema(), rows, historyColumns()).SetNow(r.History.ToTime), nil)
	return &render.Sheet{
		Kind: "History", Options: o, Items: asked.Items, Parts: []render.Part{asked.List(r.empty())},
		About: func(e *encode.Encoder) { writeHistoryHead(e, r.History) },
		Foot:  append(asked.More(o), historyFoot(r)...),
	}
}

// historyFoot returns the period of the history, and which events the list leaves out.
func historyFoot(r *HistoryReport) []render.Line {
	h := r.History
	lines := []render.Line{{Role: render.RoleDim, Text: fmt.Sprintf(
		"etcd's history from %s to %s, revisions %d to %d", historyMoment(h.FromTime), historyMoment(h.ToTime), h.From,
		h.To,
	)}}
	if r.wantsEarlier() {
		lines = append(lines, render.Line{
			Role: render.RoleWarn,
			Text: "earlier events are unknown: the history begins at revision " + words.Number(h.From),
		})
	}
	var plain int64
	for _, n := range h.NonEvents {
		plain += n
	}
	if plain > 0 {
		lines = append(lines, render.Line{Role: render.RoleDim, Text: fmt.Sprintf(
			"%s of %s are not events: %s", words.Number(plain), words.Count(h.Changes, "change", "changes"),
			strings.Join(historyKinds(h.NonEvents, 4), ", "),
		)})
	}
	if h.Undecoded > 0 {
		lines = append(lines, render.Line{
			Role: render.RoleWarn, Text: words.Count(h.Undecoded, "value", "values") + " could not be decoded",
		})
	}
	return lines
}

func historyMoment(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return render.Stamp(t)
}

// historyKinds returns the n kinds of keys with the most changes, e.g. "binlog 545", and "..." if there are
// more.
func historyKinds(counts map[string]int64, n int) []string {
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b] - counts[a])
		}
		return strings.Compare(a, b)
	})
	list := make([]string, 0, n)
	for _, kind := range kinds[:min(n, len(kinds))] {
		list = append(list, keyKind(kind)+" "+words.Number(counts[kind]))
	}
	if len(kinds) > n {
		list = append(list, "...")
	}
	return list
}

func keyKind(kind string) string {
	if kind == "" {
		return "unknown keys"
	}
	return kind
}

// writeHistoryHead writes the entries before the items.
func writeHistoryHead(e *encode.Encoder, h *history.History) {
	e.Entry("from_revision", h.From)
	e.Entry("to_revision", h.To)
	if !h.FromTime.IsZero() {
		e.Entry("from", h.FromTime.UTC().Format(time.RFC3339))
		e.Entry("to", h.ToTime.UTC().Format(time.RFC3339))
	}
	e.Entry("revisions", h.Revisions)
	e.Entry("changes", h.Changes)
	e.Entry("undecoded", h.Undecoded)
	e.Key("plain")
	e.BeginObject()
	for _, kind := range slices.Sorted(maps.Keys(h.NonEvents)) {
		e.Entry(keyKind(kind), h.NonEvents[kind])
	}
	e.EndObject()
}
