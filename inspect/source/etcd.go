package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/internal/hints"
)

// Etcd is a live etcd as a Source. It reads and watches, and has no method that writes. The first call that
// needs a connection connects.
type Etcd struct {
	address   etcdAddress
	opts      Options
	readTimes readTimes

	mu     sync.Mutex
	reader *reader
	// granted holds the ranges that the account may read. nil means that no restriction is known.
	granted []Range
	// root is the root that Pin found, so that the next Pin need not search for it.
	root metaRoot
	// registered holds other roots, where processes registered but which have no cluster.
	registered []metaRoot
}

var _ Watcher = (*Etcd)(nil)

func newEtcd(address etcdAddress, opts Options) *Etcd {
	opts.Root = cmp.Or(opts.Root, address.root)
	opts.Username = cmp.Or(opts.Username, address.user)
	return &Etcd{address: address, opts: opts}
}

// Origin returns the address of the etcd. Pin sets Detail in the Header.
func (s *Etcd) Origin() Origin {
	return Origin{Kind: KindEtcd, Location: s.address.location()}
}

// Close closes the connections.
func (s *Etcd) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == nil {
		return nil
	}
	err := s.reader.close()
	s.reader = nil
	return err
}

// Pin fixes the current revision and finds the root path, with a few small requests. A later Pin of the same
// Etcd needs one request.
func (s *Etcd) Pin(ctx context.Context) (Snapshot, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	status := make(chan *pb.StatusResponse, 1)
	go func() {
		st, err := r.anyStatus(ctx)
		if err != nil {
			st = &pb.StatusResponse{} // the status is optional
		}
		status <- st
	}()
	if s.grantedRanges() != nil {
		// The permissions of an account may be extended or reduced.
		if err := s.requestGranted(ctx, r); err != nil {
			return nil, s.explain(ctx, "read", err)
		}
	}
	revision, err := s.revision(ctx, r)
	if err != nil {
		return nil, s.explain(ctx, "read", err)
	}
	root, err := s.findRoot(ctx, r, revision)
	if err != nil {
		return nil, s.explain(ctx, "find the root path in", err)
	}
	snap := &etcdSnapshot{source: s, reader: r, header: Header{
		Origin: s.Origin(), Root: root.root, MetaPath: root.sub,
		Revision: revision, Taken: s.opts.now(), ByClock: true,
	}}
	st := <-status
	snap.header.Origin.Detail, snap.header.Cluster = detail("etcd", st.Version), st.Header.GetClusterId()
	return snap, nil
}

func detail(name, version string) string {
	if version == "" {
		return name
	}
	return name + " " + version
}

// revision requests the current revision. It reads one key, which need not exist, because this is the cheapest
// request whose response has the revision. If the account may not read the key, it requests the permissions of
// the account from etcd and reads a permitted key.
func (s *Etcd) revision(ctx context.Context, r *reader) (int64, error) {
	probe := metaRoot{root: "by-dev", sub: defaultSubPath}.prefix() + sessionID
	if granted := s.grantedRanges(); len(granted) > 0 {
		probe = granted[0].From
	}
	p, err := r.rangePage(ctx, rangeRequest{keys: singleKey(probe), keysOnly: true})
	if errors.Is(err, rpctypes.ErrPermissionDenied) && s.grantedRanges() == nil {
		if err := s.requestGranted(ctx, r); err != nil {
			return 0, err
		}
		return s.revision(ctx, r)
	}
	if err != nil {
		return 0, err
	}
	return p.revision, nil
}

func singleKey(key string) Range { return Range{From: key, To: key + "\x00"} }

func (s *Etcd) grantedRanges() []Range {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted
}

// requestGranted requests the ranges that the account may read.
func (s *Etcd) requestGranted(ctx context.Context, r *reader) error {
	user := s.opts.Username
	if user == "" {
		// If only client certificates are used, etcd takes the common name as the user name.
		user = s.opts.TLS.commonName()
	}
	granted, err := r.readable(ctx, user)
	if err != nil {
		return err
	}
	if len(granted) == 0 {
		return rpctypes.ErrPermissionDenied
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted = granted
	return nil
}

// explain converts an error of etcd to one line with a hint.
func (s *Etcd) explain(ctx context.Context, verb string, err error) error {
	where := s.address.location()
	wrap := func(advice string) error { return hints.Errorf(advice, "%s %s: %w", verb, where, err) }
	var root *RootError
	if hints.HasHint(err) || errors.As(err, &root) {
		return err
	}
	if over := contextError(ctx, err); over != nil {
		return over
	}
	switch {
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return wrap("check the user name and the password (KITESCOPE_ETCD_PASSWORD or --password-file)")
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return wrap("this etcd requires a user: --user NAME and KITESCOPE_ETCD_PASSWORD")
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return wrap("an administrator can allow reading with: etcdctl role grant-permission ROLE read --prefix=true " +
			"ROOT/")
	case errors.Is(err, rpctypes.ErrCompacted):
		err = ErrCompacted
		return wrap("etcd dropped this revision while it was being read (automatic compaction or a slow link): try " +
			"again, " +
			"or read a file made with etcdctl snapshot save")
	case errors.Is(err, rpctypes.ErrFutureRev):
		return wrap("the member that responded is behind the others: try again, or name another endpoint")
	case errors.Is(err, rpctypes.ErrNoLeader), errors.Is(err, rpctypes.ErrTimeout),
		errors.Is(err, rpctypes.ErrTimeoutDueToLeaderFail):
		return wrap("etcd has no leader: check its members and their logs; --stale-read reads what one member has")
	case isDeadline(err):
		err = &HangingError{where, s.opts.requestTimeout()}
		return wrap("etcd is overloaded or has no quorum: check its members; " +
			"--timeout waits longer, --stale-read reads what one member has")
	}
	return fmt.Errorf("%s %s: %w", verb, where, err)
}

func isDeadline(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
}

// deadlineSkew is how much earlier than the caller's clock an etcd may report an exceeded deadline. gRPC passes
// the deadline on, and both sides apply it.
const deadlineSkew = time.Second

// contextError returns the error of the caller's context, or nil if the context has not ended.
func contextError(ctx context.Context, err error) error {
	if deadline, ok := ctx.Deadline(); ok && isDeadline(err) && time.Until(deadline) < deadlineSkew {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}
