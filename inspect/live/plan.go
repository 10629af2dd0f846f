package live

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"kitescope/inspect/model"
)

// plan holds the servers to query and the calls to make, derived from the metadata.
type plan struct {
	servers    []*server
	sessionsOf map[model.NodeID][]*session
	loaded     []model.CollectionID // that should be in memory
	groups     []string             // resource groups
	segments   []model.SegmentID    // that are not flushed
	topics     []string             // pchannels
	cluster    string               // the cluster name, or "" if it is not known for certain
	queue      queueHint
	skipped    []model.Skipped
}

// server is one gRPC address and the sessions that have it.
type server struct {
	address  string
	sessions []*session
	// spent is the time already spent on it.
	spent time.Duration
}

// session is a session together with its inquiries.
type session struct {
	*model.Session
	server    *server
	inquiries []inquiry
}

// Bounds of an Ask. Anything beyond is reported as skipped.
const (
	maxSegmentsAsked = 100_000
	maxCollections   = 10_000
)

func newPlan(c *model.Cluster) *plan {
	p := &plan{cluster: clusterKey(c), queue: hintOf(c), sessionsOf: map[model.NodeID][]*session{}}
	for _, l := range c.LoadStates {
		p.loaded = append(p.loaded, l.Collection)
	}
	slices.Sort(p.loaded)
	p.loaded = slices.Compact(p.loaded)
	for _, g := range c.ResourceGroups {
		if utf8.ValidString(g.Name) {
			p.groups = append(p.groups, g.Name)
		}
	}
	for _, ch := range c.PChannels {
		p.topics = append(p.topics, ch.Name)
	}
	for _, v := range c.VChannels {
		if v.PChannel != "" {
			p.topics = append(p.topics, v.PChannel)
		}
	}
	slices.Sort(p.topics)
	p.topics = slices.Compact(p.topics)
	for _, s := range c.Segments {
		if s.State == model.SegmentGrowing || s.State == model.SegmentSealed || s.State == model.SegmentFlushing {
			p.segments = append(p.segments, s.ID)
		}
	}
	p.bound()
	p.addServers(c.Sessions)
	return p
}

func (p *plan) bound() {
	if n := len(p.loaded); n > maxCollections {
		p.skip(fmt.Sprintf("%d of %d loaded collections", n-maxCollections, n), "more than are queried at once")
		p.loaded = p.loaded[:maxCollections]
	}
	if n := len(p.segments); n > maxSegmentsAsked {
		p.skip(fmt.Sprintf("DataCoord's state of %d of %d unflushed segments", n-maxSegmentsAsked, n),
			"more than are queried at once")
		p.segments = p.segments[:maxSegmentsAsked]
	}
}

func (p *plan) skip(what, reason string) {
	p.skipped = append(p.skipped, model.Skipped{What: what, Reason: reason})
}

func (p *plan) addServers(sessions []*model.Session) {
	byAddress := map[string]*server{}
	for _, s := range sessions {
		if s.Address == "" {
			p.skip(s.Name(), "its session has no address")
			continue
		}
		inquiries := p.inquiries(s)
		if len(inquiries) == 0 {
			p.skip(s.Name(), fmt.Sprintf("no request is known for the role %q", s.Role))
			continue
		}
		at := byAddress[s.Address]
		if at == nil {
			at = &server{address: s.Address}
			byAddress[s.Address] = at
			p.servers = append(p.servers, at)
		}
		x := &session{s, at, inquiries}
		if slices.ContainsFunc(at.sessions, func(had *session) bool {
			return had.Role == s.Role && had.Node == s.Node
		}) {
			continue // registered twice
		}
		at.sessions = append(at.sessions, x)
		p.sessionsOf[s.Node] = append(p.sessionsOf[s.Node], x)
	}
	slices.SortFunc(p.servers, func(a, b *server) int { return cmp.Compare(a.address, b.address) })
}

// clusterKey returns common.chanNamePrefix.cluster, which all processes of a cluster share. No key of the
// metadata holds it, but pchannels are named after it: X-rootcoord-dml_0. It returns "" if they disagree or
// have other names, and no name is sent.
func clusterKey(c *model.Cluster) string {
	name := regexp.MustCompile(`^([^/]+)-rootcoord-dml_\d+$`)
	key := ""
	same := func(pchannel string) bool {
		m := name.FindStringSubmatch(pchannel)
		if m == nil || key != "" && m[1] != key || !printable(m[1]) {
			return false
		}
		key = m[1]
		return true
	}
	for _, p := range c.PChannels {
		if !same(p.Name) {
			return ""
		}
	}
	for _, v := range c.VChannels {
		if v.PChannel != "" && !same(v.PChannel) {
			return ""
		}
	}
	return key
}

// printable reports whether text is a valid value of gRPC metadata.
func printable(text string) bool {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return true
}
