package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// Release is a minor version of Milvus, e.g. 2.3. The zero value is an unknown release.
type Release struct{ Major, Minor int }

// ParseRelease parses the beginning of a version, e.g. "2.3.5", "v2.6.1-dev" or "2.2.9 or newer". It returns the
// zero Release if it fails.
func ParseRelease(text string) Release {
	first, rest, ok := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	major, err := strconv.Atoi(first)
	if !ok || err != nil {
		return Release{}
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	minor, err := strconv.Atoi(rest[:end])
	if err != nil {
		return Release{}
	}
	return Release{major, minor}
}

// ParsePatch returns the third number of a version, e.g. 22 for 2.6.22, or -1 if it has none.
func ParsePatch(text string) int {
	r := ParseRelease(text)
	_, rest, ok := strings.Cut(text, r.String()+".")
	if !r.Known() || !ok {
		return -1
	}
	end := strings.IndexFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })
	patch, err := strconv.Atoi(rest[:end])
	if err != nil {
		return -1
	}
	return patch
}

// ReleaseOf returns the release that a cluster runs, as far as its sessions or the layout of its keys show it.
func ReleaseOf(c *model.Cluster) Release { return ParseRelease(c.Version.Text) }

// NewestRelease returns the newest release of any session. During a rolling upgrade the newest release writes its
// records before most processes run it. The versions that stopping processes leave behind count, too.
func NewestRelease(c *model.Cluster) Release {
	newest := ReleaseOf(c)
	for _, text := range c.Version.Others {
		if r := ParseRelease(text); newest.Before(r) {
			newest = r
		}
	}
	return newest
}

// Known reports whether the release is known.
func (r Release) Known() bool { return r != Release{} }

// Before reports whether r is known and older than other.
func (r Release) Before(other Release) bool {
	return r.Known() && cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor)) < 0
}

func (r Release) String() string { return strconv.Itoa(r.Major) + "." + strconv.Itoa(r.Minor) }

// IsLegacy reports whether the cluster runs Milvus 2.1 or older, which has no channel checkpoints and has its own
// records for indexes and load states.
func IsLegacy(c *model.Cluster) bool { return ReleaseOf(c).Before(Release{2, 2}) }

// Alive reports whether any process is registered. The file of a stopped cluster has no process that could complete
// work found undone.
func Alive(c *model.Cluster) bool { return len(c.Sessions) > 0 }

// Builders returns the sessions that build indexes and are not stopping: index nodes, and since 2.6 data nodes.
// During an upgrade to 2.6 both build.
func Builders(c *model.Cluster) []*model.Session {
	roles := []string{"indexnode"}
	if DataNodesBuild(c) {
		roles = append(roles, "datanode")
	}
	var list []*model.Session
	for _, s := range c.Sessions {
		if slices.Contains(roles, s.Role) && !s.Stopping {
			list = append(list, s)
		}
	}
	return list
}

// HasRole reports whether a session of a role is registered.
func HasRole(c *model.Cluster, role string) bool {
	for _, s := range c.Sessions {
		if s.Role == role {
			return true
		}
	}
	return false
}
