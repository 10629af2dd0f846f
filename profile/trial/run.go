package trial

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// run is one start of the program under its load.
type run struct {
	load    command
	serve   *command // nil if the load runs the program itself
	scratch string   // {out} is below it
	profile string   // {profile}
	// window is the length of a service's profile; 0: no profile.
	window time.Duration
}

// newRun returns the run of a slot. profiled selects the load and the file for a profile.
func (t *trial) newRun(s slot, name string, profiled bool) *run {
	r := &run{scratch: t.folder.path("scratch"), profile: t.folder.path("scratch", "cpu.pprof")}
	if profiled {
		r.profile = t.folder.path("profiles", name+".pb.gz")
	}
	file := t.binary(s.side)
	where := placeholders{
		binPlaceholder: file, profilePlaceholder: r.profile, dirPlaceholder: t.plan.Dir,
		runPlaceholder: strconv.Itoa(s.number), outPlaceholder: filepath.Join(r.scratch, "out"),
	}
	line := t.plan.Load
	if profiled {
		line = t.plan.profileLine()
	}
	words, _ := splitWords(line) // settle checked it
	dir := t.plan.Dir
	r.load = command{
		words: words, dir: dir, placeholders: where, out: t.folder.path("runs", name+".out"), timeout: t.plan.Timeout,
	}
	if t.plan.Serve != "" {
		words, _ := splitWords(t.plan.Serve)
		r.serve = &command{
			words: words, dir: dir, placeholders: where, out: t.folder.path("runs", name+"-service.out"),
			timeout: t.plan.Timeout + t.plan.ReadyTimeout + time.Duration(t.plan.Seconds)*time.Second + 2*exitTimeout,
		}
	}
	return r
}

// prepare creates the folders of a run.
func (r *run) prepare() error {
	if err := os.RemoveAll(r.scratch); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.scratch, "out"), 0o755); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Dir(r.profile), 0o755)
}

// maxRunOutput is the size in bytes to which the output of a successful run is truncated.
const maxRunOutput = 1 << 20

// clean removes the files of a run that are no longer needed. It keeps the whole output of a failed run.
func (r *run) clean(ok bool) {
	_ = os.RemoveAll(r.scratch) // prepare empties it before the next run
	if !ok {
		return
	}
	for _, c := range []*command{&r.load, r.serve} {
		if c == nil {
			continue
		}
		for _, path := range []string{c.out, errorFile(c.out)} {
			switch info, err := os.Stat(path); {
			case err != nil:
			case info.Size() == 0:
				_ = os.Remove(path)
			case info.Size() > maxRunOutput:
				_ = os.Truncate(path, maxRunOutput) // it was parsed before, and a trial has many runs
			}
		}
	}
}

// tail returns the end of the output of the load, or of the service if the load printed nothing, and the path
// of the complete output.
func (r *run) tail() (text, file string) {
	if text, file = tail(r.load.out, tailLines); text == "" && r.serve != nil {
		text, file = tail(r.serve.out, tailLines)
	}
	return text, file
}

// outputError adds the end of a run's output to an error.
func (r *run) outputError(err error) error {
	said, file := r.tail()
	return &OutputError{Err: err, Output: said, File: file}
}
