package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Etcd starts etcd processes: the etcd on PATH, else the embedded server of this module. Both run in a
// process of their own, so their CPU time and memory are not counted with a client's.
type Etcd struct {
	program string
	Version string // "3.4.23"
	// Name names the etcd in reports.
	Name string
}

// FindEtcd looks for etcd on PATH. Without one, it builds the embedded server into scratch. Both take the
// same flags.
func FindEtcd(ctx context.Context, scratch string) (Etcd, error) {
	if path, err := exec.LookPath("etcd"); err == nil {
		return withVersion(ctx, Etcd{program: path, Name: "etcd on PATH"})
	}
	path, err := Build(ctx, scratch, "etcdserve")
	if err != nil {
		return Etcd{}, err
	}
	return withVersion(ctx, Etcd{program: path, Name: "embedded etcd"})
}

// Build compiles a program of this module into dir and returns its path.
func Build(ctx context.Context, dir, program string) (string, error) {
	path := filepath.Join(dir, program)
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "kitescope/tools/bench/"+program).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", program, err, out)
	}
	return path, nil
}

func withVersion(ctx context.Context, e Etcd) (Etcd, error) {
	out, err := exec.CommandContext(ctx, e.program, "--version").Output()
	if err != nil {
		return Etcd{}, fmt.Errorf("get the version of %s: %w", e.program, err)
	}
	_, after, ok := strings.Cut(string(out), "etcd Version: ")
	if !ok {
		return Etcd{}, fmt.Errorf("get the version of %s: unexpected output %q", e.program, out)
	}
	e.Version, _, _ = strings.Cut(after, "\n")
	return e, nil
}

// Server is a running etcd.
type Server struct {
	Endpoint string // host:port
	process  *exec.Cmd
	log      *bytes.Buffer
	done     chan error
}

// Start runs an etcd on dir and waits until it responds.
func (e Etcd) Start(ctx context.Context, dir string) (*Server, error) {
	client, peer, err := freePorts(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{
		"--data-dir", dir,
		"--listen-client-urls", "http://" + client, "--advertise-client-urls", "http://" + client,
		"--listen-peer-urls", "http://" + peer, "--initial-advertise-peer-urls", "http://" + peer,
		"--initial-cluster", "default=http://" + peer,
		"--quota-backend-bytes", "8589934592",
		// Leave few entries to replay at the next start.
		"--snapshot-count", "500",
		"--log-level", "warn",
	}
	s := &Server{Endpoint: client, log: new(bytes.Buffer), done: make(chan error, 1)}
	// Only Stop ends the process, even if ctx has ended before.
	s.process = exec.CommandContext(context.WithoutCancel(ctx), e.program, args...)
	s.process.Stderr = s.log
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	go func() { s.done <- s.process.Wait() }()
	if err := s.waitReady(ctx); err != nil {
		_ = s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	client, err := s.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		_, err := client.Get(ctx, "ready")
		if err == nil {
			return nil
		}
		select {
		case end := <-s.done:
			s.done <- end // Stop receives it too
			return fmt.Errorf("etcd ended: %w\n%s", errors.Join(end, err), s.log)
		case <-ctx.Done():
			return fmt.Errorf("etcd is not responding: %w\n%s", err, s.log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Client returns a new client of the server.
func (s *Server) Client() (*clientv3.Client, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{s.Endpoint}, DialTimeout: 10 * time.Second, Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", s.Endpoint, err)
	}
	return c, nil
}

// PID returns the process id of the server.
func (s *Server) PID() int { return s.process.Process.Pid }

// Stop sends SIGTERM to the server and waits until it has ended. After 30 s it kills the server and returns
// an error.
func (s *Server) Stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop etcd: %w", err)
	}
	select {
	case end := <-s.done:
		s.done <- end
	case <-time.After(30 * time.Second):
		return errors.Join(errors.New("etcd did not stop in 30 s"), s.process.Process.Kill())
	}
	return nil
}

// DBFile returns the path of etcd's bbolt file in a data directory.
func DBFile(dir string) string { return filepath.Join(dir, "member", "snap", "db") }

func freePorts(ctx context.Context) (client, peer string, err error) {
	var (
		config    net.ListenConfig
		addresses [2]string
	)
	for i := range addresses {
		l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close()
		addresses[i] = l.Addr().String()
	}
	return addresses[0], addresses[1], nil
}
