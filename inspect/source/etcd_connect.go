package source

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"

	"kitescope/internal/hints"
)

// probeDelay is the connection time after which the endpoints are probed for the reason. A healthy etcd connects
// well within it.
const probeDelay = 100 * time.Millisecond

// connect returns the reader, and connects first if necessary.
func (s *Etcd) connect(ctx context.Context) (*reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != nil {
		return s.reader, nil
	}
	r, err := s.dial(ctx)
	if err != nil {
		return nil, s.explain(ctx, "connect to", err)
	}
	s.reader = r
	return r, nil
}

// dial creates a client and waits until one endpoint is connected. The client can only report "deadline
// exceeded" after the whole timeout. Therefore dial probes the endpoints in parallel if connecting takes long.
// It returns the reason at once if no endpoint can work.
func (s *Etcd) dial(ctx context.Context) (*reader, error) {
	dialCtx, cancel := context.WithTimeout(ctx, s.opts.dialTimeout())
	defer cancel()
	type outcome struct {
		reader *reader
		err    error
	}
	dialed := make(chan outcome, 1)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	config, err := s.clientConfig(background)
	if err != nil {
		stop()
		return nil, err
	}
	// The client authenticates under its own context, which must be canceled when the caller gives up.
	unhook := context.AfterFunc(dialCtx, stop)
	go func() {
		r, err := s.newReader(dialCtx, config, stop)
		if !unhook() && err == nil {
			_ = r.close()
			err = dialCtx.Err()
		}
		dialed <- outcome{r, err}
	}()
	var verdict error
	var connected atomic.Bool
	probed := make(chan error, 1)
	timer := time.AfterFunc(probeDelay, func() { probed <- s.probe(dialCtx, config.TLS, &connected) })
	defer timer.Stop()
	for {
		select {
		case done := <-dialed:
			if done.err != nil {
				stop()
				return nil, s.dialError(ctx, done.err, verdict, connected.Load())
			}
			return done.reader, nil
		case verdict = <-probed:
			if verdict != nil {
				// No endpoint can work: cancel the client's attempt too.
				stop()
				cancel()
				if done := <-dialed; done.err == nil {
					return done.reader, nil
				}
				return nil, verdict
			}
		}
	}
}

// dialError returns the error of the probe, if any, instead of the "deadline exceeded" of the client. connected
// reports whether a connection was established.
func (s *Etcd) dialError(ctx context.Context, err, verdict error, connected bool) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case verdict != nil:
		return verdict
	case connected && isDeadline(err):
		where := s.address.location()
		return hints.Errorf("it hangs, or a firewall or port-forward blocks its responses: "+
			"check the etcd process (stopped, no CPU, a hanging disk) and its log",
			"connect to %s: it accepts connections, but there is %w", where, &HangingError{where, s.opts.dialTimeout()})
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return hints.Errorf("check the address and that a firewall or port-forward lets it through",
			"connect to %s: no response within %s", s.address.location(), s.opts.dialTimeout())
	}
	return err
}

func (s *Etcd) newReader(ctx context.Context, config clientv3.Config, stop context.CancelFunc) (*reader, error) {
	client, err := clientv3.New(config)
	if err != nil {
		return nil, rpctypes.Error(err)
	}
	r := &reader{client: client, stop: stop, timeout: s.opts.requestTimeout(), serializable: s.opts.StaleRead}
	conn := client.ActiveConnection()
	conn.Connect()
	for state := conn.GetState(); state != connectivity.Ready; state = conn.GetState() {
		if !conn.WaitForStateChange(ctx, state) {
			_ = r.close()
			return nil, ctx.Err()
		}
	}
	return r, nil
}

// Sizes of the HTTP/2 flow-control windows and of the socket reads. With the defaults of grpc (64 KiB,
// growing), the first megabytes of a large response need many round trips.
const (
	streamWindow = 4 << 20
	connWindow   = 16 << 20
	socketBuffer = 128 << 10
)

// maxResponseBytes bounds responses other than pages and watches, e.g. of members, users and roles. The client's
// own limit is 2 GiB.
const maxResponseBytes = 16 << 20

// Keepalive pings detect a member that is gone without closing the connection. etcd rejects more than one in 5
// seconds (embed.DefaultGRPCKeepAliveMinTime).
const (
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
)

func (s *Etcd) clientConfig(background context.Context) (clientv3.Config, error) {
	config := clientv3.Config{
		Endpoints:            s.address.endpoints(),
		DialTimeout:          s.opts.dialTimeout(),
		DialKeepAliveTime:    keepaliveTime,
		DialKeepAliveTimeout: keepaliveTimeout,
		MaxCallRecvMsgSize:   maxResponseBytes,
		Username:             s.opts.Username,
		Password:             s.opts.Password,
		Context:              background,
		// The client logs JSON to stderr. It is not needed, because the client also returns every error.
		Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithInitialWindowSize(streamWindow),
			grpc.WithInitialConnWindowSize(connWindow),
			grpc.WithReadBufferSize(socketBuffer),
			grpc.WithChainUnaryInterceptor(s.readTimes.call, safeCall),
			grpc.WithChainStreamInterceptor(safeStream),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff: backoff.Config{
					BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second,
				},
				MinConnectTimeout: s.opts.dialTimeout(),
			}),
		},
	}
	if s.opts.Log != nil {
		config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(logCalls(s.opts.Log)),
			grpc.WithChainStreamInterceptor(logStreams(s.opts.Log)))
	}
	if s.address.tls {
		files, err := s.opts.TLS.Load("--")
		if err != nil {
			return config, fmt.Errorf("read TLS files: %w", err)
		}
		config.TLS = files
		if files.ServerName != "" {
			// The client's resolver uses the host of each endpoint as the server name, regardless of the TLS
			// configuration. Only this option takes precedence over it.
			config.DialOptions = append(config.DialOptions, grpc.WithAuthority(files.ServerName))
		}
	}
	return config, nil
}
