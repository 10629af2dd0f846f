package recorded

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// httpServer responds for the HTTP server of a process.
type httpServer struct {
	recorded time.Time
	now      func() time.Time
	address  string
	server   *http.Server
	dead     bool
	profiles *profiles // nil: none were recorded

	mu      sync.Mutex
	pages   map[string][]page // by path, in the order of the recording
	served  map[string]int
	started time.Time
}

// page is a recorded response; code 0 means 200.
type page struct {
	code   int
	body   []byte
	silent bool // the request timed out
	// counters makes the counters of the page increase; nil means that it is served unchanged.
	counters *counters
}

// add adds a record, e.g. of "GET /metrics".
func (s *httpServer) add(r *live.Record) {
	p := page{body: r.Response}
	outcome, told := model.OutcomeOf(r.Outcome)
	switch {
	case outcome == model.Answered, !told && r.Error == "":
	case outcome == model.Unreachable, outcome == model.Refused:
		s.dead = true
		return
	case outcome == model.Unimplemented, told && outcome == model.NotAsked:
		return // not found, like all that was not recorded
	case outcome == model.TimedOut:
		p.silent = true
	case outcome == model.Denied:
		p.code = http.StatusForbidden
	case outcome == model.Failed:
		p.code = http.StatusBadRequest
	default:
		p.code = http.StatusInternalServerError
		if len(p.body) == 0 {
			p.body = []byte(r.Error)
		}
	}
	path := r.Method[len("GET "):]
	s.pages[path] = append(s.pages[path], p)
}

func (s *httpServer) start(ports *ports) error {
	l, address, err := ports.take(s.dead && len(s.pages) == 0)
	if s.address, s.started = address, s.now(); l == nil {
		return err
	}
	if scrapes := s.pages["/metrics"]; !s.recorded.IsZero() {
		for i := range scrapes {
			scrapes[i].counters = readCounters(scrapes[i].body, s.recorded)
		}
	}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }()
	return nil
}

func (s *httpServer) close() {
	if s.server != nil {
		_ = s.server.Close()
	}
}

// serve responds with the pages of a path in turn, and repeats the last one.
func (s *httpServer) serve(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, pprofPath); ok && s.profiles != nil {
		s.profiles.serve(w, r, name)
		return
	}
	path := r.URL.RequestURI()
	s.mu.Lock()
	pages := s.pages[path]
	at := s.served[path]
	if at+1 < len(pages) {
		s.served[path]++
	}
	s.mu.Unlock()
	if len(pages) == 0 {
		http.NotFound(w, r)
		return
	}
	p := pages[at]
	if p.silent {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if p.code != 0 {
		w.WriteHeader(p.code)
	}
	if p.counters != nil {
		p.body = p.counters.textAfter(s.now().Sub(s.started))
	}
	_, _ = w.Write(p.body)
}
