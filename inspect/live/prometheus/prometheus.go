// Package prometheus reads the metrics of processes from a Prometheus that scrapes them, now or at a past
// moment. It builds a model.Runtime for a Cluster, as if the processes' /metrics had been read twice at that
// moment.
//
//  1. One query finds the instances with Milvus's metrics, and their scrape intervals.
//  2. A query for each instance returns all its series over some of its scrapes, a few instances at a
//     time (query.go).
//  3. The oldest and the newest scrape are converted to the text of /metrics, without the labels that
//     Prometheus adds (page.go).
//  4. Each text identifies its process itself. Processes of other clusters are skipped and reported.
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

// Options configure the connection to a Prometheus.
type Options struct {
	// URL is the base of its API: http://host:9090, or with the path of a proxy. A user and password in it are
	// sent as basic authentication. The parameter match holds matchers for all series, for a Prometheus that
	// scrapes several clusters: ?match=namespace="milvus".
	URL string
	// Token is sent as a bearer token unless it is "".
	Token string
	// Timeout is the deadline of each request.
	Timeout time.Duration
}

const (
	// lookback is the maximum age of a scrape; Prometheus itself considers a series gone after five minutes.
	lookback = 5 * time.Minute
	// scrapes is the number of intervals between the two scrapes of a window; minWindow is the minimum length of a
	// window.
	scrapes   = 2
	minWindow = 20 * time.Second
	// maxParallel is the number of parallel requests.
	maxParallel = 4
	// timeoutFactor is the deadline of all requests together, as a multiple of the deadline of a request.
	timeoutFactor = 12
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
	kinds   map[string]string // of families, as it reports them
}

// Parse checks the URL of Options and returns it without secrets.
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
		// err may hold a password
		return nil, hints.Errorf("name it as http://host:9090", "open Prometheus: not a Prometheus URL")
	}
	s := &server{
		user: u.User, token: o.Token, timeout: cmp.Or(o.Timeout, 10*time.Second),
		match: u.Query().Get("match"), web: &http.Client{
			Transport:     &http.Transport{MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: maxParallel},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	s.bytes.Allow(maxBytes)
	s.base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}
	return s, nil
}

// Read reads the metrics of a cluster's processes at a moment. For a cluster without sessions it reads all
// processes that the Prometheus has. It returns a Gap for each process that could not be read.
func Read(ctx context.Context, o Options, c *model.Cluster, at time.Time) (*model.Runtime, []model.Gap, error) {
	s, err := open(o)
	if err != nil {
		return nil, nil, err
	}
	defer s.web.CloseIdleConnections()
	limited, cancel := context.WithTimeoutCause(ctx, timeoutFactor*s.timeout,
		fmt.Errorf("it is too slow to answer for all processes within %s: raise --node-timeout",
			timeoutFactor*s.timeout))
	defer cancel()
	found, err := s.instances(limited, at)
	if err != nil {
		return nil, nil, err
	}
	s.kinds = s.metadata(limited)
	runtime, gaps, err := s.buildRuntime(c, s.readAll(limited, found, at), at)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return runtime, gaps, err
}

// instance is a target that Prometheus scrapes.
type instance struct {
	name, job string
	interval  time.Duration // interval between two scrapes
}

// instanceData is the result of reading an instance.
type instanceData struct {
	instance
	pages []page // of one or two scrapes
	err   error
}

// readAll requests the series of all instances, and yields them in order. It holds only a few in memory at a
// time.
func (s *server) readAll(ctx context.Context, found []instance, at time.Time) iter.Seq[instanceData] {
	return func(yield func(instanceData) bool) {
		ctx, cancel := context.WithCancel(ctx)
		left := make(chan struct{})
		defer close(left)
		defer cancel()
		ahead := make(chan chan instanceData, maxParallel-1)
		go func() {
			defer close(ahead)
			for i := range found {
				one := make(chan instanceData, 1)
				select {
				case ahead <- one:
				case <-left:
					return
				}
				go func() {
					pages, err := s.pages(ctx, &found[i], at)
					one <- instanceData{found[i], pages, err}
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

// buildRuntime builds a Runtime from the instances that were read.
func (s *server) buildRuntime(
	c *model.Cluster, list iter.Seq[instanceData], at time.Time,
) (*model.Runtime, []model.Gap, error) {
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
			return nil, nil,
				hints.Errorf(`name those of one cluster: --prometheus 'http://host:9090?match=namespace="milvus"'`,
					"read Prometheus %s: %s and %s both report %s: it scrapes several clusters", where, had, x.name,
					key)
		}
		of[key] = x.name
		for _, r := range records {
			taken++
			d.Add(r)
		}
	}
	if taken == 0 && len(gaps) == 0 {
		gaps = append(gaps, model.Gap{Where: "metrics in " + where, Reason: notFoundReason(others, at)})
	}
	return d.Runtime("prometheus", where), gaps, nil
}

// notFoundReason returns the reason why no process of a cluster was found.
func notFoundReason(others int, at time.Time) string {
	when := at.UTC().Format("2006-01-02 15:04:05 UTC")
	if others > 0 {
		return fmt.Sprintf("it has %d processes with Milvus metrics at %s, but none of this cluster", others, when)
	}
	return "it has no Milvus series in the five minutes before " + when
}

// records returns the instance's scrapes as live records, the older one first.
func (x *instanceData) records() ([]live.Record, error) {
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
