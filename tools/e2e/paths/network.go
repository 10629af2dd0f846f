package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"kitescope/tools/e2e/lab"
)

// links are the connections that a path may be cut at, from the component that connects to the one that listens.
func links() [][2]string {
	var all [][2]string
	for _, from := range lab.AllProcesses {
		for _, to := range calls[from] {
			if to != "storage" {
				all = append(all, [2]string{from, to})
			}
		}
		// All are registered in etcd, and the nodes' coordinators connect to them.
		if from != "rootcoord" && from != "datacoord" && from != "querycoord" {
			all = append(all, [2]string{from, "etcd"})
		}
	}
	return all
}

func portOf(component string) int {
	switch component {
	case "etcd":
		return 20379
	case "kafka":
		return 20092
	case "proxy":
		return 20132 // to which others of the cluster connect
	}
	return lab.Ports[component].GRPC
}

func drawLink(d *dice) *Action {
	link, how := pick(d, links()), pick(d, []string{"delay", "drip", "cut", "blackhole", "reset"})
	f := &forwarder{to: fmt.Sprintf("127.0.0.1:%d", portOf(link[1]))}
	args := how
	switch how {
	case "delay":
		f.delay = time.Duration(d.between(20, 2000)) * time.Millisecond
		args = fmt.Sprintf("delay %s each way", f.delay)
	case "drip":
		f.rate = int(d.between(100, 20000))
		args = fmt.Sprintf("%d bytes/s", f.rate)
	case "cut":
		f.cut = true
	case "blackhole":
		f.blackhole = true
	case "reset":
		f.after = int64(d.between(500, 500_000))
		args = fmt.Sprintf("reset after %d bytes", f.after)
	}
	return &Action{
		Components: link[:], Args: args,
		inject: func(ctx context.Context, l *Lab, _ *Action) error { return f.start(ctx, l, link[0], portOf(link[1])) },
		effect: func(context.Context, *Lab) (bool, string) {
			return f.accepted.Load() > 0,
				fmt.Sprintf("%d connections, %d bytes went through", f.accepted.Load(), f.bytes.Load())
		},
	}
}

// forwarder passes TCP connections on, badly.
type forwarder struct {
	to        string
	delay     time.Duration // of each piece, each way
	rate      int           // bytes a second, each way
	cut       bool          // closes at once
	blackhole bool          // takes all and passes nothing on
	after     int64         // bytes, of both ways, after which a connection is reset

	accepted, bytes atomic.Int64
}

// start has the kernel redirect what a process connects to at a port here, and ends the connections that it has there.
func (f *forwarder) start(ctx context.Context, l *Lab, process string, port int) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	l.Undo(func() error { end(); return listener.Close() })
	go f.serve(ctx, listener)

	// Sockets belong to the group that their process was in when it made them.
	root, table := "/sys/fs/cgroup/unified", "paths_"+process+"_"+strconv.Itoa(port)
	group := filepath.Join(root, table)
	if !exists(root) {
		group = filepath.Join("/sys/fs/cgroup", table)
	}
	if err := os.MkdirAll(group, 0o755); err != nil {
		return err
	}
	l.Undo(func() error {
		_ = os.WriteFile(filepath.Join(filepath.Dir(group), "cgroup.procs"), []byte(strconv.Itoa(l.PID(process))),
			0o644)
		return os.Remove(group)
	})
	pid := strconv.Itoa(l.PID(process))
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(pid), 0o644); err != nil {
		return err
	}
	_, here, _ := net.SplitHostPort(listener.Addr().String())
	path, _ := filepath.Rel("/sys/fs/cgroup", group)
	rule := fmt.Sprintf("table ip %s { chain out { type nat hook output priority -100; socket cgroupv2 level 1 %q "+
		"tcp dport %d redirect to :%s; }; }", table, path, port, here)
	l.Undo(func() error {
		_, err := l.Output(context.WithoutCancel(ctx), "nft", "delete", "table", "ip", table)
		return err
	})
	if _, err := l.Output(ctx, "nft", rule); err != nil {
		return err
	}
	return l.disconnect(ctx, pid, port)
}

// disconnect ends the connections of a process to a port.
func (l *Lab) disconnect(ctx context.Context, pid string, port int) error {
	out, err := l.Output(ctx, "ss", "-tnpH", "state", "established", "dport", "=", fmt.Sprintf(":%d", port))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.Contains(line, "pid="+pid+",") {
			continue
		}
		_, local, err := net.SplitHostPort(fields[2])
		if err == nil {
			_, err = l.Output(ctx, "ss", "-K", "state", "established", "sport", "=", ":"+local, "dport", "=",
				fmt.Sprintf(":%d", port))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *forwarder) serve(ctx context.Context, listener net.Listener) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		f.accepted.Add(1)
		go f.pass(ctx, from.(*net.TCPConn))
	}
}

func (f *forwarder) pass(ctx context.Context, from *net.TCPConn) {
	defer from.Close()
	if f.cut {
		_ = from.SetLinger(0)
		return
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.to)
	if err != nil {
		return
	}
	to := conn.(*net.TCPConn)
	defer to.Close()
	ended := make(chan struct{}, 2)
	var left atomic.Int64
	left.Store(f.after)
	for _, way := range [][2]*net.TCPConn{{from, to}, {to, from}} {
		go func() {
			f.copy(ctx, way[1], way[0], &left)
			ended <- struct{}{}
		}()
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
	if f.after > 0 {
		_, _ = from.SetLinger(0), to.SetLinger(0)
	}
}

func (f *forwarder) copy(ctx context.Context, to, from *net.TCPConn, left *atomic.Int64) {
	type piece struct {
		data []byte
		due  time.Time
	}
	pieces := make(chan piece, 1000)
	go func() {
		defer close(pieces)
		for {
			size := 32 << 10
			if f.rate > 0 {
				size = max(1, f.rate/10)
			}
			data := make([]byte, size)
			n, err := from.Read(data)
			if n > 0 && !f.blackhole {
				select {
				case pieces <- piece{data[:n], time.Now().Add(f.delay)}:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
			if f.rate > 0 && lab.Sleep(ctx, time.Duration(n)*time.Second/time.Duration(f.rate)) != nil {
				return
			}
		}
	}()
	for p := range pieces {
		if lab.Sleep(ctx, time.Until(p.due)) != nil {
			return
		}
		if _, err := to.Write(p.data); err != nil {
			if !errors.Is(err, net.ErrClosed) {
				_ = from.CloseRead()
			}
			return
		}
		f.bytes.Add(int64(len(p.data)))
		if f.after > 0 && left.Add(-int64(len(p.data))) <= 0 {
			return
		}
	}
}
