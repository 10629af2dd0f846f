package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Object is the object of a finding.
type Object struct {
	Resource string `json:"resource"`
	ID       string `json:"id"`
	Name     string `json:"name"`
}

// Cause is the finding that another follows from.
type Cause struct {
	Check  string `json:"check"`
	Object Object `json:"object"`
}

// Finding is the scored part of a finding of "diagnose -o json".
type Finding struct {
	Check    string   `json:"check"`
	Severity string   `json:"severity"`
	Message  string   `json:"message"`
	Object   Object   `json:"object"`
	Objects  []Object `json:"objects,omitempty"`
	Cause    *Cause   `json:"cause,omitempty"`
	Change   string   `json:"change,omitempty"`
	At       string   `json:"at,omitempty"`
}

// Text returns the message and the names of the objects, in lower case.
func (f *Finding) Text() string {
	words := []string{f.Message}
	for _, o := range append([]Object{f.Object}, f.Objects...) {
		words = append(words, o.Name, o.ID)
	}
	return strings.ToLower(strings.Join(words, "\n"))
}

// IsAlert reports whether a finding is a warning or an error.
func (f *Finding) IsAlert() bool { return f.Severity == "warning" || f.Severity == "error" }

func (f *Finding) String() string {
	return fmt.Sprintf("%s %s (%s): %s", f.Severity, f.Check, strings.TrimSpace(f.Object.Name), f.Message)
}

// Time returns when --watch reported the finding.
func (f *Finding) Time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, f.At)
	return t
}

// Impact is the state of a kind of request, as diagnose reports it.
type Impact struct {
	Request string `json:"request"`
	State   string `json:"state"`
	// Mean is the mean time of requests that succeeded, in milliseconds, 0 if it is unknown.
	Mean float64 `json:"mean_ms"`
}

// Diagnosis is one run of diagnose.
type Diagnosis struct {
	After    float64   `json:"after_seconds"` // from the injection to its end
	Took     float64   `json:"took_seconds"`
	Exit     int       `json:"exit"`
	Stderr   string    `json:"stderr,omitempty"`
	Findings []Finding `json:"findings"`
	Impact   []Impact  `json:"impact,omitempty"`
}

// proxyMetrics is the port of the proxy's HTTP server (ports.env).
const proxyMetrics = "20131"

// Diagnose runs diagnose once as a user would and saves its JSON document in a file. The only flags besides
// more are --from and --metrics-port, because proxies of 2.3 do not report their port.
func (k *Kitescope) Diagnose(
	ctx context.Context, l *Lab, file string, since time.Time, more ...string,
) (*Diagnosis, error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := l.Command(ctx, k.File,
		append([]string{"diagnose", "-o", "json", "--from", Source, "--metrics-port", proxyMetrics}, more...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	look := &Diagnosis{
		After: Seconds(time.Since(since)), Took: Seconds(time.Since(began)), Stderr: strings.TrimSpace(errs.String()),
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		look.Exit = exit.ExitCode()
	} else if err != nil {
		return nil, err
	}
	var document struct {
		Items  []Finding `json:"items"`
		Impact []Impact  `json:"impact"`
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &document); err != nil {
			return nil, fmt.Errorf("diagnose -o json: %w: %.200s", err, out.String())
		}
	} else if look.Exit == 0 || look.Exit == 3 {
		return nil, fmt.Errorf("diagnose -o json wrote nothing, exit %d: %s", look.Exit, look.Stderr)
	}
	look.Findings, look.Impact = document.Items, document.Impact
	return look, os.WriteFile(file, out.Bytes(), 0o644)
}

// Seconds returns a duration in seconds, to one decimal.
func Seconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Millisecond)) / float64(time.Second)
}

// Bundle saves a bundle of the current cluster.
func (k *Kitescope) Bundle(ctx context.Context, l *Lab, file string) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	_, err := l.Output(ctx, k.File, "snapshot", "save", "--live", "--force", "-q", "--from", Source, "--metrics-port",
		proxyMetrics, file)
	return err
}

// Watch is a running "diagnose --watch".
type Watch struct {
	cmd  *exec.Cmd
	file string
}

// Watch starts "diagnose --watch", which writes its changes into watch.jsonl in a folder.
func (k *Kitescope) Watch(ctx context.Context, l *Lab, folder string) (*Watch, error) {
	w := &Watch{file: filepath.Join(folder, "watch.jsonl")}
	out, err := os.Create(w.file)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	errs, err := os.Create(filepath.Join(folder, "watch.err"))
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	w.cmd = l.Command(ctx, k.File, "diagnose", "--watch", "-o", "jsonl", "--from", Source, "--metrics-port",
		proxyMetrics)
	w.cmd.Stdout, w.cmd.Stderr = out, errs
	return w, w.cmd.Start()
}

// Alive reports whether the watch still runs. It must never end by itself.
func (w *Watch) Alive() bool { return syscall.Kill(w.cmd.Process.Pid, 0) == nil }

// End stops the watch.
func (w *Watch) End() {
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGINT)
	_ = w.cmd.Wait()
}

// Events returns the changes of findings that the watch has reported so far.
func (w *Watch) Events() []Finding {
	text, err := os.ReadFile(w.file)
	if err != nil {
		return nil
	}
	var all []Finding
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var f Finding
		if json.Unmarshal(lines.Bytes(), &f) == nil && f.Severity != "" {
			all = append(all, f)
		}
	}
	return all
}

// Appeared returns the findings that appeared or got worse in a span of time.
func Appeared(events []Finding, from, to time.Time) []Finding {
	var out []Finding
	for _, f := range events {
		if t := f.Time(); (f.Change == "new" || f.Change == "worse" || f.Change == "unsure") && !t.Before(from) &&
			t.Before(to) {
			out = append(out, f)
		}
	}
	return out
}

// WasOpen reports whether a finding was last seen as new or changed, and not as gone, before a time.
func WasOpen(events []Finding, f *Finding, before time.Time) bool {
	stood := false
	for _, e := range events {
		if e.Check == f.Check && e.Object == f.Object && e.Time().Before(before) {
			stood = e.Change != "gone"
		}
	}
	return stood
}
