package session_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source/sourcetest"
	"kitescope/inspect/view"
)

func TestFormsOfAt(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"09:14", "09:14:05", "09:14:05+02:00", "2026-11-24T09:14:05Z", "2026-11-24T09:14:05.25+01:00",
		"2026-11-24 09:14", "2026-11-24", "-5m", "5m", "now-5m", "-1h30m", "-2d", "-1w2d3h", "rev:1",
	} {
		var at session.At
		if err := at.Set(text); err != nil || at.IsZero() || at.String() != text {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "nowish", "now5m", "600", "9", "25:00", "-", "--5m", "-0s", "..", "..", "rev:", "rev:0", "rev:-1", "rev:x",
		"2026-13-01",
	} {
		var at session.At
		if at.Set(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestLoadAt checks that a captured server is loaded at past moments.
func TestLoadAt(t *testing.T) {
	t.Parallel()
	const capture = "../../testdata/snapshots/standalone-2.3.5/"
	load := func(file, at string) (*model.Cluster, meta.Point, error) {
		t.Helper()
		spec := &session.Spec{From: capture + file, Want: meta.Want{Parts: model.PartAll}}
		if at != "" {
			if err := spec.At.Set(at); err != nil {
				t.Fatal(err)
			}
		}
		var p meta.Point
		loader := &session.Loader{Now: time.Now, Timeout: time.Minute, OnMoment: func(found meta.Point) { p = found }}
		c, err := loader.Load(t.Context(), spec)
		return c, p, err
	}
	newest, _, err := load("etcd_snapshot.db.gz", "")
	if err != nil {
		t.Fatal(err)
	}
	end := newest.Origin.Taken
	times := map[string]time.Time{"-20s": end.Add(-20 * time.Second)}
	for _, back := range []time.Duration{10 * time.Second, 30 * time.Second} {
		at := end.Add(-back).Truncate(time.Second)
		times[at.Format(time.RFC3339)], times[at.Format(time.TimeOnly)] = at, at
	}
	for text, want := range times {
		c, p, err := load("etcd_snapshot.db.gz", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !p.Dated || p.Moment.Time.Sub(want).Abs() > 4*time.Second || p.Revision != c.Origin.Revision ||
			p.Revision >= newest.Origin.Revision || !c.Origin.Taken.Equal(p.Moment.Time) {
			t.Errorf("%s: %+v, of revision %d at %s", text, p, c.Origin.Revision, c.Origin.Taken)
		}
	}
	for text, want := range map[string]string{
		"2020-01-01": "is before the oldest state available", "2036-01-01": "is after its end at",
		"rev:99999999": "there is no revision 99999999",
	} {
		if _, _, err := load("etcd_snapshot.db.gz", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, _, err := load("birdwatcher_backup.bak.gz", "-5m"); err == nil ||
		!strings.Contains(err.Error(), "it has no history") {
		t.Errorf("a backup: %v", err)
	}
}

// TestLoadAtOfAnEtcd checks that a live etcd is loaded at past moments. A query node joins between two ticks of its
// clock, another one after the second tick.
func TestLoadAtOfAnEtcd(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	start := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	put := func(key, value string) int64 {
		t.Helper()
		r, err := server.Client.Put(t.Context(), "by-dev/"+key, value)
		if err != nil {
			t.Fatal(err)
		}
		return r.Header.Revision
	}
	tick := func(after time.Duration) int64 {
		return put("kv/gid/timestamp",
			string(binary.BigEndian.AppendUint64(nil, uint64(start.Add(after+3*time.Second).UnixNano()))))
	}
	join := func(id int) {
		put(fmt.Sprintf("meta/session/querynode-%d", id),
			fmt.Sprintf(`{"ServerID":%d,"ServerName":"querynode","Address":"127.0.0.1:1"}`, id))
	}
	put("meta/session/id", "7")
	oldest := tick(0)
	join(1)
	tick(3 * time.Second)
	join(2)
	last := tick(6 * time.Second)
	join(3)
	if _, err := server.Client.Compact(t.Context(), oldest, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	load := func(text string) (*model.Cluster, error) {
		spec := &session.Spec{
			From: "etcd://" + server.Address + "/by-dev", Live: true, Want: meta.Want{Parts: model.PartAll},
		}
		if err := spec.At.Set(text); err != nil {
			t.Fatal(err)
		}
		loader := &session.Loader{Now: func() time.Time { return start.Add(8 * time.Second) }, Timeout: time.Minute}
		return loader.Load(t.Context(), spec)
	}
	for text, want := range map[string]int{
		"-8s": 0, "09:00:02": 1, "-3s": 2, "-4s": 1, "2030-01-01T09:00:06Z": 2, "09:00:08": 3,
		fmt.Sprintf("rev:%d", last): 2,
	} {
		c, err := load(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		age := view.NewEnv(c, start.Add(time.Hour)).Now.Sub(start)
		if len(c.Sessions) != want || age < 0 || age > 8*time.Second || c.Runtime != nil {
			t.Errorf("%s: %d nodes at %s, want %d: %+v", text, len(c.Sessions), age, want, c.Origin)
		}
	}
	for text, want := range map[string]string{
		"-10s":  "2030-01-01 08:59:58 UTC is before the oldest state available: 2030-01-01 09:00:00 UTC",
		"rev:1": "etcd was compacted there", "2031-01-01": "is after its end",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestAtIsNotLive checks that a past moment of an etcd is not live, so processes are not queried.
func TestAtIsNotLive(t *testing.T) {
	t.Parallel()
	spec := &session.Spec{From: "etcd://10.0.0.5:2379", User: "reader"}
	if !spec.IsLive() || !spec.WantsPassword() {
		t.Error("an etcd is live")
	}
	if err := spec.At.Set("-5m"); err != nil {
		t.Fatal(err)
	}
	if spec.IsLive() || !spec.WantsPassword() {
		t.Error("the past is not live, and etcd wants a password all the same")
	}
}
