// Package demo provides a captured Milvus 2.3.5 cluster that needs no external server. It reads a bundle embedded
// in the program. It provides a source.Live with the cluster's keys, and on loopback a small server for each of its
// processes.
//
//  1. Start reads the bundle and starts the servers (live/recorded). Each returns the recorded responses of its
//     process.
//  2. Source returns the metadata from memory, with sessions that point to the servers. It supports the same
//     operations as an etcd source: pin, read, watch and health.
//  3. Put and Delete change keys as Milvus would, and watchers receive the changes. Otherwise the cluster and its
//     clock are frozen, because its checkpoints and time ticks would seem to fall behind if only the clock
//     advanced.
//  4. The counters of its processes advance at the captured rates if Start gets a clock, so two scrapes look like
//     those of a cluster under load. Scrapes are dated by a separate clock, Counters.
//  5. The history before the captured state is included: the store is a source.Past of the revisions that the etcd
//     had.
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

// From is the --from value that selects the demo.
const From = "demo://"

// capturedBundle is a bundle of a real Milvus 2.3.5 cluster with four query nodes, captured while one node was
// underloaded (testdata/snapshots/cluster-2.3.5-t7). It includes the history: it was saved with --history,
// --runtime and --profiles, then compressed with zstd -22.
//
//go:embed demo.kite
var capturedBundle []byte

// archive is a tar archive of the logs of the collection small_truth, as Milvus wrote them. They come from an earlier
// run of the same cluster with the same seed (searches return the same answers, files have the same sizes). Their
// ids and times were replaced with those of this run.
//
//go:embed storage.tar
var archive []byte

// StoredCollection is the name of the collection whose files Storage has.
const StoredCollection = "small_truth"

// Storage opens the embedded part of the cluster's object storage, which has only the files of StoredCollection.
func Storage(ctx context.Context) (object.Store, error) {
	return object.ReadTar(ctx, "the demo", archive)
}

// Cluster is the captured cluster with its running servers. Close stops them.
type Cluster struct {
	*store
	answers []live.Record
	servers *recorded.Servers
	// counters is the clock of the processes' counters.
	counters func() time.Time
}

// Start starts the servers of the captured cluster. The caller must close the Cluster. The counters of its
// processes advance by the clock now. If now is nil, they are frozen too, and each scrape equals the one before.
func Start(ctx context.Context, now func() time.Time) (*Cluster, error) {
	c, err := start(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("start the demo: %w", err)
	}
	return c, nil
}

func start(ctx context.Context, now func() time.Time) (*Cluster, error) {
	opened, err := source.Open(ctx, "-", source.Options{Stdin: bytes.NewReader(capturedBundle), Now: time.Now})
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
	if c.store, err = newStore(ctx, snapshot, c.adaptValue); err != nil {
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

// Now is the clock of the demo. It always returns the time at which the processes were queried, some seconds before
// their etcd was saved.
func Now() time.Time { return time.Date(2026, 11, 20, 9, 6, 22, 129e6, time.UTC) }

// Counters returns the time by which to date scrapes. It is the clock of the processes' counters.
func (c *Cluster) Counters() time.Time { return c.counters() }

// ProxyPort returns the port of the proxy's HTTP server, which proxies of 2.3 do not report. It returns "" if
// no metrics of the proxy were recorded.
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

// proxyServer returns the address of the HTTP server of the proxy that returned r, or "" if r is not from a proxy.
func proxyServer(r *live.Record) string {
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil || r.Role != "proxy" {
		return ""
	}
	return net.JoinHostPort(host, labProxyPort)
}

// proxyPages returns the metrics and health pages of the proxy's HTTP server. They are built here because the
// recording has the metrics by session, and no recorded answer has the address of that server.
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

// labProxyPort is the port of the HTTP server of the captured cluster's proxy (METRICS_PORT in the lab's
// cluster.sh).
const labProxyPort = "20131"

// answersOf reads the recorded responses of the processes from a bundle.
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

// profilesOf returns the profiles of a bundle by the address of the HTTP server and the last element of the URL
// path. The bytes are as recorded. It returns nil if the bundle has no profiles.
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

// endpointOf returns the last element of the URL path for a kind. Only CPU profiles have a different name in
// net/http/pprof.
func endpointOf(k pull.Kind) string {
	if k == pull.CPU {
		return "profile"
	}
	return string(k)
}

// RootCoord reserves timestamps in advance and writes the end of the reserved range below its root (internal/tso:
// timestampOracle.InitTimestamp).
const (
	clockKey      = "/kv/gid/timestamp"
	reservedAhead = 3 * time.Second
)

// adaptValue returns the value of a key in the demo. Sessions point to the demo's servers instead of the captured
// processes. RootCoord's reserved timestamps are relative to the time at which the processes were queried, not to
// the later time at which their etcd was saved. Other values are copied unchanged.
func (c *Cluster) adaptValue(kv source.KV) []byte {
	if bytes.HasSuffix(kv.Key, []byte(clockKey)) {
		return binary.BigEndian.AppendUint64(nil, uint64(Now().Add(reservedAhead).UnixNano()))
	}
	if !bytes.Contains(kv.Key, []byte("/session/")) {
		return bytes.Clone(kv.Value)
	}
	var session map[string]any
	if json.Unmarshal(kv.Value, &session) != nil { // e.g. session/id, which is a number
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
