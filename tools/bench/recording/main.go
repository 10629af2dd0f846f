// Command recording measures the CPU time, memory and disk space that a recorder needs, and prints them to
// standard output.
//
//		go build -o /tmp/kitescope ./cmd/kitescope
//		go run -C tools/bench ./recording -kitescope /tmp/kitescope -nodes 200 -segments 200000
//
//	 1. It puts a generated cluster into an embedded etcd, with query nodes that respond like real ones.
//	 2. The recorder follows the cluster while segments are written at a rate and Milvus's clock ticks.
//	 3. The costs are read from /proc after the first round, and then once per interval.
package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
	"kitescope/tools/bench/metagen"
)

type options struct {
	program, metrics      string
	profile, keep         string
	nodes, segments, rate int
	every, length         time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.program, "kitescope", "", "the program")
	flag.StringVar(&o.metrics, "metrics", "", "file with the text of a query node's /metrics")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of the recorder")
	flag.StringVar(&o.keep, "keep", "", "folder of the recording, which is kept")
	flag.IntVar(&o.nodes, "nodes", 200, "query nodes")
	flag.IntVar(&o.segments, "segments", 200_000, "segments")
	flag.IntVar(&o.rate, "rate", 10, "segments written per second")
	flag.DurationVar(&o.every, "every", 15*time.Second, "interval between rounds")
	flag.DurationVar(&o.length, "for", 2*time.Minute, "duration of the measurement")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const root = "by-dev"

func run(ctx context.Context, o options) error {
	scratch, err := os.MkdirTemp("", "kitescope-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	etcd, err := sourcetest.Serve(ctx, filepath.Join(scratch, "etcd"), func(c *embed.Config) {
		c.QuotaBackendBytes = 8 << 30
	})
	if err != nil {
		return err
	}
	defer etcd.Close()
	shape := metagen.Of(o.segments)
	if err := fill(ctx, etcd, shape); err != nil {
		return err
	}
	from := "etcd://" + etcd.Clients[0].Addr().String() + "/" + root
	servers, err := serveProcesses(ctx, etcd, from, o)
	if err != nil {
		return err
	}
	defer servers.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go write(ctx, etcd, shape, o.rate)
	return measure(ctx, o, from, cmp.Or(o.keep, filepath.Join(scratch, "recording")))
}

func put(key, value string) *pb.RequestOp {
	return &pb.RequestOp{
		Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key), Value: []byte(value)}},
	}
}

// fill writes generated metadata without its sessions into the etcd.
func fill(ctx context.Context, etcd *embed.Etcd, shape metagen.Shape) error {
	var ops []*pb.RequestOp
	for kv := range shape.All() {
		if strings.Contains(kv.Key, "/session/") && !strings.HasSuffix(kv.Key, "/session/id") {
			continue
		}
		if ops = append(ops, put(kv.Key, string(kv.Value))); len(ops) == 128 {
			if _, err := etcd.Server.Txn(ctx, &pb.TxnRequest{Success: ops}); err != nil {
				return err
			}
			ops = nil
		}
	}
	_, err := etcd.Server.Txn(ctx, &pb.TxnRequest{Success: ops})
	return err
}

// serveProcesses registers processes and serves their recorded answers.
func serveProcesses(ctx context.Context, etcd *embed.Etcd, from string, o options) (*recorded.Servers, error) {
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.%d:21123", i>>16, i>>8&255, i&255) }
	register := func(where func(string) string) error {
		roles := []string{"rootcoord", "datacoord", "querycoord", "proxy", "datanode"}
		for i := range o.nodes + len(roles) {
			role, key := "querynode", fmt.Sprintf("querynode-%d", 100+i)
			if i >= o.nodes {
				role = roles[i-o.nodes]
				key = role
			}
			value, err := json.Marshal(map[string]any{
				"ServerID": 100 + i, "ServerName": role, "Address": where(address(i + 1)), "Version": "2.3.5",
			})
			if err == nil {
				_, err = etcd.Server.Put(ctx, &pb.PutRequest{Key: []byte(root + "/meta/session/" + key), Value: value})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := register(func(a string) string { return a }); err != nil {
		return nil, err
	}
	src, err := source.Open(ctx, from, source.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	c, err := meta.Load(ctx, snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(o.metrics)
	if err != nil {
		return nil, err
	}
	answers := livetest.Responses(c, livetest.Options{Metrics: string(text)})
	size := 0
	for _, r := range answers {
		size += len(r.Response)
	}
	fmt.Printf("%d sessions, %d segments, %d answers of %d MB\n", len(c.Sessions), len(c.Segments), len(answers),
		size/1e6)
	servers, err := recorded.Start(answers, recorded.Options{Recorded: time.Now().Add(-time.Hour)})
	if err != nil {
		return nil, err
	}
	return servers, register(func(a string) string {
		if at, ok := servers.Address(a); ok {
			return at
		}
		return a
	})
}

// write changes segments and reserves timestamps as Milvus does.
func write(ctx context.Context, etcd *embed.Etcd, shape metagen.Shape, rate int) {
	random := rand.New(rand.NewPCG(1, 1))
	tick := time.NewTicker(time.Second / time.Duration(max(rate, 1)))
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ops := []*pb.RequestOp{}
		if now := time.Now(); now.Sub(last) >= 3*time.Second {
			last = now
			ops = append(ops,
				put(root+"/kv/gid/timestamp",
					string(binary.BigEndian.AppendUint64(nil, uint64(now.Add(3*time.Second).UnixNano())))))
		}
		if rate > 0 {
			kv := shape.Rewritten(random.IntN(shape.Segments), 1+random.Int64N(1000))
			ops = append(ops, put(kv.Key, string(kv.Value)))
		}
		_, _ = etcd.Server.Txn(ctx, &pb.TxnRequest{Success: ops}) // errors show in the amount that is recorded
	}
}

// measure runs the recorder and prints its costs.
func measure(ctx context.Context, o options, from, dir string) error {
	args := []string{"record", "-O", dir, "--from", from, "--every", o.every.String(), "--node-timeout", "10s"}
	if o.profile != "" {
		args = append(args, "--cpuprofile", o.profile)
	}
	cmd := exec.CommandContext(ctx, o.program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	fmt.Printf("the recorder is process %d\n", cmd.Process.Pid)
	time.Sleep(3*o.every + 10*time.Second) // the first round is complete and its garbage collected
	began, cpu, size := time.Now(), cpuTime(cmd.Process.Pid), sizeOf(dir)
	fmt.Printf("the chunk begins with %.1f MB, after %s of CPU time\n", float64(size)/1e6, cpu)
	for until := began.Add(o.length); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(o.every) {
		over := time.Since(began) + 1
		fmt.Printf("%3.0f s: %.2f%% of a core, at most %s, %.0f bytes a round, %.0f MB a day\n", over.Seconds(),
			100*float64(cpuTime(cmd.Process.Pid)-cpu)/float64(over), peak(cmd.Process.Pid),
			float64(sizeOf(dir)-size)/over.Seconds()*o.every.Seconds(),
			float64(sizeOf(dir)-size)/over.Seconds()*86400/1e6)
	}
	return nil
}

// cpuTime returns the CPU time of a process, or 0 if it is unknown.
func cpuTime(pid int) time.Duration {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	if len(fields) < 14 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[12], 10, 64)
	system, _ := strconv.ParseInt(fields[13], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// peak returns the peak memory of a process as text, or "?" if it is unknown.
func peak(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return "?"
	}
	_, behind, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(behind, "\n")
	return strings.TrimSpace(line)
}

func sizeOf(dir string) (n int64) {
	names, _ := source.ChunkNames(dir)
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			n += info.Size()
		}
	}
	return n
}
