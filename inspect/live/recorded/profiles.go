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

// pprofPath is where net/http/pprof puts its handlers.
const pprofPath = "/debug/pprof/"

// profiles are the recorded profiles of one process, served as net/http/pprof serves its own.
type profiles struct {
	served map[string][]byte // by endpoint
	busy   atomic.Bool       // a CPU profile is being taken
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
		refuse(w, http.StatusBadRequest, `"seconds" parameter is not supported for this profile type`) // no delta was recorded
	case r.FormValue("debug") != "" && r.FormValue("debug") != "0":
		refuse(w, http.StatusNotFound, "the text of this profile was not recorded")
	default:
		send(w, name, content)
	}
}

// refuse answers as net/http/pprof does (serveError).
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

// defaultSeconds is how long a CPU profile of net/http/pprof lasts if nobody says.
const defaultSeconds = 30

// cpu answers after the time that is asked for, and to one at a time (runtime/pprof: StartCPUProfile).
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

// index is the page for people.
func (p *profiles) index(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprint(w, "<html><head><title>/debug/pprof/</title></head><body><p>Profiles as they were recorded:</p><ul>\n")
	for _, name := range slices.Sorted(maps.Keys(p.served)) {
		_, _ = fmt.Fprintf(w, "<li><a href=%q>%s</a></li>\n", name, name)
	}
	_, _ = fmt.Fprint(w, "</ul></body></html>\n")
}
