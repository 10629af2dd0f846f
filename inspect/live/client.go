package live

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Options configure how processes are reached. The zero value connects directly, without TLS and without
// credentials, as the processes of a cluster do among themselves.
type Options struct {
	// Timeout is the deadline for a process. It covers connecting and all calls to the process; 0 means 5 s. A
	// Window longer than half the Timeout extends the deadline.
	Timeout time.Duration
	// Map maps addresses of the cluster's network to addresses that are reachable from here: "10.2.0.7:21123"
	// or, for all ports, "10.2.0.7", to "localhost:30007" or, keeping the port, to "localhost". It also applies
	// to HTTP ports and brokers.
	Map map[string]string
	// Proxy is the URL of a proxy to connect through: socks5://[user:password@]host:port or http://host:port.
	Proxy string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// User and Password, or Token, are sent as Milvus expects them; "" sends none.
	User, Password, Token string
	// MaxResponse is the size limit of a response in bytes; 0 means 32 MiB.
	MaxResponse int64
	// Window is the time from the first scrape of /metrics to a second one, for rates; 0 means no second
	// scrape.
	Window time.Duration
	// MetricsPort is the HTTP port of processes that do not report their configuration; 0 means that they are
	// not scraped.
	MetricsPort int
	// Tasks also queries the tasks that processes have in memory. Each such call is made at most once in 15
	// seconds; the response to an earlier Ask is used in between.
	Tasks bool
	// Targets queries the current target of QueryCoord, at most as often as Tasks. The response names every
	// segment.
	Targets bool
	// ProxyReports queries proxies for their clients and their dependencies; Levels queries each process for its
	// log level.
	ProxyReports, Levels bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Counters is the clock that dates scrapes of /metrics; nil means Now. It differs in the demo, whose
	// counters run while its cluster does not change.
	Counters func() time.Time
	// Keep receives every record, already redacted, one at a time; nil means that records are not kept.
	Keep func(Record)
	// RecordOnly decodes only the responses that lead to further calls, because the records are decoded later. The
	// Runtime of an Ask is then empty.
	RecordOnly bool
	// Log is called with a line for each finished call, without the response; nil disables it.
	Log func(line string)
	// Progress is called with the number of finished processes; nil disables it.
	Progress func(done, all int)
}

// extraTime returns how long a second scrape may exceed the deadline of a process: 0, unless the window leaves no
// time for it.
func (o *Options) extraTime() time.Duration {
	if o.Window > cmp.Or(o.Timeout, defaultTimeout)/2 {
		return o.Window
	}
	return 0
}

// MaxWait returns the maximum time that an Ask waits for the slowest process.
func (o *Options) MaxWait() time.Duration { return cmp.Or(o.Timeout, defaultTimeout) + o.extraTime() }

// conceal removes the credentials of the client from a server's text.
func (o *Options) conceal(text string) string {
	for _, own := range []string{o.Password, o.Token} {
		if own == "" {
			continue
		}
		text = strings.ReplaceAll(text, own, redact.Redacted)
		text = strings.ReplaceAll(text, o.authorization(), redact.Redacted)
	}
	return text
}

// minConcealed is the minimum length in bytes of a credential that is searched for in responses. A shorter one
// would match by accident.
const minConcealed = 6

// concealBytes replaces the credentials in a response by asterisks. It keeps the length, so that the encoding
// stays valid.
func (o *Options) concealBytes(answer []byte) []byte {
	for _, own := range []string{o.Password, o.Token} {
		if len(own) < minConcealed {
			continue
		}
		for _, text := range []string{own, o.authorization()} {
			if bytes.Contains(answer, []byte(text)) {
				answer = bytes.ReplaceAll(answer, []byte(text), bytes.Repeat([]byte("*"), len(text)))
			}
		}
	}
	return answer
}

// authorization returns the header value that Milvus clients send: the token, or user:password, in base64.
func (o *Options) authorization() string {
	plain := o.Token
	if plain == "" {
		plain = o.User + ":" + o.Password
	}
	return base64.StdEncoding.EncodeToString([]byte(plain))
}

const (
	defaultTimeout     = 5 * time.Second
	defaultMaxResponse = 32 << 20
)

// Client queries the processes of a cluster. It is safe for concurrent use.
type Client struct {
	opts   Options
	dialer *dialer
	budget *memoryBudget // shared by all Asks

	mu sync.Mutex
	// last holds the scrapes of each process by address, for rates in the next Ask.
	last map[string]scrapeHistory
	// paces holds the response times of sessions in earlier Asks, the oldest first.
	paces map[sessionKey][]*model.ProbeRound
	cache responseCache
	// reports holds the latest reports of proxies on their clients and dependencies, by address.
	reports map[string][]Record
}

// Open returns a client. It does not connect before Ask.
func Open(opts Options) (*Client, error) {
	if opts.Timeout < 0 || opts.Window < 0 || opts.MaxResponse < 0 {
		return nil, errors.New("timeout, window and response limit cannot be negative")
	}
	if opts.MetricsPort < 0 || opts.MetricsPort > 65535 {
		return nil, fmt.Errorf("metrics port %d: expected 1 to 65535", opts.MetricsPort)
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	opts.MaxResponse = cmp.Or(opts.MaxResponse, defaultMaxResponse)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Counters == nil {
		opts.Counters = opts.Now
	}
	d := &dialer{timeout: opts.Timeout}
	var err error
	if d.routes, err = parseRoutes(opts.Map); err != nil {
		return nil, err
	}
	if opts.Proxy != "" {
		if d.relay, err = parseProxy(opts.Proxy); err != nil {
			return nil, err
		}
	}
	return &Client{opts: opts, dialer: d, budget: newMemoryBudget(&opts), last: map[string]scrapeHistory{}}, nil
}

// Close drops the data that was cached for the next Ask. Connections do not outlive an Ask.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.paces, c.cache = map[string]scrapeHistory{}, nil, responseCache{}
	return nil
}
