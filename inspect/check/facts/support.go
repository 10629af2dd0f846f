package facts

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// MaySupport reports whether some session of the roles may support a call that was added in a release, and has not
// responded that it is unimplemented. A session of unknown version may support it.
func MaySupport(c *model.Cluster, major, minor int, method string, roles ...string) bool {
	return slices.ContainsFunc(c.Sessions, func(s *model.Session) bool {
		if !slices.Contains(roles, s.Role) || s.Standby || ParseRelease(s.Version).Before(Release{major, minor}) {
			return false
		}
		n := c.Runtime.LiveNode(s.Role, s.Node)
		return n == nil || !slices.ContainsFunc(n.Calls, func(x model.Call) bool {
			return x.Outcome == model.Unimplemented && strings.HasSuffix(x.Method, method)
		})
	})
}

// LacksPage reports whether streaming nodes are registered and a page about them, which MixCoord has in later 2.6
// and 3.0, was not read for any reason except that its release does not have it.
func LacksPage(c *model.Cluster, path string) bool {
	if !HasRole(c, "streamingnode") {
		return false
	}
	return !slices.ContainsFunc(c.Runtime.Processes, func(p *model.Process) bool {
		return slices.ContainsFunc(p.Calls, func(x model.Call) bool {
			return x.Method == "GET "+path && (x.Outcome == model.Answered || x.Outcome == model.Unimplemented)
		})
	})
}
