package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The renderer of Bubble Tea shows a frame at the next tick.
const (
	// frameTick puts the middle cursor move on the screen within 7 ms, where the bar is 10.
	frameTick = 4 * time.Millisecond
	// frameTicks is how long that pace is kept after a frame.
	frameTicks = 50 * time.Millisecond
	// idleTick is the pace while nothing is drawn.
	idleTick = time.Second
)

// ticks slows the ticks of Bubble Tea's renderer while no frame is drawn: those of a screen that stands still took 2% of
// a core and woke the process 560 times a second. WithFPS(5) would still wake it 25 times and show a key after 200 ms.
// Bubble Tea has no other option up to 2.1.1 (its pull request 1796), so ticks finds the ticker by the name of its field.
// Without a field of that name the pace stays as it is.
type ticks struct {
	program *tea.Program
	ticker  *time.Ticker
	idle    *time.Timer
	mu      sync.Mutex
	last    time.Time // when the last frame was drawn
}

// frame restores the full pace for as long as it takes to show a frame. The loop of the program calls it.
func (t *ticks) frame() {
	if t.ticker == nil {
		f := reflect.ValueOf(t.program).Elem().FieldByName("ticker")
		if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() || f.IsNil() {
			return
		}
		t.ticker = (*time.Ticker)(f.UnsafePointer())
		t.idle = time.AfterFunc(frameTicks, t.slow)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Now()
	t.ticker.Reset(frameTick)
	t.idle.Reset(frameTicks)
}

// slow ends the full pace, unless a frame was drawn while the timer fired.
func (t *ticks) slow() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.last) >= frameTicks {
		t.ticker.Reset(idleTick)
	}
}
