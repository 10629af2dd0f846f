package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"kitescope/tools/e2e/lab"
)

// scrape keeps the text of each process's /metrics in a folder, and says when that of the proxy was taken.
func scrape(ctx context.Context, dir string) (time.Time, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return time.Time{}, err
	}
	var tasks sync.WaitGroup
	errs := make([]error, len(lab.Everybody))
	var at time.Time
	for i, p := range lab.Everybody {
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/metrics", lab.Ports[process].Metrics), http.NoBody)
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

// kitescope is the binary that is asked, and which of the commands it has.
type kitescope struct{ file string }

// bundle has kitescope ask all processes twice, so far apart, and keeps the answers. Proxies of 2.3 do not tell where their
// metrics are.
func (k *kitescope) bundle(ctx context.Context, l *lab.Lab, window time.Duration, file string) error {
	ctx, cancel := context.WithTimeout(ctx, window+90*time.Second)
	defer cancel()
	_, err := l.Output(ctx, k.file, "snapshot", "save", "--live", "--metrics-port", strconv.Itoa(lab.Ports["proxy"].Metrics), "--window", window.String(), "--force", "-q", "--from", lab.Source, file)
	return err
}

// ask runs a command on a bundle, keeps what it says in a file, and decodes its items.
func (k *kitescope) ask(ctx context.Context, l *lab.Lab, bundle, file string, items any, words ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := l.Command(ctx, k.file, append(words, "-o", "json", "--from", bundle)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); (ok && exit.ExitCode() == 3 || err == nil) && out.Len() > 0 {
		said := struct {
			Items any `json:"items"`
		}{items}
		if err := json.Unmarshal(out.Bytes(), &said); err != nil {
			return fmt.Errorf("%s -o json: %w: %.200s", words[0], err, out.String())
		}
		return os.WriteFile(file, out.Bytes(), 0o644)
	}
	return fmt.Errorf("kitescope %s: %w: %.300s", strings.Join(words, " "), errors.Join(err, ctx.Err()), strings.TrimSpace(errs.String()))
}
