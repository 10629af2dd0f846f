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

// busyProfile is how many cores a process has to use for what it spends them on to matter: an idle one collects garbage, too.
const busyProfile = 0.1

// profiled are the processes whose profile of a kind is there, of some roles or of all. What lacks it is unseen.
func profiled(p *check.Pass, kind string, has func(*model.ProfiledProcess) (bool, string), roles ...string) []*model.ProfiledProcess {
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
	if len(list) == 0 { // the check skips, and says so
		return nil
	}
	for _, what := range missing {
		p.Unseen(what)
	}
	for _, what := range p.Profiles.Problems {
		p.Unseen(what)
	}
	unprofiled(p, roles)
	return list
}

// profiledGone reports whether a process has ended since, as its sessions tell: what it did is over.
func profiledGone(p *check.Pass, x *model.ProfiledProcess) bool {
	if len(x.Nodes) == 0 || p.Loaded&model.PartSessions == 0 || len(p.Sessions) == 0 {
		return false
	}
	return !slices.ContainsFunc(p.Sessions, func(s *model.Session) bool { return slices.Contains(x.Nodes, s.Node) })
}

// unprofiled notes sessions of which there is no profile at all. Where a folder does not tell of which sessions its profiles are, nothing can be said.
func unprofiled(p *check.Pass, roles []string) {
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
			p.Unseen("profile of " + s.Name() + ": not taken")
		}
	}
}

func hasCPUProfile(x *model.ProfiledProcess) (ok bool, reason string) {
	return x.CPU != nil, x.CPUReason
}

// stoppingProfile reports whether a session of the process is on its way out.
func stoppingProfile(p *check.Pass, x *model.ProfiledProcess) bool {
	return slices.ContainsFunc(p.Sessions, func(s *model.Session) bool { return s.Stopping && slices.Contains(x.Nodes, s.Node) })
}

// upSince is how long a process had been running when its profile was taken, -1 if nothing tells.
func upSince(p *check.Pass, x *model.ProfiledProcess) time.Duration {
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

// oldProfile is from when on profiles are of another time than the rest: what they show may be over.
const oldProfile = time.Hour

// reportProfiled reports what profiles show, with how far they are from the state of the cluster. What is far is information.
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
			f.Fix = slices.Concat(check.Fix(check.Shell(check.Kitescope("diagnose --profile 5s")).Does("takes new profiles: these are of another time than the rest")), f.Fix)
		}
	}
	p.Report(f)
}

// inProfiles is a command that reads the profiles that were judged: those of their folder, else new ones.
func inProfiles(p *check.Pass, c shellquote.Command) shellquote.Command {
	if p.Profiles.Location == "" {
		return c
	}
	return c.Arg(p.Profiles.Location)
}

// onNode is a command about one process.
func onNode(c shellquote.Command, x *model.ProfiledProcess) shellquote.Command {
	return c.Flag("--node", x.Name)
}

// coresFigure writes processor time per time: "0.29".
func coresFigure(v float64) check.Figure {
	if math.IsNaN(v) {
		return check.Figure{Text: "unknown"}
	}
	return check.Number(v, "cores", "%.2f")
}

// bounded writes a share with its bounds: "71.0% (68.1 to 73.8%)".
func bounded(s model.ProfileShare) string {
	if math.IsNaN(s.Low) {
		return words.Share(s.Part)
	}
	return fmt.Sprintf("%s (%.1f to %s)", words.Share(s.Part), 100*s.Low, words.Share(s.High))
}

// sampled says what a share rests on.
func sampled(name string, s model.ProfileShare, x *model.ProfiledProcess) check.Evidence {
	part := check.Part(s.Part)
	part.Text = bounded(s)
	return check.Measured(name, profileSource(x), "%s, %s of %s", part, check.N(s.Samples), check.Plural(x.CPU.Samples, "sample"))
}

// cpuEvidence is what every finding by CPU profiles has.
func cpuEvidence(x *model.ProfiledProcess) []check.Evidence {
	return []check.Evidence{
		check.Measured("CPU cores in use", profileSource(x), "%s", coresFigure(x.CPU.Cores)),
		check.Measured("sampled", profileSource(x), "%s over %s", check.Plural(x.CPU.Samples, "sample"), check.Span(x.CPU.Over)),
	}
}

func profileSource(x *model.ProfiledProcess) string { return x.Name + " CPU profile" }

// ofProcess links a finding to what others say of the same process: its node.
func ofProcess(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.Shares("nodes")(c, effect, cause)
}
