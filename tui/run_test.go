package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"kitescope/inspect/history"
	"kitescope/tui/tuitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunShowsFollowsAndQuits(t *testing.T) {
	cfg := testConfig()
	gate := make(chan struct{})
	cfg.Feed = tuitest.FeedFunc(func(ctx context.Context, emit func(history.Update)) {
		<-gate
		emit(history.Update{Cluster: tuitest.Fixture(), Live: true})
		<-ctx.Done()
	})
	p := started(cfg, 80, 24)
	p.Wait(t, "… connecting") // the first frame does not wait for the feed
	close(gate)
	p.Wait(t, "160,452")
	p.Press("5")
	p.Wait(t, "470590760626295000")
	p.Press("/growing\r")
	p.Redrawn(t, "4 of 27")
	p.Press("q")
	p.End(t)
	raw := p.Out.Raw()
	for _, restored := range []string{
		ansi.ResetModeAltScreenSaveCursor, ansi.SetModeTextCursorEnable, ansi.ResetModeBracketedPaste,
	} {
		if !strings.Contains(raw, restored) {
			t.Errorf("the terminal was not restored: no %q", restored)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	cfg := testConfig()
	cfg.Feed = tuitest.Once(tuitest.Fixture())
	p := started(cfg, 80, 24)
	p.Wait(t, "160,452")
	p.Interrupt(t)
}

func TestControlCQuitsFromAnywhere(t *testing.T) {
	for _, before := range []string{"", ":", "5/", "5C", "?"} {
		t.Run("after "+before, func(t *testing.T) {
			cfg := testConfig()
			cfg.Feed = tuitest.Once(tuitest.Fixture())
			p := started(cfg, 80, 24)
			p.Wait(t, "160,452")
			p.Press(before)
			p.Press("\x03")
			p.End(t)
		})
	}
}

// TestRunEndsWithASignal checks that Run ends on a signal. Both the caller, by way of the context, and Bubble
// Tea receive a signal, and neither may wait for the other.
func TestRunEndsWithASignal(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	cfg := testConfig()
	in, keys := io.Pipe()
	defer keys.Close()
	defer in.Close()
	out := tuitest.NewOutput()
	cfg.Feed, cfg.Input, cfg.Output, cfg.Width, cfg.Height = tuitest.Once(tuitest.Fixture()), in, out, 80, 24
	done := make(chan error, 1)
	go func() { done <- Run(ctx, cfg) }()
	(&tuitest.Program{Out: out}).Wait(t, "160,452")
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(os.Interrupt)
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v, want that it was interrupted", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the UI goes on after an interrupt")
	}
}

// TestIdleWritesNothing checks that no page writes to the terminal during a minute of fake time.
func TestIdleWritesNothing(t *testing.T) {
	for _, pages := range []string{"", "5", "4t", "5d", "gd", "?", ":seg", "5/doc", "5C", "g"} {
		t.Run("after "+pages, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfig()
				cfg.Feed = tuitest.Once(tuitest.Fixture())
				p := started(cfg, 80, 24)
				p.Wait(t, "160,452")
				p.Press(pages)
				time.Sleep(badToastDuration + time.Second)
				before := p.Out.Len()
				time.Sleep(time.Minute)
				if n := p.Out.Len() - before; n != 0 {
					t.Errorf("%d bytes written while nothing changed: %q", n, p.Out.Raw()[before:])
				}
				p.Interrupt(t)
			})
		})
	}
}

func TestLostSourceKeepsData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Now = time.Now
		d := driven(t, cfg, 80, 24)
		d.Cluster(tuitest.Fixture())
		d.Keys("5")
		d.Send(history.Update{Err: errors.New("watch 127.0.0.1:2379: connection refused"), Live: true})
		d.Shows("source lost", "connection refused", "470590760626295000", "0s old")
		d.Sleep(4 * time.Second)
		d.Shows("4s old")
		d.Sleep(3 * time.Minute)
		d.Shows("3m old")
		d.Cluster(tuitest.FixtureLater())
		d.Shows("● live", "rev 1650")
		d.Lacks("source lost", "connection refused")
	})
}
