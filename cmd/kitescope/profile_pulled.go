package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session"
	"kitescope/internal/words"
	"kitescope/profile/pull"
)

// pullProgress shows the progress of a pull on stderr if it is a terminal.
type pullProgress struct {
	app        *cli.App
	seconds    int
	mu         sync.Mutex
	begun      time.Time // when the first window began
	nodes      map[string]pull.State
	waiting    map[string]string
	unfinished map[string]string // the nodes of unfinished profiles
	done       int
	all        int
	failed     int
	end        chan struct{}
	stopped    chan struct{}
}

// pullTick is the time between two updates of the progress line.
const pullTick = 200 * time.Millisecond

// pullWithProgress finds the processes and pulls their profiles with body. It shows progress if stderr is a terminal.
func pullWithProgress(
	ctx context.Context, a *cli.App, j *session.Job,
	body func(context.Context, []pull.Target, pull.Options) (*pull.Manifest, error),
) (*pull.Manifest, error) {
	targets, err := j.Targets(ctx)
	if err != nil {
		return nil, profilesError(err)
	}
	a.ExtendGracePeriod()
	shown := showPull(a, j.Options.Seconds)
	defer shown.stop()
	o := j.Options
	o.Progress = shown.handle
	return body(ctx, targets, o)
}

// showPull starts showing progress. The caller must call stop.
func showPull(a *cli.App, seconds int) *pullProgress {
	s := &pullProgress{
		app: a, seconds: seconds, nodes: map[string]pull.State{}, waiting: map[string]string{},
		unfinished: map[string]string{}, end: make(chan struct{}), stopped: make(chan struct{}),
	}
	if a.Transient == nil {
		close(s.stopped)
		return s
	}
	go func() {
		defer close(s.stopped)
		tick := time.NewTicker(pullTick)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				a.Transient.Show(s.line())
			case <-s.end:
				a.Transient.Clear()
				return
			}
		}
	}()
	return s
}

func (s *pullProgress) stop() {
	close(s.end)
	<-s.stopped
}

// handle records an event of the pull. It prints waits and failures immediately.
func (s *pullProgress) handle(e pull.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.all = e.Done, e.All
	s.nodes[e.Node] = e.State
	key := e.Node + " " + string(e.Kind)
	s.unfinished[key] = e.Node
	switch e.State {
	case pull.Sampling:
		if s.begun.IsZero() {
			s.begun = time.Now()
		}
	case pull.Waiting:
		if s.waiting[key] == "" {
			s.printf("%s: %s profile: %s; retrying", e.Node, e.Kind, e.Reason)
		}
		s.waiting[key] = e.Node
	case pull.Done:
		delete(s.waiting, key)
		delete(s.unfinished, key)
		if e.Outcome != pull.OK {
			s.failed++
			s.printf("%s: %s profile: %s: %s", e.Node, e.Kind, e.Outcome, e.Reason)
		}
	case pull.Connecting:
	}
}

// printf prints a line above the progress line. Without a terminal it prints nothing; only the result is shown.
func (s *pullProgress) printf(format string, args ...any) {
	if s.app.Transient != nil {
		s.app.Notef("%s", cli.OneLine(fmt.Sprintf(format, args...)))
	}
}

func (s *pullProgress) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun.IsZero() {
		return fmt.Sprintf("connecting to %d processes", len(s.nodes))
	}
	text := fmt.Sprintf("profiling %d processes: %d of %d profiles", len(s.nodes), s.done-s.failed, s.all)
	if s.failed > 0 {
		text += fmt.Sprintf(", %d failed", s.failed)
	}
	if left := time.Duration(s.seconds)*time.Second - time.Since(s.begun); left > 0 && s.done < s.all {
		text += fmt.Sprintf(", %d s left", int(left.Seconds())+1)
	}
	if len(s.waiting) > 0 {
		text += fmt.Sprintf(", %d waiting for another profile to end", len(s.waiting))
	}
	return text + s.missing(s.maxWidth()-len(text))
}

// maxWidth returns the maximum length of the progress line, which must not wrap. It returns 79 if the width of the
// terminal is unknown.
func (s *pullProgress) maxWidth() int {
	if width, _ := s.app.Size(); width > 0 {
		return width - 1
	}
	return 79
}

// missing returns the names of the unfinished nodes. It shortens the list to fit into room bytes, and returns ""
// if not even one name fits.
func (s *pullProgress) missing(room int) string {
	names := slices.Compact(slices.Sorted(maps.Values(s.unfinished)))
	for n := len(names); n > 0; n-- {
		text := "; running: " + cli.OneLine(strings.Join(names[:n], ", "))
		if n < len(names) {
			text += fmt.Sprintf(" and %d more", len(names)-n)
		}
		if len(text) <= room {
			return text
		}
	}
	return ""
}

// pullResult is the JSON output of profile pull: the manifest and its folder.
type pullResult struct {
	// Path is the folder, "" if there is none.
	Path string `json:"path"`
	*pull.Manifest
}

// writePull writes the result of a pull as JSON or as a table.
func writePull(a *cli.App, m *pull.Manifest, path, output string) error {
	return a.Write(func(w *bufio.Writer) error {
		if output == "json" {
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(pullResult{path, m})
		}
		return pullTable(w, m)
	})
}

func pullTable(out *bufio.Writer, m *pull.Manifest) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := append([][]string{{"NODE", "ROLE", "KIND", "SAMPLES", "CORES", "TOTAL", "SIZE", "OUTCOME"}}, pullRows(m)...)
	for _, row := range rows {
		for i := range row {
			row[i] = cli.OneLine(row[i])
		}
		if _, err := fmt.Fprintln(w, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}

func pullRows(m *pull.Manifest) (rows [][]string) {
	for rest := m.Profiles; len(rest) > 0; {
		e := &rest[0]
		kinds := []string{string(e.Kind)}
		rest = rest[1:]
		// Merge the rows of a process that failed in the same way for several kinds.
		for e.Outcome != pull.OK && len(rest) > 0 && rest[0].Node == e.Node && rest[0].Outcome == e.Outcome &&
			rest[0].Error == e.Error {
			kinds = append(kinds, string(rest[0].Kind))
			rest = rest[1:]
		}
		row := append([]string{e.Node, strings.Join(e.Roles, ","), strings.Join(kinds, ",")}, pullFigures(e)...)
		rows = append(rows, append(row, pullWords(e)))
	}
	return rows
}

// pullFigures returns the cells for samples, busy cores, total and size of a profile. An unknown value is "-".
func pullFigures(e *pull.Entry) []string {
	figures := []string{"-", "-", "-", "-"}
	if e.Samples != nil {
		figures[0] = strconv.FormatInt(*e.Samples, 10)
	}
	if n, ok := e.BusyCores(); ok {
		figures[1] = fmt.Sprintf("%.2f", n)
	}
	if e.Total != nil {
		switch e.Unit {
		case "nanoseconds":
			figures[2] = time.Duration(*e.Total).Round(10 * time.Millisecond).String()
		case "bytes":
			figures[2] = words.Bytes(*e.Total)
		default:
			figures[2] = strconv.FormatInt(*e.Total, 10)
		}
	}
	if e.Outcome == pull.OK {
		figures[3] = words.Bytes(e.Bytes)
	}
	return figures
}

// pullWords returns the outcome of a profile, with the error and the notes.
func pullWords(e *pull.Entry) string {
	text := string(e.Outcome)
	if e.Error != "" {
		text += ": " + e.Error
	}
	return strings.Join(append([]string{text}, e.Notes...), "; ")
}
