package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// keptAnswers reads what the processes of a captured cluster said.
func keptAnswers(ctx context.Context, src source.Source) ([]live.Record, error) {
	var answers []live.Record
	err := src.(*source.Bundle).Members(ctx, func(name string, _ int64, content io.Reader) error {
		if name != session.AnswersMember {
			return nil
		}
		return live.ReadRecords(content, func(r live.Record) error {
			answers = append(answers, r)
			return nil
		})
	})
	return answers, err
}

// hosted is the value of a key as the demo's etcd has it: sessions point to the servers that
// answer in the place of the captured processes, and RootCoord has reserved timestamps up to
// the time at which these were asked, not to the later one at which their etcd was saved.
func (d *demoEtcd) hosted(kv source.KV) []byte {
	if bytes.HasSuffix(kv.Key, []byte("/kv/gid/timestamp")) {
		const inAdvance = 3 * time.Second // internal/tso: timestampOracle.InitTimestamp
		return binary.BigEndian.AppendUint64(nil, uint64(d.taken().Add(inAdvance).UnixNano()))
	}
	if !bytes.Contains(kv.Key, []byte("/session/")) {
		return bytes.Clone(kv.Value)
	}
	var session map[string]any
	if json.Unmarshal(kv.Value, &session) != nil { // session/id is a number
		return bytes.Clone(kv.Value)
	}
	was, _ := session["Address"].(string)
	is, ok := d.servers.Address(was)
	if !ok {
		return bytes.Clone(kv.Value)
	}
	session["Address"] = is
	text, err := json.Marshal(session)
	if err != nil {
		return bytes.Clone(kv.Value)
	}
	return text
}

// taken is the moment at which the cluster was captured. Its processes were asked some seconds
// before its etcd was saved; the time ticks that they had seen tell when.
func (d *demoEtcd) taken() time.Time {
	decoder := live.NewDecoder()
	for _, r := range d.answers {
		decoder.Add(r)
	}
	var newest time.Time
	for _, n := range decoder.Runtime("recording", "").QueryNodes() {
		if n.System == nil || n.System.Quota == nil {
			continue
		}
		if at := n.System.Quota.SlowestAt.Time(); at.After(newest) {
			newest = at
		}
	}
	saved := d.snapshot.Header().Taken
	if newest.IsZero() || newest.After(saved) {
		return saved
	}
	return newest
}

// clockAt is a clock that stands still: a captured cluster stays what it was at that time. Its
// checkpoints and time ticks do not move either, and would seem to fall behind.
func clockAt(at time.Time) func() time.Time { return func() time.Time { return at } }

// metricsByAddress finds the texts of /metrics that a recording has by session alone, by the
// address of that session.
func metricsByAddress(answers []live.Record) map[string][]byte {
	addresses := make(map[string]string)
	session := func(r *live.Record) string { return r.Role + "-" + r.Node.String() }
	for i := range answers {
		if a := &answers[i]; a.Address != "" && a.Role != "" {
			addresses[session(a)] = a.Address
		}
	}
	texts := make(map[string][]byte)
	for i := range answers {
		if a := &answers[i]; a.Method == "GET /metrics" && a.Address == "" {
			if address := addresses[session(a)]; address != "" {
				texts[address] = a.Response
			}
		}
	}
	return texts
}
