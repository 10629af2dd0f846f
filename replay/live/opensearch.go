package live

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// openSearch is an index of an OpenSearch with the k-NN plugin, or an alias of indexes that are alike.
type openSearch struct {
	addr   *address
	o      *Options
	reads  openSearchReads
	desc   Description
	path   string // of the field's search, with what is wanted of the answer
	budget budget
	// What Open found of the server: its version, and its nodes, 0 if it does not tell.
	version string
	nodes   int
	// widen has k stand for ef: before 2.16 the plugin knows no ef_search for Lucene, which searches with k candidates then.
	widen bool
}

func openOpenSearch(ctx context.Context, a *address, o *Options) (Target, error) {
	t := &openSearch{addr: a, o: o}
	t.budget.most = o.MaxRequests
	if err := o.name(a, a.database); err != nil {
		return nil, err
	}
	if o.Collection != strings.ToLower(o.Collection) || strings.ContainsAny(o.Collection, `\/*?"<>| ,#`) || strings.HasPrefix(o.Collection, "_") {
		return nil, faultf(Mismatch, "name one index or alias: opensearch://host:port/index", "%s is not the name of an index", clip(o.Collection))
	}
	settings, err := a.parameters("tls", "ca")
	if err != nil {
		return nil, err
	}
	secure := o.TLS
	if secure == nil {
		if secure, err = a.secured(settings); err != nil {
			return nil, err
		}
	}
	t.reads = newOpenSearchReads(a, o, secure)
	if err = t.greet(ctx); err == nil {
		t.desc, err = t.describe(ctx)
	}
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	answer := url.Values{
		"allow_partial_search_results": {"false"},
		"filter_path":                  {"took,timed_out,_shards.failed,hits.hits._id,hits.hits._score,hits.hits.fields"},
	}
	t.path = "/" + url.PathEscape(o.Collection) + "/_search?" + answer.Encode()
	return t, nil
}

// Name is the address without credentials.
func (t *openSearch) Name() string {
	return t.addr.scheme + "://" + t.addr.host + "/" + t.desc.Collection
}

// Server implements Target. Of several nodes this is the one that asks the others.
func (t *openSearch) Server() Server {
	return Server{Network: "tcp", Address: t.addr.host, Commands: []string{"java"}, Whole: func([]string) bool { return t.nodes == 1 }}
}

// Describe asks the server anew.
func (t *openSearch) Describe(ctx context.Context) (Description, error) { return t.describe(ctx) }

// Close ends the connections that nobody uses; those of a request end with it.
func (t *openSearch) Close() error {
	t.reads.client.CloseIdleConnections()
	return nil
}

// Session has a connection of its own as long as it asks one request after the other: HTTP/1.1 answers in order.
func (t *openSearch) Session(context.Context) (load.Session, error) {
	return &openSearchSession{t: t}, nil
}

// openSearchSession searches, one vector at a time: _search has no more than one.
type openSearchSession struct {
	t      *openSearch
	body   []byte
	hits   []load.Hit
	answer load.Answer
}

// Close has nothing to end.
func (s *openSearchSession) Close() error { return nil }

// Ask searches for each vector. The server tells its time in whole milliseconds, which most searches take one or two of: Answer.Server
// is 0 for that.
func (s *openSearchSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if err := s.t.desc.fits(r); err != nil {
		return nil, err
	}
	if r.Expr != "" {
		return nil, fault(Mismatch, "not sent: the filter is an expression of Milvus's", "filter OpenSearch by lists of keys")
	}
	if err := s.t.budget.take(); err != nil {
		return nil, err
	}
	s.answer, s.hits = load.Answer{Hits: s.answer.Hits[:0]}, s.hits[:0]
	for i := range r.Vectors.Rows {
		var err error
		if s.body, err = s.t.query(s.body[:0], r, r.Vectors.Row(i)); err != nil {
			return nil, err
		}
		var found openSearchFound
		if err := s.t.reads.ask(ctx, http.MethodPost, s.t.path, s.body, s.t.desc.largestJSON(r.K), &found); err != nil {
			return nil, err
		}
		first := len(s.hits)
		if err := s.read(&found, r.K); err != nil {
			return nil, err
		}
		s.answer.Hits = append(s.answer.Hits, s.hits[first:len(s.hits):len(s.hits)])
	}
	return &s.answer, nil
}

// query is the body of a search (k-NN plugin, KNNQueryBuilder): the vector with k, what the index takes of ef and nprobe, and the filter
// within the k-NN clause, which is applied while the graph is walked.
func (t *openSearch) query(b []byte, r *load.Request, row []byte) ([]byte, error) {
	k := r.K
	b = append(b, `{"size":`...)
	b = strconv.AppendInt(b, int64(r.K), 10)
	b = append(b, `,"track_total_hits":false,"_source":false,`...)
	if t.desc.KeyField != openSearchID {
		b = append(b, `"stored_fields":"_none_","docvalue_fields":[`...)
		b = append(appendJSONText(b, t.desc.KeyField), `],`...)
	}
	b = append(b, `"query":{"knn":{`...)
	b = append(appendJSONText(b, t.desc.Field), `:{"vector":[`...)
	b, err := appendElements(b, t.desc.Element, row)
	if err != nil {
		return nil, err
	}
	b = append(b, ']')
	switch {
	case strings.EqualFold(t.desc.Index, "ivf") && r.NProbe > 0:
		b = append(b, `,"method_parameters":{"nprobes":`...)
		b = append(strconv.AppendInt(b, int64(r.NProbe), 10), '}')
	case strings.EqualFold(t.desc.Index, "hnsw") && r.EF > 0 && t.widen:
		k = max(k, r.EF)
	case strings.EqualFold(t.desc.Index, "hnsw") && r.EF > 0:
		b = append(b, `,"method_parameters":{"ef_search":`...)
		b = append(strconv.AppendInt(b, int64(r.EF), 10), '}')
	}
	b = append(b, `,"k":`...)
	b = strconv.AppendInt(b, int64(k), 10)
	if r.Keys != nil && (len(r.Keys) > 0 || !r.Exclude) {
		b = append(b, `,"filter":`...)
		if b, err = t.filter(b, r); err != nil {
			return nil, err
		}
	}
	return append(b, "}}}}"...), nil
}

// filter is a clause of keys.
func (t *openSearch) filter(b []byte, r *load.Request) ([]byte, error) {
	if r.Exclude {
		b = append(b, `{"bool":{"must_not":[`...)
	}
	if t.desc.KeyField == openSearchID {
		b = append(b, `{"ids":{"values":[`...)
	} else {
		b = append(b, `{"terms":{`...)
		b = append(appendJSONText(b, t.desc.KeyField), `:[`...)
	}
	for i, k := range r.Keys {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case k.IsText && !utf8.ValidString(k.Text):
			return nil, fault(Mismatch, "not sent: a filter key is not UTF-8", "")
		case k.IsText:
			b = appendJSONText(b, k.Text)
		default: // ids are text, which quotes make of it; a numeric field takes either
			b = append(strconv.AppendInt(append(b, '"'), k.Number, 10), '"')
		}
	}
	b = append(b, "]}}"...)
	if r.Exclude {
		b = append(b, "]}}"...)
	}
	return b, nil
}

// appendJSONText writes text in quotes.
func appendJSONText(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		return append(b, `""`...) // text does marshal
	}
	return append(b, quoted...)
}

// appendElements writes a row as numbers: the shortest that are read as the same float32. Bits are bytes with a sign, as int8 are.
func appendElements(b []byte, e dist.Element, row []byte) ([]byte, error) {
	if e != dist.Float32 {
		for i, x := range row {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(int8(x)), 10)
		}
		return b, nil
	}
	for i := 0; i+3 < len(row); i += 4 {
		x := float64(math.Float32frombits(uint32(row[i]) | uint32(row[i+1])<<8 | uint32(row[i+2])<<16 | uint32(row[i+3])<<24))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fault(Mismatch, "not sent: the vector has a value that is not a number", "JSON has none for it")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 32)
	}
	return b, nil
}

// openSearchFound is an answer of _search.
type openSearchFound struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Failed int `json:"failed"`
	} `json:"_shards"`
	Hits struct {
		Hits []openSearchHit `json:"hits"`
	} `json:"hits"`
}

type openSearchHit struct {
	ID     string                       `json:"_id"`
	Score  *float32                     `json:"_score"`
	Fields map[string][]json.RawMessage `json:"fields"`
}

// read appends the hits of an answer.
func (s *openSearchSession) read(found *openSearchFound, k int) error {
	switch {
	case found.TimedOut:
		return fault(TimedOut, "the server gave up at the deadline", "raise the deadline to wait longer")
	case found.Shards.Failed > 0:
		return fault(Failed, "refused: some shards failed", "look at the server's log")
	case len(found.Hits.Hits) > k:
		return fault(Garbled, "inconsistent answer: more hits than requested", "")
	}
	for i := range found.Hits.Hits {
		h := &found.Hits.Hits[i]
		if h.Score == nil {
			return fault(Garbled, "inconsistent answer: a hit without a score", "")
		}
		distance, ok := fromScore(s.t.desc.Metric, *h.Score)
		if !ok {
			return faultf(Garbled, "", "inconsistent answer: a score that the metric %s does not have", s.t.desc.Metric)
		}
		key, err := s.t.keyOf(h)
		if err != nil {
			return err
		}
		s.hits = append(s.hits, load.Hit{Key: key, Distance: distance})
	}
	return nil
}

// keyOf is a hit's key: its id, or the only value of the key field.
func (t *openSearch) keyOf(h *openSearchHit) (engine.Key, error) {
	text := h.ID
	if t.desc.KeyField != openSearchID {
		values := h.Fields[t.desc.KeyField]
		if len(values) != 1 {
			return engine.Key{}, faultf(Mismatch, "give a field that every document has once", "documents of %s have none or several %s", t.desc.Collection, t.desc.KeyField)
		}
		text = string(values[0])
		if strings.HasPrefix(text, `"`) && json.Unmarshal(values[0], &text) != nil {
			return engine.Key{}, fault(Garbled, "inconsistent answer: a key that is not text", "")
		}
	}
	if t.desc.TextKeys {
		return engine.TextKey(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return engine.Key{}, faultf(Mismatch, "give a numeric field as the key", "%s of %s is not a whole number in every document", t.desc.KeyField, t.desc.Collection)
	}
	return engine.NumberKey(n), nil
}

// fromScore is the distance of a score in Milvus's convention; false if no distance has that score. Lucene's scores (VectorSimilarityFunction)
// and the plugin's (SpaceType.scoreTranslation) are the same: 1/(1+d) for the squared distance and for bits that differ, (1+cos)/2,
// and for the inner product p+1 above 0, 1/(1-p) below. A score is a float32: a distance below 1 is exact to 1e-7, a larger one to a few
// of its last bits.
func fromScore(metric string, score float32) (float32, bool) {
	s := float64(score)
	switch metric {
	case "L2":
		return float32(1/s - 1), s > 0 && s <= 1
	case "HAMMING":
		return float32(math.Round(1/s - 1)), s > 0 && s <= 1
	case "COSINE":
		return float32(2*s - 1), s >= 0 && s <= 1
	case "IP":
		if s >= 1 {
			return float32(s - 1), !math.IsInf(s, 0)
		}
		return float32(1 - 1/s), s > 0
	}
	return 0, false
}

// largestJSON is how many bytes an answer of so many hits can have: an id takes at most 512, a hit's names and score some 100.
func (d *Description) largestJSON(k int) int64 { return min(largestAnswer, 1<<20+1024*int64(k)) }
