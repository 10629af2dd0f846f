package session_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source/sourcetest"
)

// TestRecentOfAnEtcd checks the counts of writes in the minute before two moments: while a key is written
// repeatedly, and later when it is not.
func TestRecentOfAnEtcd(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	now := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	put := func(key, value string) int64 {
		t.Helper()
		r, err := server.Client.Put(t.Context(), "by-dev/"+key, value)
		if err != nil {
			t.Fatal(err)
		}
		return r.Header.Revision
	}
	pass := func(ticks int, each func()) (last int64) {
		for range ticks {
			each()
			now = now.Add(3 * time.Second)
			last = put("kv/gid/timestamp",
				string(binary.BigEndian.AppendUint64(nil, uint64(now.Add(3*time.Second).UnixNano()))))
		}
		return last
	}
	const hot = "meta/channelwatch/9/by-dev-dml_0_1v0"
	put("meta/session/id", "7")
	pass(30, func() {})
	pass(30, func() { put(hot, "x"); put(hot, "y") })
	end := pass(1, func() {})
	pass(30, func() {})
	load := func(at string, want bool) *model.EtcdActivity {
		t.Helper()
		spec := &session.Spec{
			From: "etcd://" + server.Address + "/by-dev", Want: meta.Want{Parts: model.PartAll}, Recent: want,
		}
		if at != "" {
			if err := spec.At.Set(at); err != nil {
				t.Fatal(err)
			}
		}
		loader := &session.Loader{Now: func() time.Time { return now }, Timeout: time.Minute}
		c, err := loader.Load(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return c.Recent
	}
	writes := func(a *model.EtcdActivity) (n int64) {
		for _, k := range a.Hot {
			if k.Key == "by-dev/"+hot {
				n = k.Writes
			}
		}
		return n
	}
	// The minute up to the last timestamp at that moment has twenty ticks, with two writes before each except the
	// last.
	if a := load("rev:"+strconv.FormatInt(end, 10), true); a == nil || a.Over != time.Minute || writes(a) != 38 ||
		a.Revisions != 58 {
		t.Errorf("then: %+v", a)
	}
	if a := load("", true); a == nil || a.Over != time.Minute || writes(a) != 0 || a.Revisions != 20 {
		t.Errorf("now: %+v", a)
	}
	if a := load("", false); a != nil {
		t.Errorf("nobody asked: %+v", a)
	}
}

// TestStartsOfAnEtcd checks the starts found in an etcd. A query node registers four times at one address, a
// coordinator under two keys, and one process long before.
func TestStartsOfAnEtcd(t *testing.T) {
	t.Parallel()
	server := sourcetest.StartEtcd(t, nil)
	now := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	do := func(ops ...clientv3.Op) {
		t.Helper()
		if _, err := server.Client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	registered := func(key, address string, id int) clientv3.Op {
		return clientv3.OpPut("by-dev/meta/session/"+key, fmt.Sprintf(`{"ServerID":%d,"Address":"%s"}`, id, address))
	}
	pass := func(ticks int) {
		for range ticks {
			now = now.Add(3 * time.Second)
			do(clientv3.OpPut("by-dev/kv/gid/timestamp",
				string(binary.BigEndian.AppendUint64(nil, uint64(now.Add(3*time.Second).UnixNano())))))
		}
	}
	do(registered("querynode-3", "a:1", 3), clientv3.OpPut("by-dev/meta/session/id", "4"))
	pass(300)
	var at []time.Time
	for id := 4; id < 8; id++ {
		at = append(at, now)
		do(registered(fmt.Sprintf("querynode-%d", id), "a:1", id),
			clientv3.OpDelete(fmt.Sprintf("by-dev/meta/session/querynode-%d", id-1)))
		pass(10)
	}
	do(registered("rootcoord", "b:1", 9), registered("rootcoord-9", "b:1", 9))
	do(registered("querynode-7", "a:1", 7)) // the key is written again when the process stops
	pass(2)
	loader := &session.Loader{Now: func() time.Time { return now }, Timeout: time.Minute}
	c, err := loader.Load(t.Context(), &session.Spec{
		From: "etcd://" + server.Address + "/by-dev", Want: meta.Want{Parts: model.PartAll}, Recent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Starts {
		got = append(got, s.Node.Name(s.Role)+" "+s.Address)
	}
	if want := "querynode-4 a:1,querynode-5 a:1,querynode-6 a:1,querynode-7 a:1,rootcoord-9 b:1"; strings.Join(got,
		",") != want {
		t.Fatalf("starts %v, want %s", got, want)
	}
	for i, s := range c.Starts[:4] {
		if d := s.At.Sub(at[i]); d < 0 || d > 3*time.Second {
			t.Errorf("start %d at %v, want %v", i, s.At, at[i])
		}
	}
}
