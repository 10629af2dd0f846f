package prometheus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/internal/bounded"
	"kitescope/internal/hints"
	"kitescope/internal/redact"
	"kitescope/internal/words"
)

type series struct {
	Metric map[string]string `json:"metric"`
	Value  sample            `json:"value"`
	Values []sample          `json:"values"`
}

// sample is a time and a value as text.
type sample struct {
	at    time.Time
	value string
}

// UnmarshalJSON decodes [1700000000.123, "42"], a time in seconds and a value.
func (x *sample) UnmarshalJSON(text []byte) error {
	var seconds json.Number
	pair := []any{&seconds, &x.value}
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	f, err := seconds.Float64()
	if len(pair) != 2 || err != nil {
		return errors.New("no sample")
	}
	x.at = time.UnixMilli(int64(f*1000 + 0.5)).UTC() // Prometheus keeps milliseconds
	return nil
}

// query requests a vector or a matrix at a moment.
func (s *server) query(ctx context.Context, expr string, at time.Time) (list []series, err error) {
	err = s.get(ctx, "/api/v1/query", url.Values{
		"query": {expr}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)},
		"timeout": {s.timeout.String()},
	}, func(a *responseDecoder) (err error) {
		list, err = a.series()
		return err
	})
	if err == nil && list == nil {
		err = s.wrapError(errNone)
	}
	return list, err
}

// get requests one page of the API.
func (s *server) get(ctx context.Context, path string, values url.Values, data func(*responseDecoder) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("no response within %s", s.timeout))
	defer cancel()
	u := *s.base
	u.Path, u.RawQuery = u.Path+path, values.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return s.wrapError(err)
	}
	if password, ok := s.user.Password(); ok {
		request.SetBasicAuth(s.user.Username(), password)
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.web.Do(request)
	if err != nil {
		return s.wrapError(cmp.Or(context.Cause(ctx), err))
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		return s.wrapError(hints.Errorf("put KITESCOPE_PROMETHEUS_TOKEN into the environment, or name it as "+
			"http://user:password@host:9090",
			"access denied with status %d", response.StatusCode))
	}
	problem, err := newResponseDecoder(s.bytes.Reader(response.Body)).read(data)
	switch {
	case ctx.Err() != nil, errors.Is(err, errLarge), errors.Is(err, bounded.ErrTooMuch):
		return s.wrapError(cmp.Or(context.Cause(ctx), err))
	case errors.Is(err, errForeign):
		return s.wrapError(hints.Errorf("give the base URL of its API: http://host:9090, or with the path of a proxy",
			"status %d, not an answer of Prometheus", response.StatusCode))
	case problem != "":
		return s.wrapError(errors.New(words.Sanitize(words.OneLine(redact.Text(problem)))))
	case err != nil:
		return s.wrapError(errNone)
	}
	return nil
}

// wrapError adds the place to an error and removes secrets. An error of net/http holds the URL, which has no user
// here.
func (s *server) wrapError(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err
	}
	return fmt.Errorf("read Prometheus %s: %w", s.base, err)
}

// selector returns a selector with the matchers and those of the match parameter.
func (s *server) selector(matchers ...string) string {
	if s.match != "" {
		matchers = append(matchers, s.match)
	}
	return "{" + strings.Join(matchers, ",") + "}"
}

// instances finds the targets with Milvus's metrics and their scrape intervals. Since 2.2 each process has
// milvus_num_node; an older process is found by any of its metrics.
func (s *server) instances(ctx context.Context, at time.Time) ([]instance, error) {
	window := fmt.Sprintf("[%ds]", int(lookback.Seconds()))
	var found []series
	for _, name := range []string{
		`__name__="milvus_num_node"`,
		`__name__=~"milvus_(proxy|querynode|datanode|indexnode|rootcoord|querycoord|datacoord|indexcoord)_.+"`,
	} {
		var err error
		if found, err = s.query(ctx,
			"max by (instance, job) (count_over_time("+s.selector(name)+window+"))", at); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			break
		}
	}
	if len(found) > maxInstances {
		return nil,
			hints.Errorf(`name those of one cluster: ?match=namespace="milvus"`,
				"read Prometheus %s: %d processes have Milvus's metrics, more than %d", s.base, len(found),
				maxInstances)
	}
	list := make([]instance, 0, len(found))
	for _, x := range found {
		n, err := strconv.ParseFloat(x.Value.value, 64)
		if err != nil || !(n >= 1) {
			continue
		}
		list = append(list, instance{
			name: x.Metric["instance"], job: x.Metric["job"], interval: time.Duration(float64(lookback) / n),
		})
	}
	slices.SortFunc(list, func(a, b instance) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.job, b.job))
	})
	return list, nil
}

// pages returns the texts of the oldest and the newest scrape of an instance in its window.
func (s *server) pages(ctx context.Context, x *instance, at time.Time) ([]page, error) {
	window := min(max(scrapes*x.interval+x.interval/2, minWindow), lookback)
	all, err := s.query(ctx,
		s.selector("instance="+strconv.Quote(x.name), "job="+strconv.Quote(x.job))+
			fmt.Sprintf("[%dms]", window.Milliseconds()), at)
	if err != nil {
		return nil, err
	}
	return s.texts(all), nil
}

// metadata returns the known types of families: for each, the type that most targets have.
func (s *server) metadata(ctx context.Context) map[string]string {
	kinds := map[string]string{}
	// missing before 2.15; types are then derived from names
	_ = s.get(ctx, "/api/v1/metadata", nil, func(a *responseDecoder) error {
		return a.object(func(name string) error {
			var told []struct {
				Type string `json:"type"`
			}
			err := a.next(&told)
			if len(told) > 0 {
				kinds[name] = told[0].Type
			}
			return err
		})
	})
	return kinds
}
