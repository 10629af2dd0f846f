package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kitescope/tools/bench/metagen"
	"kitescope/tools/bench/terminal"
)

const (
	uiColumns, uiRows = 180, 50
	uiStarts          = 10
	cursorMoves       = 200
	idleTime          = 10 * time.Second
	// frameText is the number of visible characters that makes output a frame rather than a mode switch.
	frameText = 60
	timeout   = 3 * time.Minute
	quietTime = 400 * time.Millisecond
)

// uiResult holds the response times of the UI.
type uiResult struct {
	segments     int
	firstFrame   []time.Duration // start to a drawn screen, before any data
	data         time.Duration   // start to rows of segments
	cursor       []time.Duration // key to first output
	filter       []time.Duration // key to first output
	filterResult []time.Duration // key to the last change that it caused
	rss, peak    int64
	idleBytes    int64
}

func (b *bench) ui(ctx context.Context, segments int) (*uiResult, error) {
	c, err := b.cluster(ctx, metagen.Of(segments))
	if err != nil {
		return nil, err
	}
	defer c.Stop()
	r := &uiResult{segments: segments}
	b.logf("UI: first frames")
	for range uiStarts {
		took, err := b.firstFrame(ctx, c)
		if err != nil {
			return nil, err
		}
		r.firstFrame = append(r.firstFrame, took)
	}
	b.logf("UI: keys")
	return r, b.session(ctx, c, r)
}

// open starts the UI on the segments page.
func (b *bench) open(ctx context.Context, c *cluster) (*terminal.Terminal, error) {
	cmd, _ := b.program("ui", "segments", "--from", c.from()).Command(ctx)
	// Use the variables of a desktop terminal, not those of the terminal that runs this.
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return len(v) > 8 && v[:8] == "NO_COLOR" })
	// Measure the started process itself, without a guard around it.
	cmd.Env = append(cmd.Env, "TERM=xterm-256color", "COLORTERM=truecolor", "KITESCOPE_GUARDED=0")
	return terminal.Start(cmd, uiColumns, uiRows)
}

func (b *bench) firstFrame(ctx context.Context, c *cluster) (time.Duration, error) {
	t, err := b.open(ctx, c)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	at, err := t.WaitOutput(t.Started(), frameText, 30*time.Second)
	if err != nil {
		return 0, fmt.Errorf("first frame: %w", err)
	}
	return at.Sub(t.Started()), nil
}

// session plays a user who waits for the rows, moves the cursor, filters and idles.
func (b *bench) session(ctx context.Context, c *cluster, r *uiResult) error {
	t, err := b.open(ctx, c)
	if err != nil {
		return err
	}
	defer t.Close()
	at, err := t.WaitText(c.shape.CollectionName(0), timeout)
	if err != nil {
		return fmt.Errorf("rows: %w; the screen has:\n%s", err, t.Text())
	}
	r.data = at.Sub(t.Started())
	if _, err := t.WaitQuiet(2*time.Second, timeout); err != nil {
		return fmt.Errorf("after the rows: %w", err)
	}
	if err := moveCursor(t, r); err != nil {
		return fmt.Errorf("cursor: %w", err)
	}
	if err := typeFilters(t, r); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	if r.rss, r.peak, err = terminal.Memory(t.PID()); err != nil {
		return err
	}
	b.logf("UI: idle for %v", idleTime)
	if _, err := t.WaitQuiet(2*time.Second, timeout); err != nil {
		return fmt.Errorf("before idling: %w", err)
	}
	before := t.Bytes()
	time.Sleep(idleTime)
	r.idleBytes = t.Bytes() - before
	return nil
}

// moveCursor moves down at a pace that does not fall in step with the frames.
func moveCursor(t *terminal.Terminal, r *uiResult) error {
	for i := range cursorMoves {
		time.Sleep(time.Duration(30+i*7%23) * time.Millisecond)
		took, err := press(t, "j")
		if err != nil {
			return err
		}
		r.cursor = append(r.cursor, took)
	}
	return nil
}

// typeFilters types words into the filter. It waits after each key until the screen has settled.
func typeFilters(t *terminal.Terminal, r *uiResult) error {
	for _, word := range []string{"docs_07", "growing", "state=Dropped", "rows>150000", "!docs_01"} {
		if _, err := press(t, "/"); err != nil {
			return err
		}
		for _, key := range word {
			if _, err := t.WaitQuiet(quietTime, timeout); err != nil {
				return err
			}
			pressed, err := t.Send(string(key))
			if err != nil {
				return err
			}
			shown, err := t.WaitOutput(pressed, 1, timeout)
			if err != nil {
				return fmt.Errorf("%q of %q: %w; the screen has:\n%s", key, word, err, t.Text())
			}
			settled, err := t.WaitQuiet(quietTime, timeout)
			if err != nil {
				return err
			}
			r.filter = append(r.filter, shown.Sub(pressed))
			r.filterResult = append(r.filterResult, settled.Sub(pressed))
		}
		// Enter applies the filter, and escape removes it. Wait for the effect of each, because an escape
		// followed at once by another key is read as a different key.
		for _, key := range []string{"\r", "\x1b"} {
			if _, err := press(t, key); err != nil {
				return err
			}
			if _, err := t.WaitQuiet(quietTime, timeout); err != nil {
				return err
			}
		}
	}
	return nil
}

// press sends a key and returns the time to the first output.
func press(t *terminal.Terminal, key string) (time.Duration, error) {
	pressed, err := t.Send(key)
	if err != nil {
		return 0, err
	}
	shown, err := t.WaitOutput(pressed, 0, 30*time.Second)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", key, err)
	}
	return shown.Sub(pressed), nil
}
