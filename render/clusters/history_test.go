package clusters_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/render/rendertest"
)

// historyKeys is a snapshot of a few keys.
type historyKeys struct {
	source.Snapshot
	list []source.KV
}

func (k historyKeys) Header() source.Header {
	return source.Header{Root: "by-dev", MetaPath: "meta", Revision: 10}
}

func (k historyKeys) Scan(_ context.Context, _ []source.Range, yield func(source.KV) error) error {
	for _, kv := range k.list {
		if err := yield(kv); err != nil {
			return err
		}
	}
	return nil
}

// historyReport returns the events of half a minute: a node joins and dies, a setting changes, and a channel is
// assigned repeatedly.
func historyReport(t *testing.T) *clusters.HistoryReport {
	t.Helper()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	clock := func() source.KV {
		return source.KV{
			Key: []byte("by-dev/kv/gid/timestamp"), ModRevision: 10,
			Value: binary.BigEndian.AppendUint64(nil, uint64(now.Add(3*time.Second).UnixNano())),
		}
	}
	put := func(key, value string) source.Event {
		return source.Event{KV: source.KV{Key: []byte("by-dev/" + key), Value: []byte(value)}}
	}
	revision := int64(10)
	h, err := history.Read(context.Background(), historyKeys{list: []source.KV{clock()}},
		func(_ context.Context, yield func(int64, []source.Event) error) error {
			write := func(events ...source.Event) {
				revision++
				if err := yield(revision, events); err != nil {
					t.Fatal(err)
				}
			}
			tick := func() {
				now = now.Add(3 * time.Second)
				write(source.Event{KV: clock()})
			}
			write(put("meta/session/querynode-4",
				`{"ServerID":4,"ServerName":"querynode","Address":"h:1\u001b[31m<b>","Version":"2.3.5"}`))
			tick()
			write(put("config/queryCoord/autoBalance", "false"), put("meta/session/id", "5"))
			gone := put("meta/session/querynode-4", "")
			gone.Deleted = true
			write(gone)
			for i := range 40 {
				write(put("meta/channelwatch/8/by-dev-rootcoord-dml_0_7v0", string([]byte{0x18, byte(i % 2 * 2)})))
				if i%10 == 9 {
					tick()
				}
			}
			write(put("config/queryCoord/autoBalance", "true"))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return &clusters.HistoryReport{History: h, Events: h.Select(history.Filter{})}
}

func writeHistory(t *testing.T, r *clusters.HistoryReport, format string, o render.ReportOptions) string {
	t.Helper()
	f, err := clusters.HistoryFormats().Parse(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := clusters.WriteHistory(&b, r, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHistoryFormats(t *testing.T) {
	rendertest.Document(t, "history", "80",
		[]byte(writeHistory(t, historyReport(t), "table", render.ReportOptions{Options: render.Options{Width: 80}})))
	rendertest.Document(t, "history", "json", []byte(writeHistory(t, historyReport(t), "json", render.ReportOptions{})))
	rendertest.Agree(t, "history", clusters.HistoryFormats().Names(), func(w io.Writer, word string) error {
		_, err := io.WriteString(w, writeHistory(t, historyReport(t), word, render.ReportOptions{}))
		return err
	})
}

// TestHistoryKeys checks that every event has the keys that scripts rely on.
func TestHistoryKeys(t *testing.T) {
	var d struct {
		Kind  string
		Items []map[string]any
	}
	if err := json.Unmarshal([]byte(writeHistory(t, historyReport(t), "json", render.ReportOptions{})), &d); err !=
		nil {
		t.Fatal(err)
	}
	if d.Kind != "History" || len(d.Items) != 6 {
		t.Fatalf("%s of %d events", d.Kind, len(d.Items))
	}
	for _, item := range d.Items {
		for _, key := range []string{
			"time", "revision", "last_revision", "kind", "object", "object_id", "message", "count", "before", "after",
		} {
			if _, ok := item[key]; !ok {
				t.Errorf("%v has no %s", item["kind"], key)
			}
		}
		if wrong, ok := item["time_error_seconds"].(float64); ok && (wrong <= 0 || wrong > 2) {
			t.Errorf("%v is wrong by %v s", item["kind"], wrong)
		}
	}
	group := d.Items[4]
	if group["kind"] != "channel_rewritten" || group["count"] != 39.0 ||
		group["object"] != "vchannels/by-dev-rootcoord-dml_0_7v0" {
		t.Errorf("the group is %v", group)
	}
}

// TestHistoryDocumented checks that HISTORY.md has a row for every kind of event.
func TestHistoryDocumented(t *testing.T) {
	events, err := os.ReadFile("../../docs/HISTORY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range history.Kinds() {
		row := "| `" + string(k.Name) + "` | " + k.Doc + " |"
		if *rendertest.Update { // updates the text of a kind; new rows are added by hand
			events = regexp.MustCompile("(?m)^\\| `"+regexp.QuoteMeta(string(k.Name))+"` \\| .*$").
				ReplaceAllLiteral(events, []byte(row))
		}
		if !strings.Contains(string(events), row) {
			t.Errorf("docs/HISTORY.md lacks the row\n%s", row)
		}
	}
	if *rendertest.Update {
		if err := os.WriteFile("../../docs/HISTORY.md", events, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHistoryQuery checks the selection of events.
func TestHistoryQuery(t *testing.T) {
	r := historyReport(t)
	where, err := table.ParseSelection(clusters.HistorySchema(render.ReportOptions{}), []string{"count>1"})
	if err != nil {
		t.Fatal(err)
	}
	text := writeHistory(t, r, "csv",
		render.ReportOptions{Query: table.Query{Where: where, Columns: []string{"kind", "count"}}})
	if text != "kind,count\nchannel_rewritten,39\n" {
		t.Errorf("asked for groups, got %q", text)
	}
	r.Events = r.History.Select(history.Filter{Objects: []history.Selector{{Resource: "pchannels"}}})
	if text := writeHistory(t, r, "table", render.ReportOptions{}); !strings.HasPrefix(text, "no events\n") {
		t.Errorf("of nothing it says %q", text)
	}
}
