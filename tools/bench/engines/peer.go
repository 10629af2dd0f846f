package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// peerProgram is the Python side.
//
//go:embed peer.py
var peerProgram string

// ensureVenv returns the path of Python in an environment with the peers. It creates the environment if
// necessary.
func ensureVenv(ctx context.Context, repo, cache string, progress io.Writer) (string, error) {
	script := filepath.Join(repo, "tools", "peers.sh")
	cmd := exec.CommandContext(ctx, "bash", script, filepath.Join(cache, "venv"))
	cmd.Stderr = progress
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", script, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// opResult is the peer's result of one operation.
type opResult struct {
	Thread, Process, Wall time.Duration // nanoseconds in JSON
	RSS                   int64
	Text, Error           string
}

// args holds the arguments of an operation of peer.py.
type args map[string]any

// peer is a Python process that runs one operation at a time.
type peer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
}

// startPeer starts peer.py. Its libraries get one thread, regardless of the environment.
func startPeer(ctx context.Context, python string) (*peer, error) {
	p := &peer{cmd: exec.CommandContext(ctx, python, "-c", peerProgram)}
	p.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	p.cmd.Stderr = &p.errors
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	return p, nil
}

// do runs one operation and returns its result.
func (p *peer) do(op string, a args) (opResult, error) {
	if a == nil {
		a = args{}
	}
	a["op"] = op
	line, err := json.Marshal(a)
	if err != nil {
		return opResult{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return opResult{}, fmt.Errorf("peer %s: %w\n%s", op, err, &p.errors)
	}
	answer, err := p.out.ReadBytes('\n')
	if err != nil {
		_ = p.close() // waits for the rest of its error output
		return opResult{}, fmt.Errorf("peer %s: %w\n%s", op, err, &p.errors)
	}
	var t opResult
	if err := json.Unmarshal(answer, &t); err != nil {
		return opResult{}, fmt.Errorf("peer %s: answer %q: %w", op, answer, err)
	}
	if t.Error != "" {
		return opResult{}, fmt.Errorf("peer %s: %w", op, errors.New(t.Error))
	}
	return t, nil
}

// doAll runs operations one after the other and drops their results.
func (p *peer) doAll(ops ...args) error {
	for _, a := range ops {
		op, _ := a["op"].(string)
		if _, err := p.do(op, a); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) close() error {
	_ = p.in.Close() // it ends at the end of its input
	return p.cmd.Wait()
}
