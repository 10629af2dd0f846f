package live

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kitescope/inspect/model"
)

// kafka requests the offsets of topics from brokers, and nothing else.
type kafka struct {
	dialer  *dialer
	timeout time.Duration

	mu sync.Mutex
	// firstFailure is the first reason why no connection was made.
	firstFailure *failure
}

const (
	milvusPartition  = 0       // the only one that Milvus uses
	kafkaMaxResponse = 4 << 20 // bytes; a topic takes a few hundred
)

// dial connects to a broker in half of the total time, so that there is time to return the reason. Its error
// makes kgo try another broker.
func (k *kafka) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, k.timeout/2)
	defer cancel()
	conn, err := k.dialer.dial(ctx, address, true)
	if err == nil {
		return conn, nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		k.mu.Lock()
		k.firstFailure = cmp.Or(k.firstFailure, f)
		k.mu.Unlock()
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: err}
}

// offsets returns the first and the next offset of topics. It may return the offsets of some topics together
// with an error.
func (k *kafka) offsets(ctx context.Context, brokers, topics []string) ([]TopicOffsets, error) {
	const pause = 50 * time.Millisecond
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...), kgo.Dialer(k.dial), kgo.ClientID("kitescope"),
		kgo.BrokerMaxReadBytes(kafkaMaxResponse), kgo.FetchMaxBytes(kafkaMaxResponse),
		kgo.FetchMaxPartitionBytes(kafkaMaxResponse), kgo.DisableClientMetrics(),
		kgo.RequestRetries(len(brokers)), kgo.RetryBackoffFn(func(int) time.Duration { return pause }),
	)
	if err != nil {
		return nil, newFailure(model.Unreachable, "%v", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	first, err := admin.ListStartOffsets(ctx, topics...)
	if len(first) == 0 {
		return nil, k.failure(ctx, err)
	}
	end, endErr := admin.ListEndOffsets(ctx, topics...)
	failure := k.failure(ctx, cmp.Or(err, endErr))
	var list []TopicOffsets
	for _, name := range topics {
		from, ok := first.Lookup(name, milvusPartition)
		to, okEnd := end.Lookup(name, milvusPartition)
		none, _ := first.Lookup(name, -1) // kadm stores the errors of topics there
		switch wrong := cmp.Or(from.Err, to.Err, none.Err); {
		case errors.Is(wrong, kerr.UnknownTopicOrPartition):
		case errors.Is(wrong, kerr.TopicAuthorizationFailed):
			failure = newFailure(model.Denied, "the broker denies access to topic %s", name)
		case errors.Is(wrong, kerr.LeaderNotAvailable):
			failure = newFailure(model.NotReady, "topic %s has no leader", name)
		case wrong != nil:
			failure = newFailure(model.Failed, "topic %s: %v", name, wrong)
		case ok && okEnd && (from.Offset < 0 || to.Offset < 0):
			failure = newFailure(model.Failed, "topic %s: the broker has no offset", name)
		case ok && okEnd:
			list = append(list, TopicOffsets{Name: name, First: from.Offset, End: to.Offset})
		}
	}
	return list, failure
}

// failure returns why a request failed, or nil if it did not.
func (k *kafka) failure(ctx context.Context, err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, denied := errors.AsType[*kadm.AuthError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !isTimeout(context.Cause(ctx)):
		return context.Cause(ctx)
	case k.firstFailure != nil:
		return k.firstFailure
	case denied:
		return newFailure(model.Denied, "%v", err)
	case errors.Is(err, io.EOF) || isCut(err): // timing decides which of the two a client sees
		return newFailure(model.Denied, "the broker closed the connection: it may require TLS or a login (SASL), "+
			"and kitescope has no certificate or account for it")
	case isTimeout(err):
		return newFailure(model.TimedOut, "no response from the brokers within %s", k.timeout)
	}
	return newFailure(model.Failed, "%v", err)
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
