// Package preflight checks the effects of a Milvus upgrade or rollback before it is made. It takes a cluster and a
// Plan, and reports findings like all other checks.
//
// A Plan has the target version and the direction. Each check is in its own file, applies to one or both
// directions, and names its sources in its Doc. settings.tsv lists the keys of Milvus's configuration that differ
// between releases.
//
// The rules come from Milvus's code, documents and issues, and from real upgrades of 2.1 to 2.2. Nothing later than
// 2.3.5 was seen live.
package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

// Version is a version of Milvus, e.g. 2.6.22. Patch is -1 if it is unknown.
type Version struct {
	facts.Release
	Patch int
}

// ParseVersion parses a version: "3.0.2", "v2.6.22", or "3.0", whose patch is unknown.
func ParseVersion(text string) (Version, error) {
	bad := fmt.Errorf("%q is not a version of Milvus", text)
	list := strings.Split(strings.TrimPrefix(text, "v"), ".")
	if len(list) < 2 || len(list) > 3 {
		return Version{}, bad
	}
	numbers := [3]int{2: -1}
	for i, word := range list {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > 999 {
			return Version{}, bad
		}
		numbers[i] = n
	}
	return Version{facts.Release{Major: numbers[0], Minor: numbers[1]}, numbers[2]}, nil
}

// versionIn parses the beginning of a version reported by a session or derived from the layout of keys, e.g.
// "2.6.1-dev" or "2.2.9 to 2.3". It returns the zero Version if that fails.
func versionIn(text string) Version {
	v := Version{facts.ParseRelease(text), facts.ParsePatch(text)}
	if !v.Known() {
		return Version{}
	}
	return v
}

// Before reports whether v is known and older than other. Within one release, it returns false if either patch is
// unknown.
func (v Version) Before(other Version) bool {
	if c := cmp.Or(cmp.Compare(v.Major, other.Major), cmp.Compare(v.Minor, other.Minor)); c != 0 {
		return v.Known() && c < 0
	}
	return v.Known() && v.Patch >= 0 && other.Patch >= 0 && v.Patch < other.Patch
}

func (v Version) String() string {
	if v.Patch < 0 {
		return v.Release.String()
	}
	return v.Release.String() + "." + strconv.Itoa(v.Patch)
}

// since returns the version as the first to have a feature: only the release if the patch is 0.
func (v Version) since() string {
	if v.Patch == 0 {
		return v.Release.String()
	}
	return v.String()
}

// Plan is a change of version. From is the cluster's version, from its sessions or the layout of its keys.
type Plan struct {
	From, To Version
	Back     bool
}

// release returns a Release.
func release(major, minor int) facts.Release { return facts.Release{Major: major, Minor: minor} }

// crosses reports whether an upgrade goes from before r to r or later.
func (p Plan) crosses(r facts.Release) bool {
	return p.From.Release.Before(r) && !p.To.Release.Before(r)
}

// loses reports whether a rollback goes to a version before v.
func (p Plan) loses(v Version) bool { return p.Back && p.To.Before(v) }

// leaves reports whether a rollback goes from r or later to before r.
func (p Plan) leaves(r facts.Release) bool {
	return p.loses(Version{r, 0}) && !p.From.Release.Before(r)
}

// newest returns the newest release that the rules cover: Milvus's code and documents up to 3.0.1.
func newest() facts.Release { return release(3, 0) }

// releases returns the releases that the rules cover.
func releases() []facts.Release {
	return []facts.Release{
		release(2, 0), release(2, 1), release(2, 2), release(2, 3), release(2, 4), release(2, 5), release(2, 6),
		newest(),
	}
}

// whyUncovered returns the reason why the rules do not cover a plan, "" if they do.
func (p Plan) whyUncovered() string {
	for _, v := range []Version{p.From, p.To} {
		switch {
		case newest().Before(v.Release):
			return fmt.Sprintf("%s is not covered: the checks end with %s", v, newest())
		case !slices.Contains(releases(), v.Release):
			return fmt.Sprintf("release %s is not covered", v.Release)
		}
	}
	return ""
}

// Running returns the running version, as far as it is known. If several run, it returns the newest, because its
// records exist.
func Running(c *model.Cluster) Version {
	v := versionIn(c.Version.Text)
	for _, text := range c.Version.Others {
		if other := versionIn(text); v.Before(other) {
			v = other
		}
	}
	return v
}

// rule is a check that is not bound to a plan yet.
type rule struct {
	check.Check
	// forward and back are the directions that it applies to. anyVersion is set if it does not depend on the
	// versions.
	forward, back, anyVersion bool
	run                       func(*check.Pass, Plan)
}

// Checks returns the checks of a plan. The checks of the cluster's current state come first, because existing
// errors are to be fixed before any change of version.
func Checks(plan Plan) []*check.Check {
	return append(currentChecks(), changeChecks(plan)...)
}

// changeChecks returns the checks of the effects of the change of version, in the order of their documentation.
func changeChecks(plan Plan) []*check.Check {
	var list []*check.Check
	for _, r := range allRules() {
		if plan.Back && !r.back || !plan.Back && !r.forward {
			continue
		}
		x := r.Check
		x.Run = func(p *check.Pass) {
			if !plan.From.Known() {
				p.Skip("the running version is unknown")
				return
			}
			if why := plan.whyUncovered(); why != "" && !r.anyVersion {
				p.Skip(why)
				return
			}
			r.run(p, plan)
		}
		list = append(list, &x)
	}
	return list
}

// currentChecks returns the checks of diagnose, reduced to the findings to be fixed before the version changes: errors,
// and unfinished DDL, which a coordinator of another version may not resume.
func currentChecks() []*check.Check {
	var list []*check.Check
	for _, x := range rules.All() {
		unfinished := x.ID == "ddl-stuck"
		if x.Severity == check.Error || unfinished {
			list = append(list,
				x.Filter(func(f *check.Finding) bool { return f.Severity == check.Error || unfinished }))
		}
	}
	return list
}

// All returns the checks of both directions, for explain.
func All() []*check.Check {
	var list []*check.Check
	for _, r := range allRules() {
		x := r.Check
		list = append(list, &x)
	}
	return list
}

func allRules() []rule {
	return []rule{
		route, order, queue, settings, defaults, lostRecords, rewritten, newKinds, features, irreversible,
		indexVersions, tasks, access, space,
	}
}
