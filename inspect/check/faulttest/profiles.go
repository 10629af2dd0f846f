package faulttest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/profile/significance"
)

// profiled implements "profile NODE [WHAT=VALUE]...": the results of profiles. On first use a process gets
// the profiles of a healthy one. Later lines change some of the values.
func (w *World) profiled(args []word) error {
	list, err := w.recordsOf(args[0].text)
	if err != nil {
		return err
	}
	if w.profiles == nil {
		w.profiles = &model.Profiles{From: w.now.Add(-15 * time.Second), To: w.now}
	}
	seen := make(map[string]bool)
	for _, r := range list {
		name := sessionName(r)
		if seen[name] || r.Node == 0 {
			continue
		}
		seen[name] = true
		i := slices.IndexFunc(w.profiles.Processes, func(x *model.ProfiledProcess) bool { return x.Name == name })
		if i < 0 {
			i = len(w.profiles.Processes)
			w.profiles.Processes = append(w.profiles.Processes, healthyProfile(name, r.Role, r.Node))
		}
		for _, a := range args[1:] {
			if err := setProfile(w.profiles.Processes[i], a.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// profiledWindow is the duration of CPU profiles in cases, with 100 samples per second.
const profiledWindow = 15 * time.Second

// healthyProfile returns the profiles of a healthy process: 0.3 cores, and two dumps of its goroutines.
func healthyProfile(name, role string, id model.NodeID) *model.ProfiledProcess {
	c := &model.CPUProfile{
		Period: profiledWindow, Samples: 450, Cores: 0.3, Load: model.LoadEven, Others: 0.3, Peers: 3,
	}
	c.GC, c.LockWait, c.OpenMP, c.Knowhere = newShare(c.Samples, 0.05), newShare(c.Samples, 0.01),
		newShare(c.Samples, 0.05), newShare(c.Samples, 0.4)
	brute := newShare(c.Samples, 0.05)
	c.BruteForce = &brute
	return &model.ProfiledProcess{
		Name: name, Roles: []string{role}, Nodes: []model.NodeID{id}, CPU: c, MutexReason: "",
		Goroutines: &model.GoroutineDumps{Dumps: 2, Before: 400, After: 410},
	}
}

// newShare returns a share with its confidence interval.
func newShare(samples int64, part float64) model.ProfileShare {
	hits := int64(math.Round(part * float64(samples)))
	s := model.ProfileShare{Samples: hits, Part: float64(hits) / float64(samples)}
	s.Low, s.High = significance.ShareInterval(hits, samples)
	return s
}

func setProfile(x *model.ProfiledProcess, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("profile wants WHAT=VALUE, not %q", text)
	}
	switch name {
	case "missing":
		x.CPU, x.CPUReason = nil, value
		return nil
	case "load":
		return setProfileLoad(x.CPU, value)
	case "brute":
		if value == "unknown" {
			x.CPU.BruteForce, x.CPU.BruteReason = nil, "libknowhere has no symbols"
			return nil
		}
	case "grown":
		return setGrown(x, value)
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("profile %s: %w", name, err)
	}
	return setProfileNumber(x, name, v)
}

func setProfileNumber(x *model.ProfiledProcess, name string, v float64) error {
	c := x.CPU
	if c == nil && name != "waiting" && name != "dumps" {
		return fmt.Errorf("profile %s: its CPU profile is missing", name)
	}
	switch name {
	case "cores":
		old := c.Samples
		c.Cores, c.Samples = v, int64(math.Round(v*100*profiledWindow.Seconds()))
		for _, s := range []*model.ProfileShare{&c.GC, &c.LockWait, &c.OpenMP, &c.Knowhere, c.BruteForce} {
			if s != nil && old > 0 && c.Samples > 0 {
				*s = newShare(c.Samples, s.Part)
			}
		}
	case "gc":
		c.GC = newShare(c.Samples, v)
	case "locks":
		c.LockWait = newShare(c.Samples, v)
	case "openmp":
		c.OpenMP = newShare(c.Samples, v)
	case "brute":
		share := newShare(c.Samples, v)
		c.BruteForce = &share
	case "waiting":
		x.Mutex = &model.MutexProfile{
			Period: profiledWindow, Enabled: true, Waiting: v,
			Where: []model.WaitPlace{{Function: "sync.(*Mutex).Unlock", Part: 1}},
		}
	case "dumps":
		x.Goroutines.Dumps = int(v)
		x.Goroutines.To = x.Goroutines.From.Add(time.Duration(v-1) * 10 * time.Minute)
	default:
		return fmt.Errorf("profiles have no %q", name)
	}
	return nil
}

// setProfileLoad parses "idle" or "idle:0.29", where the number is the use of the others in cores.
func setProfileLoad(c *model.CPUProfile, value string) error {
	word, others, told := strings.Cut(value, ":")
	i := slices.Index([]string{"unknown", "even", "low", "idle", "high"}, word)
	if c == nil || i < 0 {
		return fmt.Errorf("no load %q", value)
	}
	c.Load = model.ProfileLoad(i)
	if !told {
		return nil
	}
	var err error
	c.Others, err = strconv.ParseFloat(others, 64)
	return err
}

// setGrown parses "FUNCTION:10..400".
func setGrown(x *model.ProfiledProcess, value string) error {
	at := strings.LastIndexByte(value, ':')
	var before, after int64
	if n, err := fmt.Sscanf(value[at+1:], "%d..%d", &before, &after); at < 0 || n != 2 || err != nil {
		return fmt.Errorf("grown wants FUNCTION:BEFORE..AFTER, not %q", value)
	}
	d := x.Goroutines
	d.After = d.Before + after - before
	d.Grown = append(d.Grown, model.GrownStack{
		Function: value[:at], Entry: value[:at], Frames: []string{"runtime.gopark", value[:at]}, Before: before,
		After: after, Steady: true,
		P: significance.EqualRatesP(before, 1, after, 1),
	})
	return nil
}
