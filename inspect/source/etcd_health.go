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
)

// Health is what the members of an etcd say about themselves.
type Health struct {
	// Taken is when they were asked.
	Taken time.Time
	// Members are in order of name, then endpoint.
	Members []Member
	// Leader is the id of the leader that the answering members agree on, 0 if
	// they know none or disagree.
	Leader uint64
	// Problem is what is wrong with the cluster as a whole, "" if nothing is known.
	Problem string
}

// Member is one etcd member.
type Member struct {
	// ID is 0 for an endpoint that did not answer and is nobody's client URL.
	ID uint64
	// Name is the member's --name, "" if it has not started yet or is unknown.
	Name string
	// Endpoint is where it was asked.
	Endpoint string
	// Version is the server's, "3.5.9"; "" if it did not answer.
	Version string
	Leader  bool
	Learner bool
	// DBSize, DBInUse and DBQuota are bytes. DBQuota is 0 where the server does
	// not report it (before etcd 3.6).
	DBSize, DBInUse, DBQuota int64
	// RaftIndex is the member's committed, RaftApplied its applied raft index.
	RaftIndex, RaftApplied uint64
	// Errors are alarms and faults in etcd's words: "NOSPACE", "etcdserver: no leader".
	Errors []string
	// Problem says why there is no answer, "" if there is one. A member that
	// cannot be reached from here may be well.
	Problem string
}

// Alive asks etcd for one key, which need not exist: what is read now would come from an etcd that works. It fails when ctx
// ends before there is an answer, and when etcd says that it cannot read. That this account may not is an answer.
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

// Health asks every configured endpoint, and every other member at its
// advertised address, for its status. It fails only if nothing can be asked at all.
func (s *Etcd) Health(ctx context.Context) (Health, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return Health{}, err
	}
	// Beside the endpoints that were given: without a quorum, and for some roles,
	// etcd does not list its members. Their own answers then are all there is.
	listed, listErr := r.memberList(ctx)
	h := Health{Taken: s.opts.now()}
	h.Members = s.askMembers(ctx, r, s.address.endpoints(), listed)
	var others []string
	for _, m := range listed {
		known := slices.ContainsFunc(h.Members, func(have Member) bool { return have.ID == m.ID })
		if urls := m.ClientURLs; !known && len(urls) > 0 {
			others = append(others, urls[0])
		} else if !known {
			h.Members = append(h.Members, Member{ID: m.ID, Name: m.Name, Learner: m.IsLearner, Problem: "has not joined yet: no address"})
		}
	}
	h.Members = append(h.Members, s.askMembers(ctx, r, others, listed)...)
	slices.SortStableFunc(h.Members, func(a, b Member) int {
		return strings.Compare(a.Name+"\x00"+a.Endpoint, b.Name+"\x00"+b.Endpoint)
	})
	h.conclude(listErr)
	return h, nil
}

// askMembers asks endpoints at the same time.
func (s *Etcd) askMembers(ctx context.Context, r *reader, endpoints []string, listed []*pb.Member) []Member {
	ctx, cancel := context.WithTimeout(ctx, s.opts.dialTimeout())
	defer cancel()
	members := make([]Member, len(endpoints))
	var wg sync.WaitGroup
	for i, endpoint := range endpoints {
		wg.Go(func() {
			st, err := r.memberStatus(ctx, endpoint)
			members[i] = member(endpoint, st, err, listed)
		})
	}
	wg.Wait()
	// Two endpoints may lead to one member: count it once.
	var distinct []Member
	for _, m := range members {
		if m.ID == 0 || !slices.ContainsFunc(distinct, func(have Member) bool { return have.ID == m.ID }) {
			distinct = append(distinct, m)
		}
	}
	return distinct
}

func member(endpoint string, st *pb.StatusResponse, err error, listed []*pb.Member) Member {
	m := Member{Endpoint: endpoint}
	if err != nil {
		m.Problem = "no answer from here"
		if text := status.Convert(err).Message(); text != "" && !strings.Contains(text, "deadline exceeded") {
			m.Problem += ": " + text
		}
		for _, l := range listed {
			if slices.Contains(l.ClientURLs, endpoint) {
				m.ID, m.Name, m.Learner = l.ID, l.Name, l.IsLearner
			}
		}
		return m
	}
	m.ID = st.Header.GetMemberId()
	m.Version, m.Learner, m.Errors = st.Version, st.IsLearner, safeWords(st.Errors)
	m.Leader = st.Leader != 0 && st.Leader == m.ID
	m.DBSize, m.DBInUse, m.DBQuota = st.DbSize, st.DbSizeInUse, st.DbSizeQuota
	m.RaftIndex, m.RaftApplied = st.RaftIndex, st.RaftAppliedIndex
	for _, l := range listed {
		if l.ID == m.ID {
			m.Name = l.Name
		}
	}
	return m
}

// conclude looks at all members together.
func (h *Health) conclude(listErr error) {
	answered, leaders := 0, 0
	for _, m := range h.Members {
		if m.Problem == "" {
			answered++
		}
		if m.Leader {
			leaders++
			h.Leader = m.ID
		}
	}
	switch {
	case answered == 0:
		h.Problem = "no member answers"
	case leaders > 1:
		h.Problem, h.Leader = "members disagree on the leader", 0
	case leaders == 0 && answered == len(h.Members):
		h.Problem = "no leader"
	case listErr != nil:
		h.Problem = "members could not be listed: " + status.Convert(listErr).Message()
	}
}
