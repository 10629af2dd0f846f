package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/session"
	"kitescope/inspect/session/profiling"
	"kitescope/profile/pull"
	"kitescope/profile/usage"
)

// metrics are the processes that are asked for their metrics: those that were named, and those of a cluster.
func (w *watching) metrics(ctx context.Context, words []string, cluster bool) ([]usage.Target, error) {
	if len(words) == 0 && !cluster {
		return nil, nil
	}
	named := make([]metricsURL, len(words))
	asked := make([]pull.Target, len(words)) // as pulls are held to TLS
	for i, word := range words {
		var err error
		if named[i], err = metricsAt(w.App, word); err != nil {
			return nil, err
		}
		asked[i].URL = named[i].url
	}
	spec, way, err := w.way(cluster)
	if err != nil {
		return nil, err
	}
	client, header, err := w.metricsClient(asked, way)
	if err != nil {
		return nil, err
	}
	var list []usage.Target
	for _, m := range named {
		m.header = header
		list = append(list, w.metricsTarget(client, m))
	}
	if !cluster {
		return list, nil
	}
	c, err := profiling.Processes(ctx, w.Loader(), spec)
	if err != nil {
		return nil, wrongProfiles(err)
	}
	processes := profiling.Targets(c)
	for i := range processes {
		t := &processes[i]
		m := metricsURL{name: t.Node, unknown: t.Unknown}
		if t.URL != nil {
			m.url = &url.URL{Scheme: "http", Host: t.URL.Host, Path: metricsPage}
		}
		list = append(list, w.metricsTarget(client, m))
	}
	return list, nil
}

// distinct numbers names that clash, so that lines can be told apart.
func distinct(targets []usage.Target) {
	seen := map[string]int{}
	for _, t := range targets {
		name := t.Name()
		if seen[name]++; seen[name] > 1 {
			if m, ok := t.(*usage.Metrics); ok {
				m.Title = fmt.Sprintf("%s#%d", name, seen[name])
			}
		}
	}
}

// metricsPage is where Prometheus looks.
const metricsPage = "/metrics"

// metricsURL is where a process tells its metrics.
type metricsURL struct {
	name           string
	url            *url.URL
	user, password string
	header         http.Header
	unknown        string // why there is no url
}

// metricsAt reads host:port, a URL, or either with NAME= in front.
func metricsAt(a *cli.App, word string) (m metricsURL, err error) {
	rest := word
	if name, after, ok := strings.Cut(word, "="); ok && !strings.ContainsAny(name, ":/?@") {
		m.name, rest = name, after
	}
	if !strings.Contains(rest, "://") {
		rest = "http://" + rest
	}
	hint := "for example: kitescope profile watch http://host:9091/metrics"
	u, err := url.Parse(rest)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return m, cli.Usage(fmt.Errorf("%s is not a metrics address", pull.RedactWord(word)), hint)
	}
	if u.User != nil {
		m.user = u.User.Username()
		var has bool
		if m.password, has = u.User.Password(); !has {
			if m.password = a.Getenv("KITESCOPE_PROFILE_PASSWORD"); m.password == "" {
				return m, cli.Usage(fmt.Errorf("no password for %s", pull.RedactWord(word)), "set KITESCOPE_PROFILE_PASSWORD")
			}
		}
	}
	u.User, u.Fragment = nil, ""
	if strings.Trim(u.Path, "/") == "" {
		u.Path = metricsPage
	}
	m.name, m.url = cmp.Or(m.name, u.Host), u
	return m, nil
}

// metricsClient asks by the ways that lead to processes, and follows no redirects: credentials go where they were meant to.
// header is what is sent to those that were named.
func (w *watching) metricsClient(named []pull.Target, way live.Options) (client *http.Client, header http.Header, err error) {
	asker, err := live.Open(way)
	if err != nil {
		return nil, nil, err
	}
	secure, err := pullTLS(w.App, named)
	if err != nil {
		return nil, nil, err
	}
	if header, err = pullHeader(w.App, w.flags.headerFile); err != nil {
		return nil, nil, err
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: asker.Dial, TLSClientConfig: secure, MaxIdleConnsPerHost: 1, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, header, nil
}

// way is how processes are reached, and of a cluster how it is read.
func (w *watching) way(cluster bool) (*session.Spec, live.Options, error) {
	if !cluster {
		way, err := w.ClientOptions(cli.Connection{}, w.flags.nodes)
		return nil, way, err
	}
	if !w.flags.nodes.Live {
		return nil, live.Options{}, cli.Usage(errors.New("usage comes from the processes, --live=false does not contact them"), "omit it, or give URLs without --from")
	}
	conn, err := w.Connection()
	if err != nil {
		return nil, live.Options{}, err
	}
	spec, err := w.Asking(conn, w.flags.nodes)
	if err != nil {
		return nil, live.Options{}, err
	}
	return spec, spec.Nodes, nil
}

func (w *watching) metricsTarget(client *http.Client, m metricsURL) *usage.Metrics {
	return &usage.Metrics{Title: m.name, Now: w.Now, Get: func(ctx context.Context) (io.ReadCloser, error) {
		if m.url == nil {
			return nil, errors.New(m.unknown)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url.String(), http.NoBody)
		if err != nil {
			return nil, errors.New("its address is broken")
		}
		request.Header = m.header.Clone()
		if request.Header == nil {
			request.Header = http.Header{}
		}
		if m.user != "" {
			request.SetBasicAuth(m.user, m.password)
		}
		request.Header.Set("Accept", "text/plain;version=0.0.4")
		request.Header.Set("User-Agent", "kitescope")
		response, err := client.Do(request)
		if err != nil {
			return nil, metricsError(ctx, err)
		}
		if response.StatusCode != http.StatusOK {
			_ = response.Body.Close()
			return nil, errors.New("it answers " + response.Status)
		}
		return response.Body, nil
	}}
}

// metricsError says why there is no answer, without the URL, which may hold a token.
func metricsError(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*url.Error](err); ok {
		err = own.Err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	return err
}
