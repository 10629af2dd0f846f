// Package preflight judges what a change of Milvus's version would do to a cluster, before anybody makes it. What enters are a cluster as
// checks see it and a Plan; what leaves are findings like those of all other checks.
//
//  1. A Plan says which version is wanted, and whether that is a way forward or back.
//  2. Checks are the questions of one direction, a file each; each names in its Doc the source of what it knows.
//  3. settings.tsv has the keys of Milvus's configuration that differ between releases.
//
// What is known comes from Milvus's code, documents and issues, and from real upgrades of 2.1 to 2.2; nothing later than 2.3.5 was ever
// seen live.
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

// Version is a version of Milvus: 2.6.22. Patch is -1 where it is not known.
type Version struct {
	facts.Release
	Patch int
}

// ParseVersion reads "3.0.2", "v2.6.22", or "3.0", whose patch is not known.
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

// versionIn reads the beginning of what a session or the layout of keys tells: "2.6.1-dev", "2.2.9 to 2.3"; the zero Version if nothing.
func versionIn(text string) Version {
	v := Version{facts.ParseRelease(text), facts.ParsePatch(text)}
	if !v.Known() {
		return Version{}
	}
	return v
}

// Before reports whether v is known and older; an unknown patch is older than none of its release.
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

// since is the version as the first that has something: its release where that is as old.
func (v Version) since() string {
	if v.Patch == 0 {
		return v.Release.String()
	}
	return v.String()
}

// Plan is a change of version. From is of the cluster: its sessions, or the layout of its keys.
type Plan struct {
	From, To Version
	Back     bool
}

// release is shorthand for a Release.
func release(major, minor int) facts.Release { return facts.Release{Major: major, Minor: minor} }

// crosses reports whether the way forward leads over the border to a release.
func (p Plan) crosses(r facts.Release) bool {
	return p.From.Release.Before(r) && !p.To.Release.Before(r)
}

// loses reports whether the way back leads below a version.
func (p Plan) loses(v Version) bool { return p.Back && p.To.Before(v) }

// leaves reports whether the way back leads over the border of a release.
func (p Plan) leaves(r facts.Release) bool {
	return p.loses(Version{r, 0}) && !p.From.Release.Before(r)
}

// newest is the newest release that the rules are about: Milvus's code and documents up to 3.0.1.
func newest() facts.Release { return release(3, 0) }

// releases are those that the rules know.
func releases() []facts.Release {
	return []facts.Release{release(2, 0), release(2, 1), release(2, 2), release(2, 3), release(2, 4), release(2, 5), release(2, 6), newest()}
}

// unknown says why nothing is known of a plan, "" if something is.
func (p Plan) unknown() string {
	for _, v := range []Version{p.From, p.To} {
		switch {
		case newest().Before(v.Release):
			return fmt.Sprintf("nothing is known of %s: the rules end with %s", v, newest())
		case !slices.Contains(releases(), v.Release):
			return fmt.Sprintf("nothing is known of a release %s", v.Release)
		}
	}
	return ""
}

// Running is the version that runs, as far as anything tells: of several the newest, whose records are there.
func Running(c *model.Cluster) Version {
	v := versionIn(c.Version.Text)
	for _, text := range c.Version.Others {
		if other := versionIn(text); v.Before(other) {
			v = other
		}
	}
	return v
}

// rule is a check before it is known which plan it is for.
type rule struct {
	check.Check
	// forward and back say for which directions it is; whatever says that it is the same for every version.
	forward, back, whatever bool
	run                     func(*check.Pass, Plan)
}

// Checks returns the checks of a plan. First come those of the cluster as it is: what is broken now stands against any change of
// version.
func Checks(plan Plan) []*check.Check {
	return append(standing(), changes(plan)...)
}

// changes returns the checks of what the change of version does, in the order of their documentation.
func changes(plan Plan) []*check.Check {
	var list []*check.Check
	for _, r := range questions() {
		if plan.Back && !r.back || !plan.Back && !r.forward {
			continue
		}
		x := r.Check
		x.Run = func(p *check.Pass) {
			if !plan.From.Known() {
				p.Skip("the running version is unknown")
				return
			}
			if why := plan.unknown(); why != "" && !r.whatever {
				p.Skip(why)
				return
			}
			r.run(p, plan)
		}
		list = append(list, &x)
	}
	return list
}

// standing returns the checks that diagnose runs, reduced to the findings that are to be fixed before the version changes: errors, and
// DDL that has not ended, which a coordinator of another version may not take up.
func standing() []*check.Check {
	var list []*check.Check
	for _, x := range rules.All() {
		unfinished := x.ID == "ddl-stuck"
		if x.Severity == check.Error || unfinished {
			list = append(list, x.Filter(func(f *check.Finding) bool { return f.Severity == check.Error || unfinished }))
		}
	}
	return list
}

// All are the checks of both directions, to be explained.
func All() []*check.Check {
	var list []*check.Check
	for _, r := range questions() {
		x := r.Check
		list = append(list, &x)
	}
	return list
}

func questions() []rule {
	return []rule{route, order, queue, settings, defaults, lostRecords, rewritten, newKinds, features, doors, indexVersions, tasks, access, space}
}
