package clusters

import (
	"encoding/hex"
	"io"
	"slices"
	"strconv"

	"kitescope/inspect/model"
	"kitescope/inspect/msgid"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/render"
)

// DecodedFormats returns the formats of decoded ids and timestamps.
func DecodedFormats() render.Formats { return render.FormatsOf(map[string]string{"name": ""}) }

// MessageID is one reading of a given message id.
type MessageID struct {
	Given string
	msgid.Reading
}

// MessageIDs writes a list of readings of message ids.
func MessageIDs(w io.Writer, rows []MessageID, f render.Format, o render.ReportOptions) error {
	return writeDecoded(w, "MessageIDList", messageIDTable(rows), f, o)
}

func writeDecoded[T any](w io.Writer, kind string, rows *table.Rows[T], f render.Format, o render.ReportOptions) error {
	asked := render.Select(&o, rows, nil)
	s := &render.Sheet{
		Kind: kind, Options: &o, About: func(*encode.Encoder) {}, Items: asked.Items,
		Parts: []render.Part{asked.List("")}, Foot: asked.More(&o),
	}
	return s.Write(w, f)
}

// number returns a key with one part of an id. The cell is empty if the id has no such part.
func number(name, title string, priority int, get func(MessageID) (n int64, ok bool)) table.ColumnOf[MessageID] {
	return render.Key(name, table.ID, func(x MessageID) table.Cell {
		n, ok := get(x)
		if !ok {
			return table.OfNone()
		}
		return table.Cell{Int: n}
	}).WithTitle(title, priority, nil)
}

func messageIDTable(rows []MessageID) *table.Rows[MessageID] {
	is := func(x MessageID, queues ...msgid.Queue) bool { return slices.Contains(queues, x.Queue) }
	return table.New(table.Schema{Name: "message-ids", Singular: "message-id", Names: []string{"given"}, Sparse: true},
		rows, []table.ColumnOf[MessageID]{
			render.TextKey("given", func(x MessageID) string { return x.Given }).WithTitle("GIVEN", 1, nil),
			render.TextKey("queue", func(x MessageID) string { return string(x.Queue) }).WithVocabulary().
				WithTitle("QUEUE", 0, nil),
			render.TextKey("read_as", func(x MessageID) string { return string(x.Form) }).WithVocabulary().
				WithTitle("READ AS", 3, nil),
			render.TextKey("message_id", func(x MessageID) string { return x.String() }).WithTitle("MESSAGE ID", 0,
				nil),
			number("offset", "OFFSET", 5, func(x MessageID) (int64, bool) {
				return x.Offset, is(x, msgid.Kafka, msgid.RocksMQ)
			}),
			number("ledger", "LEDGER", 5, func(x MessageID) (int64, bool) { return x.Ledger, is(x, msgid.Pulsar) }),
			number("segment", "SEGMENT", 5, func(x MessageID) (int64, bool) {
				return x.Segment, is(x, msgid.Woodpecker)
			}),
			number("entry", "ENTRY", 5, func(x MessageID) (int64, bool) {
				return x.Entry, is(x, msgid.Pulsar, msgid.Woodpecker)
			}),
			number("partition", "PARTITION", 6, func(x MessageID) (int64, bool) {
				return x.Partition, is(x, msgid.Pulsar) && x.Partition >= 0
			}),
			number("batch", "BATCH", 6, func(x MessageID) (int64, bool) {
				return x.Batch, is(x, msgid.Pulsar) && x.Batch >= 0
			}),
			render.TextKey("stored", func(x MessageID) string { return x.Text() }).WithTitle("ON STREAMING NODES", 4,
				nil),
			render.TextKey("checkpoint",
				func(x MessageID) string { return "0x" + hex.EncodeToString(x.Bytes()) }).WithTitle("IN CHECKPOINTS", 4,
				nil),
		})
}

// MessageIDSchema returns the keys of MessageIDs that selections can use.
func MessageIDSchema(render.ReportOptions) *table.Schema { return messageIDTable(nil).Schema() }

// Timestamp is a hybrid timestamp and the text it was parsed from.
type Timestamp struct {
	Given  string
	ReadAs string // "hybrid", "time", "seconds", "milliseconds"
	At     model.TSO
}

// Timestamps writes a list of hybrid timestamps with their times.
func Timestamps(w io.Writer, rows []Timestamp, f render.Format, o render.ReportOptions) error {
	return writeDecoded(w, "TimestampList", timestampTable(rows), f, o)
}

func timestampTable(rows []Timestamp) *table.Rows[Timestamp] {
	return table.New(table.Schema{Name: "timestamps", Singular: "timestamp", Names: []string{"given"}, Sparse: true},
		rows, []table.ColumnOf[Timestamp]{
			render.TextKey("given", func(x Timestamp) string { return x.Given }).WithTitle("GIVEN", 1, nil),
			render.TextKey("read_as", func(x Timestamp) string { return x.ReadAs }).WithVocabulary().
				WithTitle("READ AS", 2, nil),
			render.Key("time", table.Text, func(x Timestamp) table.Cell {
				return table.Of(preciseTime(x.At))
			}).WithTitle("TIME", 0, nil),
			render.Key("hybrid", table.Text, func(x Timestamp) table.Cell {
				return table.Of(strconv.FormatUint(uint64(x.At), 10))
			}).WithTitle("HYBRID", 0, nil),
			render.Key("unix_ms", table.ID, func(x Timestamp) table.Cell {
				return table.Cell{Int: x.At.Time().UnixMilli()}
			}).WithTitle("UNIX MS", 1, nil),
			render.Key("logical", table.ID, func(x Timestamp) table.Cell {
				return table.Cell{Int: x.At.Logical()}
			}).WithTitle("LOGICAL", 1, nil),
		})
}

// TimestampSchema returns the keys of Timestamps that selections can use.
func TimestampSchema(render.ReportOptions) *table.Schema { return timestampTable(nil).Schema() }

func preciseTime(t model.TSO) string { return t.Time().Format("2006-01-02T15:04:05.000Z07:00") }
