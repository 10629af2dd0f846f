package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea's renderer shows a frame at the next tick.
const (
	// frameTick shows a cursor move within 7 ms at the median; the limit is 10 ms.
	frameTick = 4 * time.Millisecond
	// frameTicks is how long the full rate lasts after a frame.
	frameTicks = 50 * time.Millisecond
	// idleTick is the interval between ticks while nothing is drawn.
	idleTick = time.Second
)

// ticks slows down the ticker of Bubble Tea's renderer while no frame is drawn. The ticks of an unchanged
// screen took 2% of a core and woke the process 560 times a second. WithFPS(5) would still wake it 25 times a
// second and show a key press only after 200 ms. Bubble Tea up to 2.1.1 has no other option (see its pull
// request 1796), so ticks finds the ticker by its field name. If the field does not exist, the rate is
// unchanged.
type ticks struct {
	program *tea.Program
	ticker  *time.Ticker
	idle    *time.Timer
	mu      sync.Mutex
	last    time.Time // when the last frame was drawn
}

// frame restores the full rate for long enough to show a frame. The event loop of the program calls it.
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

// slow ends the full rate unless a frame was drawn while the timer fired.
func (t *ticks) slow() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.last) >= frameTicks {
		t.ticker.Reset(idleTick)
	}
}
