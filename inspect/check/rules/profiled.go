package rules

import (
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
)

// busyProfile is the minimum number of used cores for the profile of a process to matter. An idle process collects
// garbage, too.
const busyProfile = 0.1

// profiled returns the processes with a profile of a kind. If roles are given, it considers only processes of those
// roles. It notes processes without the profile as unseen, unless no process has one.
func profiled(
	p *check.Pass, kind string, has func(*model.ProfiledProcess) (bool, string), roles ...string,
) []*model.ProfiledProcess {
	var list []*model.ProfiledProcess
	var missing []string
	for _, x := range p.Profiles.Processes {
		if len(roles) > 0 && !slices.ContainsFunc(roles, x.Has) || profiledGone(p, x) {
			continue
		}
		switch ok, reason := has(x); {
		case ok:
			list = append(list, x)
		case reason != "":
			missing = append(missing, kind+" profile of "+x.Name+": "+reason)
		default:
			missing = append(missing, kind+" profile of "+x.Name+": not taken")
		}
	}
	if len(list) == 0 { // the caller skips the check
		return nil
	}
	for _, what := range missing {
		p.NoteUnseen(what)
	}
	for _, what := range p.Profiles.Problems {
		p.NoteUnseen(what)
	}
	noteUnprofiled(p, roles)
	return list
}

// profiledGone reports whether a process has ended since its profile was taken, i.e. has no session any more.
func profiledGone(p *check.Pass, x *model.ProfiledProcess) bool {
	if len(x.Nodes) == 0 || p.Loaded&model.PartSessions == 0 || len(p.Sessions) == 0 {
		return false
	}
	return !slices.ContainsFunc(p.Sessions, func(s *model.Session) bool { return slices.Contains(x.Nodes, s.Node) })
}

// noteUnprofiled notes sessions without any profile as unseen. It notes none if the sessions of a profile are unknown,
// as in some folders.
func noteUnprofiled(p *check.Pass, roles []string) {
	known := make(map[model.NodeID]bool)
	for _, x := range p.Profiles.Processes {
		if len(x.Nodes) == 0 {
			return
		}
		for _, id := range x.Nodes {
			known[id] = true
		}
	}
	for _, s := range p.Sessions {
		if !known[s.Node] && (len(roles) == 0 || slices.Contains(roles, s.Role)) {
			known[s.Node] = true
			p.NoteUnseen("profile of " + s.Name() + ": not taken")
		}
	}
}

func hasCPUProfile(x *model.ProfiledProcess) (ok bool, reason string) {
	return x.CPU != nil, x.CPUReason
}

// stoppingProfile reports whether a session of the process is stopping.
func stoppingProfile(p *check.Pass, x *model.ProfiledProcess) bool {
	return slices.ContainsFunc(p.Sessions, func(s *model.Session) bool {
		return s.Stopping && slices.Contains(x.Nodes, s.Node)
	})
}

// uptime returns the uptime of a process when its profile was taken, or -1 if it is unknown.
func uptime(p *check.Pass, x *model.ProfiledProcess) time.Duration {
	if p.Runtime == nil {
		return -1
	}
	at := p.Now
	if !p.Profiles.To.IsZero() {
		at = p.Profiles.To
	}
	for _, n := range p.Runtime.Nodes {
		if slices.Contains(x.Nodes, n.Node) {
			if from := n.StartedAt(); !from.IsZero() {
				return max(0, at.Sub(from))
			}
		}
	}
	return -1
}

// oldProfile is the time between the profiles and the read of the cluster from which the profiles may be outdated.
const oldProfile = time.Hour

// reportProfiled reports a finding from profiles. If the profiles are at least freshProfile apart from the read of the
// cluster, it adds that time as evidence. From oldProfile on, it lowers the severity to info.
func reportProfiled(p *check.Pass, f check.Finding) {
	if !p.Profiles.To.IsZero() && !p.Now.IsZero() {
		apart, text := p.Now.Sub(p.Profiles.To), " before the cluster was read"
		if apart < 0 {
			apart, text = p.Profiles.From.Sub(p.Now), " after the cluster was read"
		}
		if apart >= freshProfile {
			f.Evidence = append(f.Evidence, check.Fact("profiles taken", words.Span(apart)+text, p.Profiles.Location))
		}
		if apart >= oldProfile {
			f.Severity = min(f.Severity, check.Info)
			f.Fix = slices.Concat(check.Fix(check.Shell(check.Kitescope("diagnose --profile 5s")).
				Does("takes new profiles: these are from another time than the other data")), f.Fix)
		}
	}
	p.Report(f)
}

// inProfiles returns the command with the folder of the profiles, or unchanged if they are not from a folder.
func inProfiles(p *check.Pass, c shellquote.Command) shellquote.Command {
	if p.Profiles.Location == "" {
		return c
	}
	return c.Arg(p.Profiles.Location)
}

// onNode returns the command limited to one process.
func onNode(c shellquote.Command, x *model.ProfiledProcess) shellquote.Command {
	return c.Flag("--node", x.Name)
}

// coresFigure formats a number of used cores, e.g. "0.29". NaN is unknown.
func coresFigure(v float64) check.Figure {
	if math.IsNaN(v) {
		return check.Figure{Text: "unknown"}
	}
	return check.Number(v, "cores", "%.2f")
}

// bounded formats a share with its bounds, e.g. "71.0% (68.1 to 73.8%)".
func bounded(s model.ProfileShare) string {
	if math.IsNaN(s.Low) {
		return words.Share(s.Part)
	}
	return fmt.Sprintf("%s (%.1f to %s)", words.Share(s.Part), 100*s.Low, words.Share(s.High))
}

// sampled returns a share with its number of samples as evidence.
func sampled(name string, s model.ProfileShare, x *model.ProfiledProcess) check.Evidence {
	part := check.Percent(s.Part)
	part.Text = bounded(s)
	return check.Factf(name, profileSource(x), "%s, %s of %s", part, check.N(s.Samples),
		check.Plural(x.CPU.Samples, "sample"))
}

// cpuEvidence returns the evidence that every finding from a CPU profile has.
func cpuEvidence(x *model.ProfiledProcess) []check.Evidence {
	return []check.Evidence{
		check.Factf("CPU cores in use", profileSource(x), "%s", coresFigure(x.CPU.Cores)),
		check.Factf("sampled", profileSource(x), "%s over %s", check.Plural(x.CPU.Samples, "sample"),
			check.Span(x.CPU.Period)),
	}
}

func profileSource(x *model.ProfiledProcess) string { return x.Name + " CPU profile" }

// ofProcess reports whether two findings share a node, i.e. are about the same process.
func ofProcess(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.Shares("nodes")(c, effect, cause)
}
