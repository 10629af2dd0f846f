package main

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

	"kitescope/tools/e2e/lab"
)

// Look is one asking of kitescope.
type Look struct {
	After    float64   `json:"after_seconds"` // the end of it, since the injection
	Took     float64   `json:"took_seconds"`
	Exit     int       `json:"exit"`
	Stderr   string    `json:"stderr,omitempty"`
	Findings []Finding `json:"findings"`
	Seen     []Seen    `json:"seen,omitempty"`
}

// look asks once, as a person would, with no flag but --from, and those of more.
func (l *Lab) look(ctx context.Context, name string, since time.Time, more ...string) (*Look, error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := l.Command(ctx, l.kitescope, "diagnose", "-o", "json", "--from", lab.Source)
	cmd.Args = append(cmd.Args, more...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	look := &Look{After: seconds(time.Since(since)), Took: seconds(time.Since(began)), Stderr: strings.TrimSpace(errs.String())}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		look.Exit = exit.ExitCode()
	} else if err != nil {
		return nil, err
	}
	var said struct {
		Items []Finding `json:"items"`
	}
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			return nil, fmt.Errorf("diagnose -o json: %w: %.200s", err, out.String())
		}
	} else if look.Exit == 0 || look.Exit == 3 {
		return nil, fmt.Errorf("diagnose -o json wrote nothing, exit %d: %s", look.Exit, look.Stderr)
	}
	look.Findings = said.Items
	return look, os.WriteFile(filepath.Join(l.Out, name+".json"), out.Bytes(), 0o644)
}

// knows reports whether the binary has a flag: an older one can be scored as well.
func (l *Lab) knows(ctx context.Context, flag string) bool {
	help, err := l.Output(ctx, l.kitescope, "diagnose", "--help")
	return err == nil && strings.Contains(string(help), flag)
}

func seconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Millisecond)) / float64(time.Second)
}

// bundle keeps what there is now, to look into a miss afterwards.
func (l *Lab) bundle(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	if _, err := l.Output(ctx, l.kitescope, "snapshot", "save", "--live", "--force", "-q", "--from", lab.Source, filepath.Join(l.Out, name+".kite")); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
	}
}

// watch is a "diagnose --watch" that runs beside a round.
type watch struct {
	cmd  *exec.Cmd
	file string
}

func (l *Lab) watch(ctx context.Context) (*watch, error) {
	w := &watch{file: filepath.Join(l.Out, "watch.jsonl")}
	out, err := os.Create(w.file)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	errs, err := os.Create(filepath.Join(l.Out, "watch.err"))
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	w.cmd = l.Command(ctx, l.kitescope, "diagnose", "--watch", "-o", "jsonl", "--from", lab.Source)
	w.cmd.Stdout, w.cmd.Stderr = out, errs
	return w, w.cmd.Start()
}

// alive: it has to go on whatever happens to the cluster.
func (w *watch) alive() bool { return syscall.Kill(w.cmd.Process.Pid, 0) == nil }

func (w *watch) end() {
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGINT)
	_ = w.cmd.Wait()
}

// events are the changes of findings that it told so far.
func (w *watch) events() []Finding {
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

func (f *Finding) time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, f.At)
	return t
}

func (f *Finding) key() string { return f.Check + "\n" + f.Object.Resource + "\n" + f.Object.ID }

// risen are the findings that came or got worse in a span of time.
func risen(events []Finding, from, to time.Time) []Finding {
	var out []Finding
	for _, f := range events {
		if t := f.time(); (f.Change == "new" || f.Change == "worse" || f.Change == "unsure") && !t.Before(from) && t.Before(to) {
			out = append(out, f)
		}
	}
	return out
}

// open are the findings that have come by a time and not gone.
func open(events []Finding, at time.Time) []Finding {
	now := map[string]Finding{}
	var order []string
	for _, f := range events {
		if f.time().After(at) {
			break
		}
		if f.Change == "gone" || f.Change == "lost" {
			delete(now, f.key())
			continue
		}
		if _, there := now[f.key()]; !there {
			order = append(order, f.key())
		}
		now[f.key()] = f
	}
	var out []Finding
	for _, k := range order {
		if f, there := now[k]; there {
			out = append(out, f)
			delete(now, k)
		}
	}
	return out
}

// probed is what a client saw in a span of time.
func (l *Lab) probed(from, to time.Time) (searches, errs int, worst float64) {
	text, err := os.ReadFile(filepath.Join(l.Out, "probe.jsonl"))
	if err != nil {
		return 0, 0, 0
	}
	for line := range strings.Lines(string(text)) {
		var p struct {
			At, Seconds float64
			Error       string
		}
		if json.Unmarshal([]byte(line), &p) != nil || p.At < float64(from.UnixMilli())/1000 || p.At > float64(to.UnixMilli())/1000 {
			continue
		}
		searches++
		worst = max(worst, p.Seconds)
		if p.Error != "" {
			errs++
		}
	}
	return searches, errs, worst
}
