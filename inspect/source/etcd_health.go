package source

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/status"

	"kitescope/inspect/model"
)

// member is one etcd member with its id. id is 0 if the endpoint did not respond and is not a client URL of any
// member.
type member struct {
	model.EtcdMember
	id uint64
}

// Alive requests one key, which need not exist, to check that etcd can currently read. It returns an error if
// ctx ends before the response, or if etcd reports that it cannot read. A denied permission counts as a
// response.
func (s *Etcd) Alive(ctx context.Context) error {
	r, err := s.connect(ctx)
	if err == nil {
		_, err = s.revision(ctx, r)
	}
	if err == nil || errors.Is(err, rpctypes.ErrPermissionDenied) {
		return nil
	}
	return s.explain(ctx, "read", err)
}

// Health requests the status of every configured endpoint, and of every other member at its advertised address.
// It returns an error only if it cannot connect at all.
func (s *Etcd) Health(ctx context.Context) (*model.Etcd, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	h := &model.Etcd{At: s.opts.now()}
	var timing sync.WaitGroup
	timing.Go(func() { h.Linear, h.Local = s.timeReads(ctx, r) })
	var members []member
	timing.Go(func() { members = s.requestStatus(ctx, r, s.address.endpoints()) })
	// Without a quorum, and for some roles, etcd does not list its members. Then only the configured endpoints
	// are known.
	listed, listErr := r.memberList(ctx)
	timing.Wait()
	nameMembers(members, listed)
	var others []string
	for _, m := range listed {
		known := slices.ContainsFunc(members, func(have member) bool { return have.id == m.ID })
		if urls := m.ClientURLs; !known && len(urls) > 0 {
			others = append(others, urls[0])
		} else if !known {
			h.Members = append(h.Members, model.EtcdMember{
				Name: m.Name, Learner: m.IsLearner, Problem: "has not joined yet: no address",
			})
		}
	}
	rest := s.requestStatus(ctx, r, others)
	nameMembers(rest, listed)
	for _, m := range append(members, rest...) {
		h.Members = append(h.Members, m.EtcdMember)
	}
	slices.SortStableFunc(h.Members, func(a, b model.EtcdMember) int {
		return strings.Compare(a.Name+"\x00"+a.Endpoint, b.Name+"\x00"+b.Endpoint)
	})
	h.Reads = s.readTimes.take()
	h.Problem = problemOf(h.Members, listErr)
	h.Elsewhere = s.orphanSessions(ctx, r)
	return h, nil
}

// maxOrphanSessions is the maximum number of sessions listed for one root without a cluster.
const maxOrphanSessions = 100

// orphanSessions returns the keys of sessions under roots without a cluster. It omits roots that cannot be read.
func (s *Etcd) orphanSessions(ctx context.Context, r *reader) (keys []string) {
	s.mu.Lock()
	roots := s.registered
	s.mu.Unlock()
	for _, root := range roots {
		p, err := r.rangePage(ctx, rangeRequest{
			keys: Prefix(root.prefix() + "session/"), limit: maxOrphanSessions, keysOnly: true,
		})
		if err != nil {
			continue
		}
		_ = p.each(func(kv KV) error { // the keys before a damaged one are valid
			if key := string(kv.Key); key != root.prefix()+sessionID {
				keys = append(keys, key)
			}
			return nil
		})
	}
	return keys
}

// timeReads measures a few reads of a key: linearizable reads, which need a majority of the members, and
// serializable reads from a single member. A denied read takes as long and counts. Other failed reads count
// only if the deadline ended them.
func (s *Etcd) timeReads(ctx context.Context, r *reader) (linear, local []time.Duration) {
	const times = 3
	ctx, cancel := context.WithTimeout(ctx, s.opts.dialTimeout())
	defer cancel()
	alone := *r
	alone.serializable = true
	one := rangeRequest{keys: Range{From: "health", To: "health\x00"}, limit: 1, keysOnly: true}
	timed := func(by *reader) (took []time.Duration) {
		for range times {
			start := time.Now()
			_, err := by.rangePage(ctx, one)
			if err == nil || errors.Is(err, rpctypes.ErrPermissionDenied) || errors.Is(err, context.DeadlineExceeded) {
				took = append(took, time.Since(start))
			}
			if ctx.Err() != nil {
				break
			}
		}
		return took
	}
	var reading sync.WaitGroup
	reading.Go(func() { local = timed(&alone) })
	linear = timed(r)
	reading.Wait()
	return linear, local
}

// requestStatus requests the status of all endpoints in parallel.
func (s *Etcd) requestStatus(ctx context.Context, r *reader, endpoints []string) []member {
	ctx, cancel := context.WithTimeout(ctx, s.opts.dialTimeout())
	defer cancel()
	members := make([]member, len(endpoints))
	var wg sync.WaitGroup
	for i, endpoint := range endpoints {
		wg.Go(func() {
			st, err := r.memberStatus(ctx, endpoint)
			members[i] = memberOf(endpoint, st, err)
		})
	}
	wg.Wait()
	// Several endpoints may lead to one member: count it once.
	var distinct []member
	for _, m := range members {
		if m.id == 0 || !slices.ContainsFunc(distinct, func(have member) bool { return have.id == m.id }) {
			distinct = append(distinct, m)
		}
	}
	return distinct
}

func memberOf(endpoint string, st *pb.StatusResponse, err error) member {
	m := member{EtcdMember: model.EtcdMember{Endpoint: endpoint}}
	if err != nil {
		m.Problem = "no response from here"
		if text := status.Convert(err).Message(); text != "" && !strings.Contains(text, "deadline exceeded") {
			m.Problem += ": " + text
		}
		return m
	}
	m.id = st.Header.GetMemberId()
	m.Version, m.Learner, m.Errors = st.Version, st.IsLearner, safeTexts(st.Errors)
	m.Leader = st.Leader != 0 && st.Leader == m.id
	m.DBSize, m.DBInUse, m.DBQuota = st.DbSize, st.DbSizeInUse, st.DbSizeQuota
	return m
}

// nameMembers sets the names of members from the member list, by address for members that did not respond.
func nameMembers(members []member, listed []*pb.Member) {
	for i := range members {
		m := &members[i]
		for _, l := range listed {
			switch {
			case m.Problem != "" && slices.Contains(l.ClientURLs, m.Endpoint):
				m.id, m.Name, m.Learner = l.ID, l.Name, l.IsLearner
			case m.Problem == "" && l.ID == m.id:
				m.Name = l.Name
			}
		}
	}
}

// problemOf returns the problem of the members as a whole, or "" if none is known.
func problemOf(members []model.EtcdMember, listErr error) string {
	answered, leaders := 0, 0
	for _, m := range members {
		if m.Problem == "" {
			answered++
		}
		if m.Leader {
			leaders++
		}
	}
	switch {
	case answered == 0:
		return "no member responds"
	case leaders > 1:
		return "members disagree on the leader"
	case leaders == 0 && answered == len(members):
		return "no leader"
	case listErr != nil:
		return "members could not be listed: " + status.Convert(listErr).Message()
	}
	return ""
}
