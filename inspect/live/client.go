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

// Options say how processes are reached. The zero value asks directly, without TLS and
// without credentials, as processes of one cluster ask each other.
type Options struct {
	// Timeout is the deadline of each process, for connecting and all that it is asked together; 0: 5 s. A Window longer than
	// half of it comes on top.
	Timeout time.Duration
	// Map leads addresses of the cluster's network to ones that can be reached from here:
	// "10.2.0.7:21123" or, for all ports, "10.2.0.7", to "localhost:30007" or, keeping the
	// port, to "localhost". It counts for HTTP ports and brokers too.
	Map map[string]string
	// Proxy connects on our behalf: socks5://[user:password@]host:port or http://host:port.
	Proxy string
	// TLS is nil for plaintext.
	TLS *tls.Config
	// User and Password, or Token, are sent as Milvus expects them; "" sends none.
	User, Password, Token string
	// MaxAnswer is the limit of one answer in bytes; 0: 32 MiB.
	MaxAnswer int64
	// Window is how long after the first scrape of /metrics a second one follows, for rates; 0: none.
	Window time.Duration
	// MetricsPort is where the HTTP server of processes is asked that do not tell their
	// configuration; 0: nowhere.
	MetricsPort int
	// Tasks asks for the tasks that processes have in memory, too, each such question once in 15 seconds. One who asks more often
	// gets the answers of before.
	Tasks bool
	// Targets asks QueryCoord for what it wants served now, as one of these questions. The answer names every segment.
	Targets bool
	// Reported asks proxies for their clients and for what they depend on, Levels each process for the level that it logs at.
	Reported, Levels bool
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Counters is the clock by which scrapes of /metrics are dated, where it is another one: that of the demo, whose counters run
	// while its cluster stands still. nil: Now.
	Counters func() time.Time
	// Keep gets every record, already redacted, one at a time; nil: they are not kept.
	Keep func(Record)
	// KeepOnly decodes nothing beyond what leads to further questions: who keeps the records reads them later. The Runtime of an
	// Ask is empty then.
	KeepOnly bool
	// Tell hears of each question when it has ended, in a line, without what was answered; nil: nobody listens.
	Tell func(line string)
	// Progress hears how many processes are done; nil: nobody listens.
	Progress func(done, all int)
}

// beyond is what a second scrape may take beyond a process's deadline: nothing, unless the window leaves it no time.
func (o *Options) beyond() time.Duration {
	if o.Window > cmp.Or(o.Timeout, defaultTimeout)/2 {
		return o.Window
	}
	return 0
}

// Patience is how long an Ask waits for the slowest process.
func (o *Options) Patience() time.Duration { return cmp.Or(o.Timeout, defaultTimeout) + o.beyond() }

// conceal takes the credentials that were sent along out of what a server says.
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

// minConcealed is how long a credential must be to be looked for in answers, where a short
// one would be found by accident.
const minConcealed = 6

// concealBytes takes them out of an answer, and leaves its length and so its form.
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

// authorization is what Milvus's clients send: a token, or user and password, in base64.
func (o *Options) authorization() string {
	plain := o.Token
	if plain == "" {
		plain = o.User + ":" + o.Password
	}
	return base64.StdEncoding.EncodeToString([]byte(plain))
}

const (
	defaultTimeout   = 5 * time.Second
	defaultMaxAnswer = 32 << 20
)

// Client asks the processes of a cluster. It may be used from several goroutines.
type Client struct {
	opts   Options
	dialer *dialer
	room   *room // of all Asks

	mu sync.Mutex
	// last are the scrapes of each process, by address, for rates in the next Ask.
	last map[string]scraped
	// paces are how fast sessions answered in earlier Asks, the oldest first.
	paces map[sessionKey][]*model.Pace
	told  told
	// reported are what proxies reported last of their clients and dependencies, by address.
	reported map[string][]Record
}

// Open makes a client. Nothing is connected before Ask.
func Open(opts Options) (*Client, error) {
	if opts.Timeout < 0 || opts.Window < 0 || opts.MaxAnswer < 0 {
		return nil, errors.New("timeout, window and limit of an answer cannot be negative")
	}
	if opts.MetricsPort < 0 || opts.MetricsPort > 65535 {
		return nil, fmt.Errorf("metrics port %d: want 1 to 65535", opts.MetricsPort)
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	opts.MaxAnswer = cmp.Or(opts.MaxAnswer, defaultMaxAnswer)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Counters == nil {
		opts.Counters = opts.Now
	}
	d := &dialer{patience: opts.Timeout}
	var err error
	if d.routes, err = parseRoutes(opts.Map); err != nil {
		return nil, err
	}
	if opts.Proxy != "" {
		if d.relay, err = parseProxy(opts.Proxy); err != nil {
			return nil, err
		}
	}
	return &Client{opts: opts, dialer: d, room: newRoom(&opts), last: map[string]scraped{}}, nil
}

// Close forgets what was remembered for the next Ask. Connections last no longer than an Ask.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.paces, c.told = map[string]scraped{}, nil, told{}
	return nil
}
