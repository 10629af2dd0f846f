// Package prometheus reads what processes measured out of a Prometheus that scrapes them, now or at a past moment. What enters is
// its address, a Cluster and a moment; what leaves is a model.Runtime, as if the processes' /metrics had been read twice then.
//
//  1. One question finds the instances that have Milvus's metrics, and how often they are scraped.
//  2. Each instance is asked for all its series over some of its scrapes, a few instances at a time (query.go).
//  3. The oldest and the newest of these become texts as /metrics has them, without the labels that Prometheus adds (page.go).
//  4. A text says itself whose it is; what is no process of the Cluster is passed over, and said.
package prometheus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/internal/bounded"
	"kitescope/internal/hints"
)

// Options say where a Prometheus is, and how long it is waited for.
type Options struct {
	// URL is where its API begins: http://host:9090, or what a proxy puts before it. A user and password in it are sent as basic
	// authentication. The parameter match has matchers for all series, where it scrapes several clusters: ?match=namespace="milvus".
	URL string
	// Token is sent as a bearer token, if there is one.
	Token string
	// Timeout is the deadline of each question.
	Timeout time.Duration
}

const (
	// lookback is how far back a scrape may lie to be found; Prometheus itself takes five minutes for gone.
	lookback = 5 * time.Minute
	// scrapes is how many intervals lie between the two scrapes that make a window; least is how long it is at least.
	scrapes = 2
	least   = 20 * time.Second
	// atOnce is how many questions are under way.
	atOnce = 4
	// patience is how many deadlines of one question all of them have together.
	patience = 12
	// maxInstances bounds the processes that are read.
	maxInstances = 2000
)

// server is a Prometheus.
type server struct {
	base    *url.URL
	user    *url.Userinfo
	token   string
	match   string
	web     *http.Client
	timeout time.Duration
	bytes   bounded.Bytes
	kinds   map[string]string // of families, as it tells them
}

// Parse checks the URL of Options, and says it without what is secret in it.
func Parse(text string) (place string, err error) {
	s, err := open(Options{URL: text})
	if err != nil {
		return "", err
	}
	return s.base.String(), nil
}

func open(o Options) (*server, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, hints.Errorf("name it as http://host:9090", "open Prometheus: not a Prometheus URL") // err may hold a password
	}
	s := &server{user: u.User, token: o.Token, timeout: cmp.Or(o.Timeout, 10*time.Second), match: u.Query().Get("match"), web: &http.Client{
		Transport:     &http.Transport{MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: atOnce},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s.bytes.Allow(maxBytes)
	s.base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}
	return s, nil
}

// Read reads what the processes of a cluster measured at a moment; of one without sessions, which is none, all that there are. What could not be read of single processes are Gaps.
func Read(ctx context.Context, o Options, c *model.Cluster, at time.Time) (*model.Runtime, []model.Gap, error) {
	s, err := open(o)
	if err != nil {
		return nil, nil, err
	}
	defer s.web.CloseIdleConnections()
	limited, cancel := context.WithTimeoutCause(ctx, patience*s.timeout,
		fmt.Errorf("it is too slow to answer for all processes within %s: raise --node-timeout", patience*s.timeout))
	defer cancel()
	found, err := s.instances(limited, at)
	if err != nil {
		return nil, nil, err
	}
	s.kinds = s.metadata(limited)
	runtime, gaps, err := s.laid(c, s.readAll(limited, found, at), at)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return runtime, gaps, err
}

// instance is what Prometheus scrapes at one address.
type instance struct {
	name, job string
	every     time.Duration // between two scrapes
}

// read is what of an instance was read.
type read struct {
	instance
	pages []page // of one or two scrapes
	err   error
}

// readAll asks for the series of all instances, and returns them in order. Only a few are in memory at a time.
func (s *server) readAll(ctx context.Context, found []instance, at time.Time) iter.Seq[read] {
	return func(yield func(read) bool) {
		ctx, cancel := context.WithCancel(ctx)
		left := make(chan struct{})
		defer close(left)
		defer cancel()
		ahead := make(chan chan read, atOnce-1)
		go func() {
			defer close(ahead)
			for i := range found {
				one := make(chan read, 1)
				select {
				case ahead <- one:
				case <-left:
					return
				}
				go func() {
					pages, err := s.pages(ctx, &found[i], at)
					one <- read{found[i], pages, err}
				}()
			}
		}()
		for one := range ahead {
			if !yield(<-one) {
				return
			}
		}
	}
}

// laid makes a Runtime of what was read.
func (s *server) laid(c *model.Cluster, list iter.Seq[read], at time.Time) (*model.Runtime, []model.Gap, error) {
	where := s.base.String()
	d := live.NewDecoder()
	var gaps []model.Gap
	of := map[string]string{} // instances by process
	others, taken := 0, 0
	for x := range list {
		records, err := x.records()
		if err != nil {
			gaps = append(gaps, model.Gap{Where: "metrics of " + x.name + " in " + where, Reason: err.Error()})
			continue
		}
		r := records[0]
		if len(c.Sessions) > 0 && len(c.SessionsOf(r.Node)) == 0 {
			others++
			continue
		}
		key := fmt.Sprintf("%s-%d", r.Role, r.Node)
		if had := of[key]; had != "" {
			return nil, nil, hints.Errorf(`name those of one cluster: --prometheus 'http://host:9090?match=namespace="milvus"'`,
				"read Prometheus %s: %s and %s both report %s: it scrapes several clusters", where, had, x.name, key)
		}
		of[key] = x.name
		for _, r := range records {
			taken++
			d.Add(r)
		}
	}
	if taken == 0 && len(gaps) == 0 {
		gaps = append(gaps, model.Gap{Where: "metrics in " + where, Reason: nothing(others, at)})
	}
	return d.Runtime("prometheus", where), gaps, nil
}

// nothing is why no process of a cluster was found.
func nothing(others int, at time.Time) string {
	when := at.UTC().Format("2006-01-02 15:04:05 UTC")
	if others > 0 {
		return fmt.Sprintf("it has %d processes with Milvus metrics at %s, but none of this cluster", others, when)
	}
	return "it has no series of Milvus's in the five minutes before " + when
}

// records are those of the texts that were read, the older one first.
func (x *read) records() ([]live.Record, error) {
	if x.err != nil {
		return nil, x.err
	}
	if len(x.pages) == 0 {
		return nil, errors.New("it has no series")
	}
	list := make([]live.Record, 0, len(x.pages))
	for _, p := range x.pages {
		r, err := live.TextRecord(x.name, p.text, p.at)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b live.Record) int { return a.At.Compare(b.At) })
	return list, nil
}
