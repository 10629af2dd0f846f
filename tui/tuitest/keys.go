package tuitest

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Keyboard returns the keys that pages bind, and others.
func Keyboard() []string {
	keys := strings.Fields("enter esc tab shift+tab up down left right pgup pgdown home end backspace delete space " +
		"ctrl+u ctrl+d ctrl+b ctrl+f")
	for r := '!'; r <= '~'; r++ {
		keys = append(keys, string(r))
	}
	return keys
}

// PressEach presses each key on a page, and more keys on the page that it opens. path holds the keys that lead there
// from the first page.
func (d *Driver) PressEach(path string, keys []string) {
	d.T.Helper()
	for _, key := range keys {
		before := d.T.Failed()
		d.Keys("esc*4 H").Keys(path)
		if why := d.panicFrom(key); why != "" {
			d.T.Errorf("panic: %s", why)
		}
		if !before && d.T.Failed() {
			d.T.Errorf("that was %q, then %q", path, key)
		}
	}
}

// panicFrom presses a key, then chooses an item in the menu, prompt or page that it opens. It returns the resulting
// panic, or "" if there was none.
func (d *Driver) panicFrom(key string) (why string) {
	defer func() {
		if x := recover(); x != nil {
			why = fmt.Sprintf("%v\n%s", x, debug.Stack())
		}
	}()
	d.Keys(key)
	d.Fits()
	for _, next := range []string{"down", "enter"} {
		d.Keys(next)
		d.Screen()
	}
	return ""
}
