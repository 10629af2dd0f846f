package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// Release is a minor version of Milvus: 2.3. The zero release is unknown.
type Release struct{ Major, Minor int }

// ParseRelease reads the beginning of a version: "2.3.5", "v2.6.1-dev", "2.2.9 or newer".
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

// ParsePatch reads the third number of a version, -1 if there is none: 22 of 2.6.22.
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

// ReleaseOf is the version that a cluster runs, as far as sessions or the layout of its keys tell.
func ReleaseOf(c *model.Cluster) Release { return ParseRelease(c.Version.Text) }

// NewestRelease is the newest version of any session. While an upgrade rolls, what it writes is there before most processes
// are of it. The last version that a stopping process may leave behind counts, too.
func NewestRelease(c *model.Cluster) Release {
	newest := ReleaseOf(c)
	for _, text := range c.Version.Others {
		if r := ParseRelease(text); newest.Before(r) {
			newest = r
		}
	}
	return newest
}

// Known reports whether anything told the version.
func (r Release) Known() bool { return r != Release{} }

// Before reports whether r is known and older than another.
func (r Release) Before(other Release) bool {
	return r.Known() && cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor)) < 0
}

func (r Release) String() string { return strconv.Itoa(r.Major) + "." + strconv.Itoa(r.Minor) }

// IsLegacy reports whether Milvus 2.1 or older runs on the metadata: it has no checkpoints of channels, and
// records of its own for indexes and load states.
func IsLegacy(c *model.Cluster) bool { return ReleaseOf(c).Before(Release{2, 2}) }

// Alive reports whether any process is registered. A file that was taken of a stopped cluster has nobody
// who could have done what is found undone.
func Alive(c *model.Cluster) bool { return len(c.Sessions) > 0 }

// Builders are the sessions that build indexes: index nodes, and from 2.6 on data nodes. While an upgrade to 2.6 is under way both do.
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
