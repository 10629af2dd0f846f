package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Stream is the load of a number of client threads. Each sends one request after the other. See
// latency/client.py.
type Stream struct {
	Request     string         `json:"request"`
	Collection  string         `json:"collection"`
	Threads     int            `json:"threads,omitempty"`
	NQ          int            `json:"nq,omitempty"`
	Limit       int            `json:"limit,omitempty"`
	Params      map[string]int `json:"params,omitempty"`
	Consistency string         `json:"consistency,omitempty"`
	Fields      []string       `json:"fields,omitempty"`
	// each with its own filter, which keeps a node from merging them
	Filtered  bool    `json:"filtered,omitempty"`
	Batch     int     `json:"batch,omitempty"`
	Pause     float64 `json:"pause,omitempty"`     // seconds
	Different int     `json:"different,omitempty"` // number of requests generated beforehand
}

// Sample is one request with the client's measurement.
type Sample struct {
	Stream int     `json:"stream"`
	Began  float64 `json:"began"` // seconds since the epoch
	Took   float64 `json:"took"`  // seconds
	Error  string  `json:"error,omitempty"`
}

// Load is a running client that sends requests.
type Load struct {
	file   string
	cmd    *exec.Cmd
	input  io.Closer
	stderr *bytes.Buffer
}

// StartLoad starts the client and waits until it has generated its requests and sends them. The samples go
// into a file.
func (l *Lab) StartLoad(ctx context.Context, streams []Stream, file string) (*Load, error) {
	spec, err := json.Marshal(streams)
	if err != nil {
		return nil, err
	}
	d := &Load{file: file, stderr: &bytes.Buffer{}}
	// The client gets a higher priority, because its own wait for a CPU must not count. Without the
	// permission, nice only warns.
	d.cmd = l.Command(ctx, "nice", "-n", "-10", l.Python(), "-W", "ignore", l.Script, ProxyAddress, "load",
		string(spec), file)
	d.cmd.Stderr = d.stderr
	if d.input, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("the client did not start: %q: %w", line, err), d.cmd.Cancel(), d.cmd.Wait())
	}
	return d, nil
}

// End waits for the requests in flight and returns all samples.
func (d *Load) End() ([]Sample, error) {
	_ = d.input.Close()
	if err := d.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the client: %w: %s", err, strings.TrimSpace(d.stderr.String()))
	}
	text, err := os.ReadFile(d.file)
	if err != nil {
		return nil, err
	}
	return ReadSamples(text)
}

// ReadSamples decodes the output of the client.
func ReadSamples(text []byte) ([]Sample, error) {
	var all []Sample
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var s Sample
		err := decoder.Decode(&s)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("parse the output of the client: %w", err)
		}
		all = append(all, s)
	}
}
