package trial

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kitescope/profile/pull"
)

// Plan describes a trial. Command lines are split as in a shell, but run without one. Placeholders in braces are
// replaced: {bin} by the program, {pgo} by the flag of the go command, {profile} by the file for a CPU profile,
// {dir} by the module's folder, {run} by the number of the run, {out} by an empty folder for the run.
type Plan struct {
	// Dir is the module's folder and the working directory of all commands. Package is the main package; "" if
	// the module has only one.
	Dir, Package string
	// Build is the command that builds {bin} with {pgo}; "": go build.
	Build string
	// Load is the command to measure: the program at work or, with Serve, a client that keeps the service busy.
	Load string
	// ProfileLoad replaces Load in runs that take a profile; "": Load.
	ProfileLoad string
	// Serve starts the program as a service, once per run. Ready is the URL or host:port that responds when the
	// service is up. PProf is the address of its profiles.
	Serve, Ready, PProf string
	// Profiles are files to build with, instead of profiles taken by the trial.
	Profiles []string

	// Pairs is the number of pairs of runs without and with PGO. Control is the number of pairs of the program
	// without PGO and a copy of it, which are run between the other pairs. Warmup is the number of runs of each
	// program that come first and are not counted.
	Pairs, Control, Warmup int
	// Rounds is the maximum number of runs that take profiles. Seconds is the window of a service's profile.
	Rounds, Seconds int
	// Events is the number of samples at which the trial stops taking profiles.
	Events int64
	// Timeout limits each build and each run. ReadyTimeout limits the start of a service.
	Timeout, ReadyTimeout time.Duration
	// Level and Effect have the same meaning as in bench.Options.
	Level, Effect float64
	// Seed determines the order of runs; 0: from the clock.
	Seed uint64
	// Force continues with profiles that are judged unfit.
	Force bool

	// Folder is the output folder.
	Folder string
	// Tool is the version of kitescope, for the files that are written.
	Tool string
	// Repeat is the command line that repeats the trial, without secrets.
	Repeat string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Defaults of a Plan.
const (
	DefaultPairs        = 20
	DefaultWarmup       = 1
	DefaultRounds       = 20
	DefaultSeconds      = 10
	DefaultEvents       = 2000 // minimum of pgo.Judge
	DefaultTimeout      = 10 * time.Minute
	DefaultReadyTimeout = 30 * time.Second
	maxPairs            = 10_000
)

// PlanError is a mistake in a Plan, as opposed to a failure of the program under trial.
type PlanError struct {
	Err    error
	Advice string
}

func (e *PlanError) Error() string { return e.Err.Error() }

// Hint implements hints.Hinter.
func (e *PlanError) Hint() string { return e.Advice }

// Unwrap returns the error without the hint.
func (e *PlanError) Unwrap() error { return e.Err }

func planError(hint, format string, args ...any) error {
	return &PlanError{fmt.Errorf(format, args...), hint}
}

// validate sets the defaults and validates the plan before anything is run.
func (p *Plan) validate() error {
	p.defaults()
	for _, path := range []*string{&p.Dir, &p.Folder} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	for i, path := range p.Profiles {
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		p.Profiles[i] = abs
	}
	for _, check := range []func() error{p.checkNumbers, p.checkLoad, p.checkLines, p.checkService, p.checkFiles} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) defaults() {
	set := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	set(&p.Pairs, DefaultPairs)
	set(&p.Rounds, DefaultRounds)
	set(&p.Seconds, DefaultSeconds)
	p.Events = cmp.Or(p.Events, DefaultEvents)
	p.Timeout = cmp.Or(p.Timeout, DefaultTimeout)
	p.ReadyTimeout = cmp.Or(p.ReadyTimeout, DefaultReadyTimeout)
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Folder = cmp.Or(p.Folder, "pgo-trial")
}

func (p *Plan) checkNumbers() error {
	switch {
	case p.Pairs < 1 || p.Pairs > maxPairs || p.Control < 0 || p.Control > maxPairs:
		return planError("", "pairs must be 1 to %d, pairs of the control 0 to %d", maxPairs, maxPairs)
	case p.Warmup < 0 || p.Rounds < 1 || p.Events < 0:
		return planError("", "rounds must be 1 or more, and warm-up runs and samples cannot be negative")
	case p.Seconds < 1 || p.Seconds > 3600:
		return planError("", "the window of a profile must be 1 to 3600 seconds, not %d", p.Seconds)
	case p.Timeout < 0 || p.ReadyTimeout < 0:
		return planError("", "a timeout cannot be negative")
	case p.Level < 0 || p.Level >= 1:
		return planError("the usual level is 0.05", "the level must be between 0 and 1, not %g", p.Level)
	}
	return nil
}

// checkLoad checks that there is a load to measure and a way to a CPU profile.
func (p *Plan) checkLoad() error {
	switch {
	case p.Load == "":
		return planError("--load '{bin} -cpuprofile {profile} ARG...'", "nothing to run: no load")
	case p.Serve == "" && !hasPlaceholder(p.Load, binPlaceholder):
		return planError("write {bin} in place of the program's name: --load '{bin} ARG...'",
			"the load does not run the program: it lacks {bin}")
	case p.Serve != "" && !hasPlaceholder(p.Serve, binPlaceholder):
		return planError("write {bin} in place of the program's name: --serve '{bin} ARG...'",
			"the service does not run the program: it lacks {bin}")
	case !p.canProfile() && len(p.Profiles) == 0:
		return planError("let the program write one: --profile-load '{bin} -cpuprofile {profile} ARG...'; a "+
			"service: --pprof http://127.0.0.1:6060; or give profiles: --profile FILE",
			"no source of CPU profiles: no {profile}, no --pprof, no --profile")
	}
	return nil
}

// checkFiles checks that the named files, folders and programs exist, before time is spent on a build.
func (p *Plan) checkFiles() error {
	if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
		return planError("", "--dir: no folder %s", p.Dir)
	}
	for _, path := range p.Profiles {
		switch info, err := os.Stat(path); {
		case err != nil:
			return planError("", "--profile: %w", err)
		case info.IsDir():
			return planError("merge its profiles first: kitescope pgo pack FOLDER -O packed.pgo",
				"--profile: %s is a folder", path)
		}
	}
	for _, x := range []struct{ flag, line string }{
		{"--build", p.Build}, {"--load", p.Load}, {"--profile-load", p.ProfileLoad}, {"--serve", p.Serve},
	} {
		words, err := splitWords(x.line)
		if err != nil || strings.Contains(words[0], "{") {
			continue
		}
		name := words[0]
		if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name) // the working directory of commands is Dir
		}
		if _, err := exec.LookPath(name); err != nil {
			return planError("for shell syntax use sh -c '...'; commands run in --dir", "%s: program %s not found",
				x.flag,
				words[0])
		}
	}
	return nil
}

// canProfile reports whether the trial can take profiles.
func (p *Plan) canProfile() bool {
	return p.PProf != "" || hasPlaceholder(p.profileLine(), profilePlaceholder) ||
		hasPlaceholder(p.Serve, profilePlaceholder)
}

// profileLine returns the load under which profiles are taken.
func (p *Plan) profileLine() string {
	if p.ProfileLoad != "" {
		return p.ProfileLoad
	}
	return p.Load
}

// profilesAlways reports whether the measured runs write profiles too.
func (p *Plan) profilesAlways() bool {
	return hasPlaceholder(p.Load, profilePlaceholder) || hasPlaceholder(p.Serve, profilePlaceholder)
}

func (p *Plan) checkLines() error {
	for _, x := range []struct{ flag, line string }{
		{"--build", p.Build}, {"--load", p.Load}, {"--profile-load", p.ProfileLoad}, {"--serve", p.Serve},
	} {
		if x.line == "" {
			continue
		}
		if _, err := splitWords(x.line); err != nil {
			return planError("for shell syntax: sh -c '...'", "%s is not a command line: %w", x.flag, err)
		}
	}
	switch {
	case hasPlaceholder(p.Load+p.ProfileLoad+p.Serve, pgoPlaceholder):
		return planError("a load takes {bin}, and {profile} where it profiles itself",
			"{pgo} belongs to --build: it is a flag of the go command")
	case p.Build == "":
		return nil
	case !hasPlaceholder(p.Build, binPlaceholder):
		return planError("for example: --build 'go build -o {bin} {pgo} ./cmd/x'",
			"the build command lacks {bin}, the place of the program")
	case !hasPlaceholder(p.Build, pgoPlaceholder):
		return planError("for example: --build 'go build -o {bin} {pgo} ./cmd/x'; elsewhere $KITESCOPE_PGO is "+
			"-pgo=FILE or -pgo=off", "the build does not use the profile: it has no {pgo}")
	}
	return nil
}

func (p *Plan) checkService() error {
	if p.Serve == "" {
		if p.Ready != "" || p.PProf != "" {
			return planError("start the program as a service: --serve '{bin} ARG...'",
				"--ready and --pprof need a service")
		}
		return nil
	}
	if p.PProf != "" {
		if _, err := pull.ParseTarget(p.PProf, ""); err != nil {
			return planError("for example: --pprof http://127.0.0.1:6060", "--pprof: %w", err)
		}
	}
	if p.Ready == "" {
		return planError("for example: --ready http://127.0.0.1:8080/health, or --ready 127.0.0.1:8080",
			"--ready is missing: it shows when the service is up")
	}
	if strings.Contains(p.Ready, "://") {
		if u, err := url.Parse(p.Ready); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return planError("for example: --ready http://127.0.0.1:8080/health", "--ready is not an http address")
		}
		return nil
	}
	if _, _, err := net.SplitHostPort(p.Ready); err != nil {
		return planError("for example: --ready 127.0.0.1:8080", "--ready is not an address or host:port")
	}
	return nil
}

// withoutSecrets returns the Plan without secrets.
func (p *Plan) withoutSecrets() Plan {
	s := *p
	for _, line := range []*string{&s.Build, &s.Load, &s.ProfileLoad, &s.Serve} {
		if *line != "" {
			*line = RedactLine(*line)
		}
	}
	s.Ready, s.PProf = redactWord(s.Ready), redactWord(s.PProf)
	return s
}
