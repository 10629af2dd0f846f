package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// recordConfigChange returns the path of a recording of two minutes of a cluster that reserves timestamps every 3 s. A
// dynamic key is set after 20 s and deleted after 80 s. A process is queried after 10, 25, 40, 55, 70, 85 and
// 100 s.
func recordConfigChange(t *testing.T) string {
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
	changes, encoder, revision := w.Changes(100), new(session.RoundEncoder), int64(100)
	add := func(at time.Time, e source.Event) {
		revision++
		e.KV.ModRevision = revision
		if err == nil {
			err = changes.Add(at, revision, []source.Event{e})
		}
	}
	for second := 1; second <= 120; second++ {
		at := noon.Add(time.Duration(second) * time.Second)
		if second%3 == 0 {
			add(at, source.Event{KV: reservationKey(at, 0)})
		}
		switch second {
		case 20:
			add(at, source.Event{KV: key("config/queryCoord/autoBalance", "false", 0)})
		case 80:
			add(at, source.Event{KV: key("config/queryCoord/autoBalance", "", 0), Deleted: true})
		}
		if second < 10 || second > 100 || second%15 != 10 {
			continue
		}
		r := &session.Round{At: at, Revision: revision, Every: 15 * time.Second, Records: []live.Record{
			{
				Role: "querynode", Node: 1, Address: "127.0.0.1:1", Method: "GetComponentStates",
				Response: []byte("{}"), At: at, Outcome: "answered",
			},
		}}
		var content []byte
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
		err = changes.Flush(noon.Add(2 * time.Minute))
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

// TestConfigOfARecording checks that a moment of a recording has the dynamic keys that processes cannot have
// applied when they were queried, because the keys were changed just before or later.
func TestConfigOfARecording(t *testing.T) {
	t.Parallel()
	dir := recordConfigChange(t)
	for _, test := range []struct {
		second  int
		changed bool
	}{
		{19, false},
		{24, true},
		{29, true},
		{38, true},
		{42, false},
		{57, false},
		{79, false},
		{84, true},
		{88, true},
		{96, true},
		{103, false},
	} {
		spec := &session.Spec{From: dir, Want: meta.Want{Parts: model.PartAll}}
		if err := spec.At.Set(noon.Add(time.Duration(test.second) * time.Second).Format(time.RFC3339)); err != nil {
			t.Fatal(err)
		}
		loader := &session.Loader{Now: time.Now, Timeout: time.Minute}
		c, err := loader.Load(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(c.ConfigChanges) > 0; c.Runtime == nil || got != test.changed {
			t.Errorf("after %d s: changed %v, want %v", test.second, c.ConfigChanges, test.changed)
		}
	}
}
