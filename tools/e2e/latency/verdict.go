package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"kitescope/tools/e2e/lab"
)

// scrape saves the /metrics text of each process in a folder. It returns the time of the proxy's scrape.
func scrape(ctx context.Context, dir string) (time.Time, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return time.Time{}, err
	}
	var tasks sync.WaitGroup
	errs := make([]error, len(lab.AllProcesses))
	var at time.Time
	for i, p := range lab.AllProcesses {
		tasks.Go(func() {
			if p == "proxy" {
				at = time.Now()
			}
			errs[i] = scrapeOne(ctx, p, filepath.Join(dir, p+".txt"))
		})
	}
	tasks.Wait()
	return at, errors.Join(errs...)
}

func scrapeOne(ctx context.Context, process, file string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		fmt.Sprintf("http://127.0.0.1:%d/metrics", lab.Ports[process].Metrics), http.NoBody)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return fmt.Errorf("scrape %s: %w", process, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("scrape %s: %s %w", process, answer.Status, err)
	}
	return os.WriteFile(file, text, 0o644)
}

// Item is a row of "kitescope latency -o json".
type Item struct {
	Collection string   `json:"collection"`
	Request    string   `json:"request"`
	Phase      string   `json:"phase"`
	Parent     string   `json:"parent"`
	Role       string   `json:"role"`
	Node       any      `json:"node"`
	MeanMS     *float64 `json:"mean_ms"`
	Share      *float64 `json:"share"`
	Estimate   bool     `json:"estimate"`
}

// Verdict is an item of "kitescope why -o json".
type Verdict struct {
	Collection string   `json:"collection"`
	Request    string   `json:"request"`
	Verdict    string   `json:"verdict"`
	Phase      string   `json:"phase"`
	Share      *float64 `json:"share"`
	Finding    string   `json:"finding"`
	Object     string   `json:"object"`
	Message    string   `json:"message"`
	Hint       string   `json:"hint"`
	GainLow    *float64 `json:"gain_low"`
	GainHigh   *float64 `json:"gain_high"`
}

// bundle makes kitescope query all processes twice, one window apart, and saves the answers. It sets
// --metrics-port, because proxies of 2.3 do not report their port.
func (r *runner) bundle(ctx context.Context, file string) error {
	ctx, cancel := context.WithTimeout(ctx, r.window+90*time.Second)
	defer cancel()
	_, err := r.lab.Output(ctx, r.kitescope.File, "snapshot", "save", "--live", "--metrics-port",
		strconv.Itoa(lab.Ports["proxy"].Metrics), "--window", r.window.String(), "--force", "-q", "--from", lab.Source,
		file)
	return err
}
