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

// Stream is what a number of threads of the client send, one request after the other: see latency/client.py.
type Stream struct {
	Request     string         `json:"request"`
	Collection  string         `json:"collection"`
	Threads     int            `json:"threads,omitempty"`
	NQ          int            `json:"nq,omitempty"`
	Limit       int            `json:"limit,omitempty"`
	Params      map[string]int `json:"params,omitempty"`
	Consistency string         `json:"consistency,omitempty"`
	Fields      []string       `json:"fields,omitempty"`
	Filtered    bool           `json:"filtered,omitempty"` // each with a filter of its own, so that a node merges none
	Batch       int            `json:"batch,omitempty"`
	Pause       float64        `json:"pause,omitempty"`     // seconds
	Different   int            `json:"different,omitempty"` // requests made beforehand
}

// Sample is one request, as the client measured it.
type Sample struct {
	Stream int     `json:"stream"`
	Began  float64 `json:"began"` // seconds since the epoch
	Took   float64 `json:"took"`  // seconds
	Error  string  `json:"error,omitempty"`
}

// Load is a client that sends requests.
type Load struct {
	file  string
	cmd   *exec.Cmd
	input io.Closer
	said  *bytes.Buffer
}

// StartLoad starts the client, and waits until it has made its requests and sends them. What became of them goes into a file.
func (l *Lab) StartLoad(ctx context.Context, streams []Stream, file string) (*Load, error) {
	spec, err := json.Marshal(streams)
	if err != nil {
		return nil, err
	}
	d := &Load{file: file, said: &bytes.Buffer{}}
	// It goes first, so that what it measures is not that it waits for a processor itself; without the right to, nice only warns.
	d.cmd = l.Command(ctx, "nice", "-n", "-10", l.Python(), "-W", "ignore", l.Script, ProxyAddress, "load", string(spec), file)
	d.cmd.Stderr = d.said
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

// End lets the requests that are under way come back, and gives all.
func (d *Load) End() ([]Sample, error) {
	_ = d.input.Close()
	if err := d.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the client: %w: %s", err, strings.TrimSpace(d.said.String()))
	}
	text, err := os.ReadFile(d.file)
	if err != nil {
		return nil, err
	}
	return ReadSamples(text)
}

// ReadSamples reads what the client wrote.
func ReadSamples(text []byte) ([]Sample, error) {
	var all []Sample
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var s Sample
		err := decoder.Decode(&s)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("what the client wrote: %w", err)
		}
		all = append(all, s)
	}
}
