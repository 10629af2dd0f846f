// Package demo is a captured Milvus 2.3.5 cluster that needs no server. What enters is a bundle that is part of the program;
// what leaves is a source.Live that holds its keys, and on loopback a small server in the place of each of its processes.
//
//  1. Start reads the bundle and starts these servers (live/recorded): each answers as its process did.
//  2. Source gives the metadata out of memory, with sessions that lead to the servers. It is pinned, read, watched and asked
//     about its health as an etcd is.
//  3. Put and Delete change what it holds, as Milvus would; who watches it hears of that. By itself the cluster stands still,
//     and so does its clock: its checkpoints and time ticks would seem to fall behind otherwise.
//  4. What its processes count runs on where a clock is given for that, at the rates that they had, so that two scrapes say
//     what a cluster under load says. Scrapes are dated by a clock of their own, Counters.
//  5. What led to the captured state is there too: the store is a source.Past of the revisions that the etcd had.
package demo

import (
	"bytes"
	"context"
	_ "embed" // the captured cluster
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"kitescope/engine/object"
	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// From is the --from word of the demo.
const From = "demo://"

// captured is a bundle of a real Milvus 2.3.5 cluster with four query nodes, captured while one of them was underloaded
// (testdata/snapshots/cluster-2.3.5-t7), with its history: saved with --history, --runtime and --profiles, then packed by zstd -22.
//
//go:embed demo.kite
var captured []byte

// files are the logs of its collection small_truth, as Milvus wrote them: taken from an earlier run of the same cluster, which was
// seeded alike (its searches have the same answers, its files the same sizes), with the ids and times of this run.
//
//go:embed storage.tar
var files []byte

// Stored is the collection whose files Storage has.
const Stored = "small_truth"

// Storage opens the part of the cluster's storage that was kept.
func Storage(ctx context.Context) (object.Store, error) {
	return object.ReadTar(ctx, "the demo", files)
}

// Cluster is the captured cluster while its servers run.
type Cluster struct {
	*store
	answers []live.Record
	servers *recorded.Servers
	// counters is the clock of what processes count.
	counters func() time.Time
}

// Start starts the servers of the captured cluster. Close it. now is the clock by which what its processes count runs on; nil: that
// stands still as well, and each scrape is as the one before.
func Start(ctx context.Context, now func() time.Time) (*Cluster, error) {
	c, err := start(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	return c, nil
}

func start(ctx context.Context, now func() time.Time) (*Cluster, error) {
	opened, err := source.Open(ctx, "-", source.Options{Stdin: bytes.NewReader(captured), Now: time.Now})
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	bundle := opened.(*source.Bundle)
	snapshot, err := bundle.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	c := &Cluster{counters: Now}
	if now != nil {
		begun := now()
		c.counters = func() time.Time { return Now().Add(now().Sub(begun)) }
	}
	if c.answers, err = answersOf(ctx, bundle); err != nil {
		return nil, err
	}
	profiles, err := profilesOf(ctx, bundle)
	if err != nil {
		return nil, err
	}
	metrics := recorded.MetricsByAddress(c.answers)
	c.servers, err = recorded.Start(append(c.proxyPages(metrics), c.answers...), recorded.Options{
		Metrics: metrics, Profiles: profiles, Recorded: Now(), Now: c.counters,
	})
	if err != nil {
		return nil, err
	}
	if c.store, err = newStore(ctx, snapshot, c.hosted); err != nil {
		c.Close()
		return nil, err
	}
	if c.past, c.pastHeader, err = openPast(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close stops the servers.
func (c *Cluster) Close() { c.servers.Close() }

// Now is the clock of the demo. It stands still at the moment at which the processes were asked, some seconds before their
// etcd was saved.
func Now() time.Time { return time.Date(2026, 11, 20, 9, 6, 22, 129e6, time.UTC) }

// Counters is the clock by which scrapes are to be dated: that of what processes count.
func (c *Cluster) Counters() time.Time { return c.counters() }

// ProxyPort is the port of the proxy's HTTP server, which proxies of 2.3 do not tell; "" if nothing of it was recorded.
func (c *Cluster) ProxyPort() string {
	for i := range c.answers {
		if web := proxyServer(&c.answers[i]); web != "" {
			if at, ok := c.servers.Address(web); ok {
				_, port, _ := net.SplitHostPort(at)
				return port
			}
		}
	}
	return ""
}

// proxyServer is the address of the HTTP server of the proxy that gave an answer, "" if it is another's.
func proxyServer(r *live.Record) string {
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil || r.Role != "proxy" {
		return ""
	}
	return net.JoinHostPort(host, labProxyPort)
}

// proxyPages are the metrics of the proxy as its HTTP server gives them: the recording has them by session, and no answer tells
// where that server is.
func (c *Cluster) proxyPages(metrics map[string][]byte) []live.Record {
	for i := range c.answers {
		r := &c.answers[i]
		web, text := proxyServer(r), metrics[r.Address]
		if web == "" || text == nil {
			continue
		}
		page := live.Record{Role: r.Role, Node: r.Node, Address: web, Method: "GET /metrics", Response: text}
		health := page
		health.Method, health.Response = "GET /healthz", []byte("OK")
		return []live.Record{page, health}
	}
	return nil
}

// labProxyPort is where the proxy of the captured cluster had its HTTP server (the lab's cluster.sh: METRICS_PORT).
const labProxyPort = "20131"

// answersOf reads what the processes of a captured cluster said.
func answersOf(ctx context.Context, b *source.Bundle) ([]live.Record, error) {
	var answers []live.Record
	err := b.Members(ctx, func(name string, _ int64, content io.Reader) error {
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

// profilesOf are the profiles that a bundle has, as their processes served them: by the address of
// the HTTP server and by the last part of the path. The bytes are those that were recorded.
func profilesOf(ctx context.Context, b *source.Bundle) (map[string]map[string][]byte, error) {
	record, err := session.BundleProfiles(ctx, b)
	if err != nil || record == nil {
		return nil, err
	}
	served := map[string]map[string][]byte{}
	for _, item := range record.Items {
		if item.Address == "" {
			continue
		}
		content, err := readItem(item)
		if err != nil {
			return nil, err
		}
		if served[item.Address] == nil {
			served[item.Address] = map[string][]byte{}
		}
		served[item.Address][endpointOf(item.Kind)] = content
	}
	return served, nil
}

func readItem(item pull.Item) ([]byte, error) {
	in, err := item.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", item.Name, err)
	}
	return content, nil
}

// endpointOf is the last part of the path of a kind: all are called as net/http/pprof calls them, but one.
func endpointOf(k pull.Kind) string {
	if k == pull.CPU {
		return "profile"
	}
	return string(k)
}

// RootCoord reserves timestamps in advance (internal/tso: timestampOracle.InitTimestamp), and writes that below its root.
const (
	clockKey  = "/kv/gid/timestamp"
	inAdvance = 3 * time.Second
)

// hosted is the value of a key as the demo has it: sessions point to the servers that
// answer in the place of the captured processes, and RootCoord has reserved timestamps up to
// the time at which these were asked, not to the later one at which their etcd was saved.
func (c *Cluster) hosted(kv source.KV) []byte {
	if bytes.HasSuffix(kv.Key, []byte(clockKey)) {
		return binary.BigEndian.AppendUint64(nil, uint64(Now().Add(inAdvance).UnixNano()))
	}
	if !bytes.Contains(kv.Key, []byte("/session/")) {
		return bytes.Clone(kv.Value)
	}
	var session map[string]any
	if json.Unmarshal(kv.Value, &session) != nil { // session/id is a number
		return bytes.Clone(kv.Value)
	}
	was, _ := session["Address"].(string)
	is, ok := c.servers.Address(was)
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
