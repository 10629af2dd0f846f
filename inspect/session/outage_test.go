package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/why"
)

// fixedSnapshot is a snapshot with the given keys.
type fixedSnapshot struct {
	header source.Header
	keys   []source.KV
}

func (s *fixedSnapshot) Header() source.Header { return s.header }
func (*fixedSnapshot) Gaps() []source.Gap      { return nil }
func (*fixedSnapshot) Seekable() bool          { return true }
func (*fixedSnapshot) Close() error            { return nil }

func (s *fixedSnapshot) Scan(_ context.Context, _ []source.Range, yield func(source.KV) error) error {
	for _, kv := range s.keys {
		if err := yield(kv); err != nil {
			return err
		}
	}
	return nil
}

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func key(name, value string, revision int64) source.KV {
	return source.KV{
		Key: []byte("by-dev/" + name), Value: []byte(value), CreateRevision: revision, ModRevision: revision,
		Version: 1,
	}
}

// reservationKey returns the key that RootCoord writes to reserve timestamps until 3 s after a time.
func reservationKey(at time.Time, revision int64) source.KV {
	return key("kv/gid/timestamp", string(binary.BigEndian.AppendUint64(nil, uint64(at.Add(3*time.Second).UnixNano()))),
		revision)
}

// outage returns the path of a recording of ten minutes in which RootCoord reserves no timestamps. A node joins
// each minute, as revisions 101 to 109, and processes are queried just after. If ended is set, RootCoord is up
// again at the end.
func outage(t *testing.T, ended bool) string {
	t.Helper()
	var out bytes.Buffer
	first := &fixedSnapshot{
		source.Header{Root: "by-dev", MetaPath: "meta", Revision: 100, Taken: noon.Add(time.Second), ByClock: true},
		[]source.KV{reservationKey(noon, 100)},
	}
	w, err := source.NewBundleWriter(&out, first.header, source.BundleInfo{
		Kitescope: "test", History: &source.ManifestHistory{Oldest: 100, Recorded: true},
	})
	if err == nil {
		err = w.Base(t.Context(), first, nil, nil)
	}
	changes, encoder := w.Changes(100), new(session.RoundEncoder)
	for n := int64(1); n <= 10; n++ {
		at := noon.Add(time.Duration(n) * time.Minute)
		kv := key(fmt.Sprintf("meta/session/querynode-%d", n),
			fmt.Sprintf(`{"ServerID":%d,"ServerName":"querynode","Address":"127.0.0.1:1"}`, n), 100+n)
		if n == 10 {
			if !ended {
				break
			}
			kv = reservationKey(at, 110)
		}
		r := &session.Round{At: at, Revision: 100 + n, Every: 15 * time.Second, Records: []live.Record{
			{
				Role: "querynode", Node: 1, Address: "127.0.0.1:1", Method: "GetComponentStates",
				Response: []byte("{}"), At: at, Outcome: "answered",
			},
		}}
		if n >= 6 { // the node no longer responds
			r.Records[0].Response, r.Records[0].Outcome, r.Records[0].Error = nil, "refused", "connection refused"
		}
		var content []byte
		if err == nil {
			err = changes.Add(at, 100+n, []source.Event{{KV: kv}})
		}
		if err == nil {
			err = changes.Flush(at)
		}
		if err == nil {
			content, err = encoder.Append(nil, r)
		}
		if err == nil {
			err = w.AddHistory(session.RoundMember, at, content)
		}
	}
	if err == nil {
		_, err = w.Close(nil)
	}
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, source.ChunkName(1, noon)), out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAtWithoutTimestamps checks that revisions are dated by the recorder's clock while RootCoord is down.
func TestAtWithoutTimestamps(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{true, false} {
		dir := outage(t, ended)
		for text, want := range map[string]int{
			"12:04": 4, "12:04:10": 4, "12:06:10": 6, "12:08:05": 8, "12:01:10": 1, "rev:103": 3, "rev:108": 8,
		} {
			spec := &session.Spec{From: dir, Want: meta.Want{Parts: model.PartAll}}
			if err := spec.At.Set(text); err != nil {
				t.Fatal(err)
			}
			var p meta.Point
			loader := &session.Loader{
				Now: time.Now, Timeout: time.Minute, OnMoment: func(found meta.Point) { p = found },
			}
			c, err := loader.Load(t.Context(), spec)
			if err != nil {
				t.Errorf("ended %v: %s: %v", ended, text, err)
				continue
			}
			if len(c.Sessions) != want || c.Runtime == nil {
				t.Errorf("ended %v: %s: %d nodes, want %d; answers %v", ended, text, len(c.Sessions), want,
					c.Runtime != nil)
			}
			for _, g := range c.Gaps {
				if strings.Contains(g.Reason, "asked") {
					t.Errorf("ended %v: %s: %s", ended, text, g.Reason)
				}
			}
			if wrong := p.Moment.Time.Sub(noon.Add(time.Duration(want) * time.Minute)).Abs(); wrong > p.Moment.Error ||
				p.Moment.Error > time.Minute+time.Second {
				t.Errorf("ended %v: %s: revision %d is of %s ±%s", ended, text, p.Revision, p.Moment.Time,
					p.Moment.Error)
			}
		}
	}
	u, _, err := followPast(t, outage(t, true), "12:04")
	if err != nil || len(u.Cluster.Sessions) != 4 || u.Cluster.Runtime == nil {
		t.Fatalf("%+v, %v", u.Cluster, err)
	}
	h, err := u.Past.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Len() {
		if e := h.Event(i); e.Revision == 108 &&
			(e.Error < 0 || e.Error > time.Minute+time.Second || e.Time.Sub(noon.Add(8*time.Minute)).Abs() > e.Error) {
			t.Errorf("what happened at %s is dated %s ±%s", noon.Add(8*time.Minute), e.Time, e.Error)
		}
	}
	c, err := at(t, u.Past, 108)
	if err != nil || len(c.Sessions) != 8 || c.Runtime == nil || !c.Origin.Taken.Equal(noon.Add(8*time.Minute)) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestStepsOfARecording checks that each moment has its own metadata and answers, in any order.
func TestStepsOfARecording(t *testing.T) {
	t.Parallel()
	dir := outage(t, true)
	u, _, err := followPast(t, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	look := func(n int64) {
		t.Helper()
		c, err := at(t, u.Past, 100+n)
		if err != nil || len(c.Sessions) != int(n) || c.Runtime == nil || len(c.Runtime.Nodes) != 1 {
			t.Fatalf("moment %d: %+v, %v", n, c, err)
		}
		if answered := c.Runtime.Nodes[0].Outcome == model.Answered; answered != (n < 6) {
			t.Errorf("moment %d: the node has answered: %v", n, answered)
		}
	}
	for _, n := range []int64{4, 5, 6, 7, 8, 9, 8, 5, 1, 2, 9, 3} {
		look(n)
	}
	chunk := filepath.Join(outage(t, true), source.ChunkName(1, noon))
	if u, _, err = followPast(t, chunk, ""); err != nil {
		t.Fatal(err)
	}
	look(3) // a chunk opened as a file works too
	look(8)
}

// TestOnsetOfAnswers checks that recorded answers show when a finding began that is not visible in etcd.
func TestOnsetOfAnswers(t *testing.T) {
	t.Parallel()
	silent := &check.Check{ID: "silent", Severity: check.Error, Parts: model.PartSessions, Run: func(p *check.Pass) {
		if p.Runtime == nil {
			p.NoteUnseen("answers")
			return
		}
		for _, n := range p.Runtime.Nodes {
			if n.Outcome != model.Answered {
				p.Report(check.Finding{
					Severity: check.Error, Object: model.Ref{Resource: "nodes", ID: "1"}, Message: "it is silent",
				})
			}
		}
	}}
	src, err := source.Open(t.Context(), outage(t, true), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	past, err := session.PastOf(src, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
	if err == nil {
		c, err = session.WithStored(t.Context(), src, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := past.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checks := []*check.Check{silent}
	list, err := why.Find(t.Context(), past.Survey, h, check.Run(c, c.Origin.Taken, checks),
		why.Options{Checks: checks})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if o := list[0]; o.Revision != 106 || o.MaybeOlder || !o.Began.Equal(noon.Add(6*time.Minute)) {
		t.Errorf("it began %+v", o)
	}
}
