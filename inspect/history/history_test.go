package history_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/history"
	"kitescope/inspect/source"
)

var header = source.Header{Root: "by-dev", MetaPath: "meta", Revision: 100}

// stream is a store with successive writes, each in a new revision.
type stream struct {
	tb       testing.TB
	reader   *history.Reader
	revision int64
	now      time.Time
}

// memory is a snapshot of a few keys.
type memory struct {
	source.Snapshot
	keys []source.KV
}

func (m memory) Header() source.Header { return header }

func (m memory) Scan(_ context.Context, _ []source.Range, yield func(source.KV) error) error {
	for _, kv := range m.keys {
		if err := yield(kv); err != nil {
			return err
		}
	}
	return nil
}

// begin returns a stream after a store with these keys, relative to the metadata prefix, and values.
func begin(tb testing.TB, pairs ...any) *stream {
	tb.Helper()
	r, err := history.NewReader(header)
	if err != nil {
		tb.Fatal(err)
	}
	s := &stream{tb: tb, reader: r, revision: header.Revision, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	m := memory{
		keys: []source.KV{{Key: []byte("by-dev/kv/gid/timestamp"), Value: s.reserved(), ModRevision: header.Revision}},
	}
	for i := 0; i < len(pairs); i += 2 {
		m.keys = append(m.keys, source.KV{
			Key: []byte("by-dev/meta/" + pairs[i].(string)), Value: value(tb, pairs[i+1]),
			ModRevision: header.Revision - 1,
		})
	}
	if err := r.Begin(context.Background(), m); err != nil {
		tb.Fatal(err)
	}
	return s
}

// reserved returns the value that Milvus writes when it reserves the timestamps of the next three seconds.
func (s *stream) reserved() []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(s.now.Add(3*time.Second).UnixNano()))
}

// advance advances the time. Milvus reserves timestamps every three seconds in the meantime.
func (s *stream) advance(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(3 * time.Second)
		s.write(source.Event{KV: source.KV{Key: []byte("by-dev/kv/gid/timestamp"), Value: s.reserved()}})
	}
}

func (s *stream) write(events ...source.Event) {
	s.revision++
	for i := range events {
		events[i].ModRevision = s.revision
	}
	if err := s.reader.Apply(s.revision, events); err != nil {
		s.tb.Fatal(err)
	}
}

func put(tb testing.TB, key string, v any) source.Event {
	tb.Helper()
	return source.Event{KV: source.KV{Key: []byte("by-dev/meta/" + key), Value: value(tb, v)}}
}

func deleted(key string) source.Event {
	return source.Event{KV: source.KV{Key: []byte("by-dev/meta/" + key)}, Deleted: true}
}

func value(tb testing.TB, v any) []byte {
	tb.Helper()
	switch v := v.(type) {
	case proto.Message:
		b, err := proto.Marshal(v)
		if err != nil {
			tb.Fatal(err)
		}
		return b
	case string:
		return []byte(v)
	}
	tb.Fatalf("no value can be made of a %T", v)
	return nil
}

// events returns the events of a stream, as "kind resource/name: message".
func (s *stream) events() []string {
	h := s.reader.Finish()
	var list []string
	for i := range h.Len() {
		e := h.Event(i)
		name := e.Object.Name
		if name == "" {
			name = e.Object.ID
		}
		list = append(list, fmt.Sprintf("%s %s/%s: %s", e.Kind, e.Object.Resource, name, e.Message))
	}
	return list
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("events are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func watch(state datapb.ChannelWatchState, started int64) *datapb.ChannelWatchInfo {
	return &datapb.ChannelWatchInfo{
		State: state, StartTs: started, Vchan: &datapb.VchannelInfo{CollectionID: 7, ChannelName: channel},
	}
}

const channel = "by-dev-rootcoord-dml_0_7v0"

// TestLivelock assigns eleven channels repeatedly, as 2.3.5 did when it started on metadata of 2.1.0.
func TestLivelock(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("channelwatch/8/by-dev-rootcoord-dml_%d_7v%d", i, i) }
	var before []any
	for i := range 11 {
		before = append(before, name(i), watch(datapb.ChannelWatchState_ToWatch, 0))
	}
	s := begin(t, before...)
	for n := range 1980 {
		for i := range 11 {
			state := datapb.ChannelWatchState_WatchFailure
			if n%2 == 1 {
				state = datapb.ChannelWatchState_ToWatch
			}
			s.write(put(t, name(i), watch(state, int64(n))))
		}
		if n%240 == 0 {
			s.advance(3 * time.Second)
		}
	}
	h := s.reader.Finish()
	if h.Len() != 11 {
		t.Fatalf("%d events, want one of each channel", h.Len())
	}
	e := h.Event(3)
	if e.Kind != "channel_rewritten" || e.Count != 1980 || e.Object.ID != "by-dev-rootcoord-dml_3_7v3" ||
		e.Before != "ToWatch" || e.After != "ToWatch" {
		t.Errorf("the event is %+v", e)
	}
	if e.Revision != 104 || e.Last <= e.Revision+1979*11 || e.LastTime.Sub(e.Time) < 20*time.Second {
		t.Errorf("revisions %d to %d, %v to %v", e.Revision, e.Last, e.Time, e.LastTime)
	}
	if want := "rewritten 1,980 times in 27 s: ToWatch → WatchFailure → ToWatch → WatchFailure → … → ToWatch, by " +
		"datanode-8"; e.Message != want {
		t.Errorf("message %q, want %q", e.Message, want)
	}
}

func TestChannels(t *testing.T) {
	const toWatch, success = datapb.ChannelWatchState_ToWatch, datapb.ChannelWatchState_WatchSuccess
	old, fresh := "channelwatch/8/"+channel, "channelwatch/17/"+channel
	unassigned := "channelwatch/-9223372036854775808/" + channel
	s := begin(t)
	s.write(put(t, old, watch(toWatch, 1)))
	s.write(put(t, old, watch(success, 1)))
	// One transaction writes the new record and deletes the old one, in any order.
	s.write(put(t, fresh, watch(toWatch, 2)), deleted(old))
	s.write(deleted(fresh), put(t, old, watch(toWatch, 3)))
	s.write(deleted(old), put(t, unassigned, watch(toWatch, 4)))
	s.write(deleted(unassigned), put(t, fresh, watch(toWatch, 5)))
	s.write(put(t, fresh, watch(toWatch, 6)))
	s.write(deleted(fresh))
	is := " vchannels/" + channel + ": "
	expect(
		t, s.events(),
		"channel_assigned"+is+"assigned: datanode-8, ToWatch",
		"channel_rewritten"+is+"rewritten: ToWatch → WatchSuccess, by datanode-8",
		"channel_reassigned"+is+"reassigned: datanode-8 → datanode-17, ToWatch",
		"channel_reassigned"+is+"reassigned: datanode-17 → datanode-8, ToWatch",
		"channel_released"+is+"released, no node has it",
		"channel_assigned"+is+"assigned: datanode-17, ToWatch",
		"channel_rewritten"+is+"rewritten: still ToWatch, by datanode-17",
		"channel_released"+is+"released",
	)
}

func TestNodes(t *testing.T) {
	session := func(role string, id int, more string) string {
		return fmt.Sprintf(`{"ServerID":%d,"ServerName":%q,"Address":"h:%d","Version":"2.3.5"%s}`, id, role, id, more)
	}
	s := begin(t, "session/querynode-4", session("querynode", 4, ""), "session/querynode-5",
		session("querynode", 5, ""), "session/rootcoord", session("rootcoord", 2, ""))
	s.write(put(t, "session/querynode-4", session("querynode", 4, `,"Stopping":true`)))
	s.write(deleted("session/querynode-4"))
	s.write(deleted("session/querynode-5"))
	s.write(put(t, "session/proxy-6", session("proxy", 6, "")))
	s.write(deleted("session/proxy-6"))
	s.write(put(t, "session/rootcoord-7", session("rootcoord", 7, "")))
	s.write(put(t, "session/rootcoord", session("rootcoord", 7, "")))
	s.write(put(t, "session/id", "8"))
	expect(
		t, s.events(),
		"node_stopping nodes/querynode-4: is stopping: registered → stopping",
		"node_left nodes/querynode-4: left, it was stopping",
		"node_lost nodes/querynode-5: was lost, its lease expired",
		"node_joined nodes/proxy-6: joined: address=h:6 version=2.3.5 state=registered",
		"node_left nodes/proxy-6: left, whether it shut down cleanly is not recorded",
		"node_joined nodes/rootcoord-7: joined: address=h:7 version=2.3.5 state=standby",
		"node_left nodes/rootcoord-2: left, rootcoord-7 took its place",
		"node_changed nodes/rootcoord-7: changed: standby → active",
	)
}
