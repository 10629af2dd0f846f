package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// release is a minor version of Milvus: 2.3. The zero release is unknown.
type release struct{ major, minor int }

// parseRelease reads the beginning of a version: "2.3.5", "v2.6.1-dev", "2.2.9 or newer".
func parseRelease(text string) release {
	first, rest, ok := strings.Cut(strings.TrimPrefix(text, "v"), ".")
	major, err := strconv.Atoi(first)
	if !ok || err != nil {
		return release{}
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	minor, err := strconv.Atoi(rest[:end])
	if err != nil {
		return release{}
	}
	return release{major, minor}
}

// releaseOf is the version that a cluster runs, as far as sessions or the layout of its keys tell.
func releaseOf(c *model.Cluster) release { return parseRelease(c.Version.Text) }

// newestRelease is the newest version of any session. While an upgrade rolls, what it writes is there before most processes
// are of it. The last version that a stopping process may leave behind counts, too.
func newestRelease(c *model.Cluster) release {
	newest := releaseOf(c)
	for _, text := range c.Version.Others {
		if r := parseRelease(text); newest.before(r) {
			newest = r
		}
	}
	return newest
}

func (r release) known() bool { return r != release{} }

// before reports whether r is known and older than another.
func (r release) before(other release) bool {
	return r.known() && cmp.Or(cmp.Compare(r.major, other.major), cmp.Compare(r.minor, other.minor)) < 0
}

func (r release) String() string { return strconv.Itoa(r.major) + "." + strconv.Itoa(r.minor) }

// legacy reports whether Milvus 2.1 or older runs on the metadata: it has no checkpoints of channels, and
// records of its own for indexes and load states.
func legacy(c *model.Cluster) bool { return releaseOf(c).before(release{2, 2}) }

// alive reports whether any process is registered. A file that was taken of a stopped cluster has nobody
// who could have done what is found undone.
func alive(c *model.Cluster) bool { return len(c.Sessions) > 0 }

// builders are the sessions that build indexes: index nodes, and from 2.6 on data nodes. While an upgrade to 2.6 is under way both do.
func builders(c *model.Cluster) []*model.Session {
	roles := []string{"indexnode"}
	if dataNodesBuild(c) {
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

func hasRole(c *model.Cluster, role string) bool {
	for _, s := range c.Sessions {
		if s.Role == role {
			return true
		}
	}
	return false
}
