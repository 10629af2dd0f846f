package main

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
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/tools/e2e/lab"
)

// sample is one request, as the client measured it.
type sample struct {
	Stream int     `json:"stream"`
	Began  float64 `json:"began"` // seconds since the epoch
	Took   float64 `json:"took"`  // seconds
	Error  string  `json:"error,omitempty"`
}

// Measured is what the client says of the requests of a stream that ended in a window. Times are of those that succeeded.
type Measured struct {
	Request    string  `json:"request"`
	Collection string  `json:"collection"`
	Count      int     `json:"count"`
	Errors     int     `json:"errors,omitempty"`
	Error      string  `json:"error,omitempty"` // one of them
	PerSecond  float64 `json:"per_second"`
	MeanMS     float64 `json:"mean_ms"`
	P50MS      float64 `json:"p50_ms"`
	P99MS      float64 `json:"p99_ms"`
}

// measure counts what ended between from and to.
func measure(stream int, s *Stream, all []sample, from, to time.Time) Measured {
	m := Measured{Request: s.Request, Collection: s.Collection}
	var took []float64
	sum := 0.0
	for _, r := range all {
		ended := time.UnixMicro(int64((r.Began + r.Took) * 1e6))
		if r.Stream != stream || ended.Before(from) || ended.After(to) {
			continue
		}
		if r.Error != "" {
			m.Errors, m.Error = m.Errors+1, r.Error
			continue
		}
		took = append(took, r.Took*1000)
		sum += r.Took * 1000
	}
	m.Count = len(took)
	if m.Count == 0 {
		return m
	}
	slices.Sort(took)
	m.PerSecond, m.MeanMS = float64(m.Count)/to.Sub(from).Seconds(), sum/float64(m.Count)
	m.P50MS, m.P99MS = took[m.Count/2], took[m.Count*99/100]
	return m
}

// load is a client that sends requests.
type load struct {
	streams []Stream
	file    string
	cmd     *exec.Cmd
	input   io.Closer
	said    *bytes.Buffer
}

// startLoad starts the client, and waits until it has made its requests and sends them.
func startLoad(ctx context.Context, l *lab.Lab, streams []Stream, file string) (*load, error) {
	spec, err := json.Marshal(streams)
	if err != nil {
		return nil, err
	}
	d := &load{streams: streams, file: file, said: &bytes.Buffer{}}
	// It goes first, so that what it measures is not that it waits for a processor itself; without the right to, nice only warns.
	d.cmd = l.Command(ctx, "nice", "-n", "-10", l.Python(), "-W", "ignore", l.Script, lab.ProxyAddress, "load", string(spec), file)
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

// end lets the requests that are under way come back, and gives all.
func (d *load) end() ([]sample, error) {
	_ = d.input.Close()
	if err := d.cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the client: %w: %s", err, strings.TrimSpace(d.said.String()))
	}
	text, err := os.ReadFile(d.file)
	if err != nil {
		return nil, err
	}
	return readSamples(text)
}

func readSamples(text []byte) ([]sample, error) {
	var all []sample
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var s sample
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

// keepMeasured writes what the client says beside the scrapes.
func keepMeasured(dir string, from, to time.Time, all []Measured) error {
	text, err := json.MarshalIndent(map[string]any{"from": from, "to": to, "streams": all}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "client.json"), text, 0o644)
}
