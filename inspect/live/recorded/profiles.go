package recorded

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// pprofPath is the path of the handlers of net/http/pprof.
const pprofPath = "/debug/pprof/"

// profiles holds the recorded profiles of a process, served as by net/http/pprof.
type profiles struct {
	served map[string][]byte // by endpoint
	busy   atomic.Bool       // a CPU profile is running
}

func (p *profiles) serve(w http.ResponseWriter, r *http.Request, name string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	content, ok := p.served[name]
	switch {
	case name == "":
		p.index(w)
	case !ok:
		refuse(w, http.StatusNotFound, "Unknown profile")
	case name == "profile":
		p.cpu(w, r, content)
	case r.FormValue("seconds") != "":
		// no delta was recorded
		refuse(w, http.StatusBadRequest, `"seconds" parameter is not supported for this profile type`)
	case r.FormValue("debug") != "" && r.FormValue("debug") != "0":
		refuse(w, http.StatusNotFound, "the text of this profile was not recorded")
	default:
		send(w, name, content)
	}
}

// refuse responds with an error as net/http/pprof does (serveError).
func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Go-Pprof", "1")
	w.WriteHeader(code)
	_, _ = fmt.Fprintln(w, text)
}

func send(w http.ResponseWriter, name string, content []byte) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	_, _ = w.Write(content)
}

// defaultSeconds is the default duration of a CPU profile in net/http/pprof.
const defaultSeconds = 30

// cpu responds after the requested duration, and serves one request at a time (runtime/pprof: StartCPUProfile).
func (p *profiles) cpu(w http.ResponseWriter, r *http.Request, content []byte) {
	seconds, err := strconv.ParseInt(r.FormValue("seconds"), 10, 64)
	if err != nil || seconds <= 0 || seconds > int64(24*time.Hour/time.Second) {
		seconds = defaultSeconds
	}
	if !p.busy.CompareAndSwap(false, true) {
		refuse(w, http.StatusInternalServerError, "Could not enable CPU profiling: cpu profiling already in use")
		return
	}
	defer p.busy.Store(false)
	wait := time.NewTimer(time.Duration(seconds) * time.Second)
	defer wait.Stop()
	select {
	case <-wait.C:
		send(w, "profile", content)
	case <-r.Context().Done():
	}
}

// index writes the HTML index page.
func (p *profiles) index(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprint(w,
		"<html><head><title>/debug/pprof/</title></head><body><p>Profiles as they were recorded:</p><ul>\n")
	for _, name := range slices.Sorted(maps.Keys(p.served)) {
		_, _ = fmt.Fprintf(w, "<li><a href=%q>%s</a></li>\n", name, name)
	}
	_, _ = fmt.Fprint(w, "</ul></body></html>\n")
}
