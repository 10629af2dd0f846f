//go:build chromium

// Package chromiumtest opens pages in a headless Chromium, to test them in a browser.
package chromiumtest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
)

// Browser is a headless Chromium controlled by the DevTools protocol
// (https://chromedevtools.github.io/devtools-protocol), with real clicks and keys.
type Browser struct {
	t    *testing.T
	port string
}

// Start starts a browser that is stopped at the end of the test.
func Start(t *testing.T) *Browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal("there is no chromium on the path")
	}
	dir, err := os.MkdirTemp("", "kitescope-chromium")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--remote-debugging-port=0",
		"--remote-allow-origins=*", "--force-device-scale-factor=1", "--user-data-dir="+dir, "about:blank")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		for range 100 { // child processes may still be writing
			if os.RemoveAll(dir) == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := regexp.MustCompile(`DevTools listening on ws://127\.0\.0\.1:(\d+)/`).
			FindStringSubmatch(lines.Text()); m != nil {
			go func() { // drain stderr so that the pipe does not fill up
				for lines.Scan() {
				}
			}()
			return &Browser{t, m[1]}
		}
	}
	t.Fatal("chromium did not begin to listen")
	return nil
}

// Tab is a page.
type Tab struct {
	t    *testing.T
	conn *websocket.Conn
	id   int
	// requests are the requested URLs. errors are messages of the console and violations of the page's
	// policy.
	requests, errors []string
}

// Open opens a file in a tab with a size in pixels, or a blank tab if file is "".
func (b *Browser) Open(file string, width, height int) *Tab {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodPut,
		"http://127.0.0.1:"+b.port+"/json/new?about:blank", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	var target struct{ WebSocketDebuggerURL string }
	if err := json.NewDecoder(response.Body).Decode(&target); err != nil {
		b.t.Fatal(err)
	}
	conn, err := websocket.Dial(target.WebSocketDebuggerURL, "", "http://127.0.0.1/")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	p := &Tab{t: b.t, conn: conn}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.Call(domain+".enable", nil)
	}
	p.Call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
	})
	if file != "" {
		p.Show(file)
	}
	return p
}

// Show loads a file and waits until it is loaded.
func (p *Tab) Show(file string) {
	p.t.Helper()
	p.Call("Page.navigate", map[string]any{"url": "file://" + file})
	p.Until(`location.protocol === "file:" && document.readyState === "complete"`)
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// Call calls a method of the DevTools protocol.
func (p *Tab) Call(method string, params any) json.RawMessage {
	p.t.Helper()
	p.id++
	if err := websocket.JSON.Send(p.conn, map[string]any{"id": p.id, "method": method, "params": params}); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	_ = p.conn.SetDeadline(time.Now().Add(20 * time.Second))
	for {
		var m message
		if err := websocket.JSON.Receive(p.conn, &m); err != nil {
			p.t.Fatalf("%s: %v", method, err)
		}
		switch {
		case m.ID == p.id && m.Error != nil:
			p.t.Fatalf("%s: %s", method, m.Error.Message)
		case m.ID == p.id:
			return m.Result
		case m.Method == "Network.requestWillBeSent":
			var r struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &r)
			p.requests = append(p.requests, r.Request.URL)
		case m.Method == "Runtime.exceptionThrown" || m.Method == "Log.entryAdded" ||
			m.Method == "Runtime.consoleAPICalled":
			p.errors = append(p.errors, string(m.Params))
		}
	}
}

// Eval returns the value of an expression as decoded from JSON.
func (p *Tab) Eval(expression string) any {
	p.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	if err := json.Unmarshal(
		p.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}), &r,
	); err != nil {
		p.t.Fatal(err)
	}
	if r.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s", expression, r.ExceptionDetails.Exception.Description)
	}
	return r.Result.Value
}

// Until waits up to about 2 seconds for an expression to become true.
func (p *Tab) Until(expression string) {
	p.t.Helper()
	for range 100 {
		if p.Eval(expression) == true {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.t.Fatalf("never true: %s", expression)
}

// Click clicks the given number of times at a position.
func (p *Tab) Click(x, y float64, times int) {
	p.t.Helper()
	at := map[string]any{"x": x, "y": y, "button": "left"}
	for n := 1; n <= times; n++ {
		at["clickCount"] = n
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			at["type"] = kind
			p.Call("Input.dispatchMouseEvent", at)
		}
	}
}

// ClickElement clicks the center of an element.
func (p *Tab) ClickElement(selector string) {
	p.t.Helper()
	at := p.Eval(fmt.Sprintf(
		`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return {x: r.left + r.width / 2, y: r.top + r.height / 2}; })()`,
		selector,
	)).(map[string]any)
	p.Click(at["x"].(float64), at["y"].(float64), 1)
}

// Key presses and releases a key.
func (p *Tab) Key(key string) {
	p.t.Helper()
	down := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		down["text"] = key
	}
	if code, ok := map[string]int{
		"Enter": 13, "Escape": 27, "Backspace": 8, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39,
	}[key]; ok {
		down["windowsVirtualKeyCode"] = code
	}
	p.Call("Input.dispatchKeyEvent", down)
	p.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

// Choose selects a value of a select element.
func (p *Tab) Choose(selector, value string) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(
		`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change")); })()`,
		selector, value,
	))
}

// Text returns the visible text of an element, or "" if it is hidden.
func (p *Tab) Text(selector string) string {
	p.t.Helper()
	s, _ := p.Eval(fmt.Sprintf(`document.querySelector(%q).innerText`, selector)).(string)
	return s
}

// Screenshot writes a screenshot to a folder, unless folder is "".
func (p *Tab) Screenshot(folder, name string) {
	p.t.Helper()
	if folder == "" {
		return
	}
	var shot struct{ Data string }
	if err := json.Unmarshal(p.Call("Page.captureScreenshot", map[string]any{"format": "png"}), &shot); err != nil {
		p.t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), b, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// CheckErrors checks that the page requested only its own file and reported no errors.
func (p *Tab) CheckErrors() {
	p.t.Helper()
	for _, url := range p.requests {
		if !strings.HasPrefix(url, "file://") && url != "about:blank" {
			p.t.Errorf("it asked for %s", url)
		}
	}
	if len(p.errors) > 0 {
		p.t.Errorf("it complained: %s", strings.Join(p.errors, "\n"))
	}
}
