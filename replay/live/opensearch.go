package live

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/load"
)

// openSearch is an index of an OpenSearch server with the k-NN plugin, or an alias of indexes with equal vector
// fields.
type openSearch struct {
	addr   *address
	o      *Options
	secure *tls.Config
	desc   Description
	path   string // path of the field's search, with the selected parts of the answer
	budget budget
	// nodes is the number of nodes of the server, 0 if unknown.
	nodes int
	// replaceK replaces k by ef. Before 2.16 the plugin has no ef_search for Lucene, which then searches with k
	// candidates.
	replaceK bool
}

func openOpenSearch(ctx context.Context, a *address, o *Options) (Target, error) {
	t := &openSearch{addr: a, o: o}
	t.budget.limit = o.MaxRequests
	if err := o.name(a, a.database); err != nil {
		return nil, err
	}
	if o.Collection != strings.ToLower(o.Collection) || strings.ContainsAny(o.Collection, `\/*?"<>| ,#`) ||
		strings.HasPrefix(o.Collection, "_") {
		return nil,
			faultf(Mismatch, "name one index or alias: opensearch://host:port/index", "%s is not the name of an index",
				clip(o.Collection))
	}
	settings, err := a.parameters("tls", "ca")
	if err != nil {
		return nil, err
	}
	if t.secure, err = a.secured(settings); err != nil {
		return nil, err
	}
	s := t.session()
	defer s.Close()
	if err = s.handshake(ctx); err != nil {
		return nil, err
	}
	if t.desc, err = s.describe(ctx); err != nil {
		return nil, err
	}
	answer := url.Values{
		"allow_partial_search_results": {"false"},
		"filter_path": {
			"took,timed_out,_shards.failed,hits.hits._id,hits.hits._score,hits.hits.fields",
		},
	}
	t.path = "/" + url.PathEscape(o.Collection) + "/_search?" + answer.Encode()
	return t, nil
}

// Name returns the address without credentials, and the index.
func (t *openSearch) Name() string {
	return t.addr.scheme + "://" + t.addr.host + "/" + t.desc.Collection
}

// Server implements Target. If there are several nodes, it is the one that queries the others.
func (t *openSearch) Server() Server {
	return Server{
		Network: "tcp", Address: t.addr.host, Commands: []string{"java"},
		SingleProcess: func([]string) bool { return t.nodes == 1 },
	}
}

// Description implements Target.
func (t *openSearch) Description() Description { return t.desc }

// Session returns a session with a connection of its own, which its first request opens.
func (t *openSearch) Session(context.Context) (load.Session, error) { return t.session(), nil }

// openSearchSession searches one vector at a time, because _search supports only one.
type openSearchSession struct {
	answers
	openSearchReads
	t *openSearch
}

// session prepares a connection without dialing.
func (t *openSearch) session() *openSearchSession {
	return &openSearchSession{openSearchReads: newOpenSearchReads(t.addr, t.o, t.secure), t: t}
}

// Close closes the connection.
func (s *openSearchSession) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Ask searches for each vector, with a deadline for each.
func (s *openSearchSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	return s.answers.ask(ctx, &s.t.desc, s.t.o, &s.t.budget, r, func(_ context.Context, row []byte) error {
		body, err := s.t.query(r, row)
		if err != nil {
			return err
		}
		var found openSearchResponse
		if err := s.get(ctx, http.MethodPost, s.t.path, body, s.t.desc.maxJSONSize(r.K), &found); err != nil {
			return err
		}
		return s.read(&found, r.K)
	})
}

// query returns the body of a search (k-NN plugin, KNNQueryBuilder): the vector with k, the index parameter for ef
// or nprobe, and the filter. The filter is part of the k-NN clause, so that it is applied during the graph walk.
func (t *openSearch) query(r *load.Request, row []byte) ([]byte, error) {
	clause := map[string]any{"vector": numbersOf(t.desc.Element, row), "k": r.K}
	index := strings.ToLower(t.desc.Index)
	switch {
	case index == "ivf" && r.NProbe > 0:
		clause["method_parameters"] = map[string]int{"nprobes": r.NProbe}
	case index == "hnsw" && r.EF > 0 && t.replaceK:
		clause["k"] = max(r.K, r.EF)
	case index == "hnsw" && r.EF > 0:
		clause["method_parameters"] = map[string]int{"ef_search": r.EF}
	}
	if hasFilter(r) {
		filter, err := t.filter(r)
		if err != nil {
			return nil, err
		}
		clause["filter"] = filter
	}
	body := map[string]any{
		"size": r.K, "track_total_hits": false, "_source": false,
		"query": map[string]any{"knn": map[string]any{t.desc.Field: clause}},
	}
	if t.desc.KeyField != openSearchID {
		body["stored_fields"], body["docvalue_fields"] = "_none_", []string{t.desc.KeyField}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fault(Mismatch, "not sent: the vector has a value that is not a number", "JSON cannot encode it")
	}
	return text, nil
}

// filter returns a clause of keys. Ids are text, and numeric fields accept text as well.
func (t *openSearch) filter(r *load.Request) (any, error) {
	keys := make([]string, len(r.Keys))
	for i, k := range r.Keys {
		switch {
		case !k.IsText:
			keys[i] = strconv.FormatInt(k.Number, 10)
		case !utf8.ValidString(k.Text):
			return nil, fault(Mismatch, "not sent: a filter key is not UTF-8", "")
		default:
			keys[i] = k.Text
		}
	}
	clause := map[string]any{"terms": map[string]any{t.desc.KeyField: keys}}
	if t.desc.KeyField == openSearchID {
		clause = map[string]any{"ids": map[string]any{"values": keys}}
	}
	if r.Exclude {
		clause = map[string]any{"bool": map[string]any{"must_not": []any{clause}}}
	}
	return clause, nil
}

// numbersOf returns the elements of a row. Bits are passed as signed bytes, like int8.
func numbersOf(e dist.Element, row []byte) any {
	if e != dist.Float32 {
		numbers := make([]int8, len(row))
		for i, x := range row {
			numbers[i] = int8(x)
		}
		return numbers
	}
	numbers := make([]float32, len(row)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
	}
	return numbers
}

// openSearchResponse is a response of _search.
type openSearchResponse struct {
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

// read appends the hits of a response.
func (s *openSearchSession) read(response *openSearchResponse, k int) error {
	switch {
	case response.TimedOut:
		return fault(TimedOut, "the server gave up at the deadline", "raise the deadline to wait longer")
	case response.Shards.Failed > 0:
		return fault(Failed, "failed on some shards", "check the server's log")
	case len(response.Hits.Hits) > k:
		return fault(Garbled, "inconsistent response: more hits than requested", "")
	}
	for i := range response.Hits.Hits {
		h := &response.Hits.Hits[i]
		if h.Score == nil {
			return fault(Garbled, "inconsistent response: a hit without a score", "")
		}
		distance, ok := fromScore(s.t.desc.Metric, *h.Score)
		if !ok {
			return faultf(Garbled, "", "inconsistent response: a score that the metric %s does not have",
				s.t.desc.Metric)
		}
		key, err := s.t.keyOf(h)
		if err != nil {
			return err
		}
		s.hits = append(s.hits, load.Hit{Key: key, Distance: distance})
	}
	return nil
}

// keyOf returns the key of a hit: its id, or the only value of the key field.
func (t *openSearch) keyOf(h *openSearchHit) (engine.Key, error) {
	text := h.ID
	if t.desc.KeyField != openSearchID {
		values := h.Fields[t.desc.KeyField]
		if len(values) != 1 {
			return engine.Key{},
				faultf(Mismatch, "give a field that every document has once", "documents of %s have none or several %s",
					t.desc.Collection, t.desc.KeyField)
		}
		text = string(values[0])
		if strings.HasPrefix(text, `"`) && json.Unmarshal(values[0], &text) != nil {
			return engine.Key{}, fault(Garbled, "inconsistent response: a key that is not text", "")
		}
	}
	if t.desc.TextKeys {
		return engine.TextKey(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return engine.Key{},
			faultf(Mismatch, "give a numeric field as the key", "%s of %s is not a whole number in every document",
				t.desc.KeyField, t.desc.Collection)
	}
	return engine.NumberKey(n), nil
}

// fromScore converts a score to a distance in Milvus's convention; it returns false if no distance has that score.
// The scores of Lucene (VectorSimilarityFunction) and of the plugin (SpaceType.scoreTranslation) are equal: 1/(1+d)
// for the squared distance and for the number of different bits, (1+cos)/2, and for the inner product p+1 above 0
// and 1/(1-p) below. Because a score is a float32, a distance below 1 is exact to 1e-7, and a larger one except for
// a few of its last bits.
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

// maxJSONSize returns the maximum size of an answer with k hits, in bytes: an id takes at most 512, the names and
// the score of a hit about 100.
func (d *Description) maxJSONSize(k int) int64 { return min(maxAnswer, 1<<20+1024*int64(k)) }

// openSearchID is the key of every document.
const openSearchID = "_id"

// openSearchMapping is the mapping of a field as of OpenSearch 2.11 to 3.x (k-NN plugin, KNNVectorFieldMapper).
type openSearchMapping struct {
	Type       string                       `json:"type"`
	Dimension  int                          `json:"dimension"`
	DataType   string                       `json:"data_type"`
	SpaceType  string                       `json:"space_type"`
	ModelID    string                       `json:"model_id"`
	Method     *openSearchMethod            `json:"method"`
	Properties map[string]openSearchMapping `json:"properties"`
}

type openSearchMethod struct {
	Name      string `json:"name"`
	Engine    string `json:"engine"`
	SpaceType string `json:"space_type"`
}

// describe reads the mapping.
func (s *openSearchSession) describe(ctx context.Context) (Description, error) {
	t := s.t
	d := Description{Kind: "opensearch", Collection: t.o.Collection, KeyField: cmp.Or(t.o.KeyField, openSearchID)}
	var indexes map[string]struct {
		Mappings openSearchMapping `json:"mappings"`
	}
	if err := s.get(ctx, http.MethodGet, "/"+url.PathEscape(t.o.Collection)+"/_mapping", nil, maxCatalog,
		&indexes); err != nil {
		return d, withContext("index "+clip(t.o.Collection), err)
	}
	names := slices.Sorted(maps.Keys(indexes))
	if len(names) == 0 {
		return d, faultf(NotFound, "check the index's name", "index %s: not found", clip(t.o.Collection))
	}
	// All indexes of an alias must be equal, because one metric converts all scores to distances.
	for i, name := range names {
		mine := d
		if err := t.describeFields(&mine, indexes[name].Mappings.Properties); err != nil {
			return d, withContext("index "+clip(name), err)
		}
		if i > 0 &&
			(mine.Field != d.Field || mine.Dim != d.Dim || mine.Element != d.Element || mine.Metric != d.Metric ||
				mine.Index != d.Index || mine.TextKeys != d.TextKeys) {
			return d,
				faultf(Mismatch, "name one index", "the indexes of %s differ in their vectors: %s and %s",
					clip(t.o.Collection), clip(names[0]), clip(name))
		}
		d = mine
	}
	return d, d.checkVectors(t.o)
}

// handshake reads the version of the server, and the number of its nodes if the user may read it.
func (s *openSearchSession) handshake(ctx context.Context) error {
	var server struct {
		Version struct {
			Number, Distribution string
		}
	}
	if err := s.get(ctx, http.MethodGet, "/", nil, maxDescription, &server); err != nil {
		return err
	}
	version := server.Version.Number
	switch {
	case server.Version.Distribution == "opensearch":
	case server.Version.Distribution == "" && version != "":
		return faultf(Mismatch, "give the address of an OpenSearch",
			"%s is an Elasticsearch, whose k-NN search differs", s.host)
	default:
		return s.notOpenSearchFault()
	}
	s.t.replaceK = olderThan(version, 2, 16)
	var health struct {
		Nodes int `json:"number_of_nodes"`
	}
	if err := s.get(ctx, http.MethodGet, "/_cluster/health", nil, maxDescription, &health); err != nil {
		return ignoreDenied(err) // the user may search, but may lack access to the cluster
	}
	s.t.nodes = health.Nodes
	return nil
}

// olderThan compares the first two numbers of a version. A version without them is not older.
func olderThan(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	first, err := strconv.Atoi(parts[0])
	second, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (first < major || first == major && second < minor)
}

// flatten lists fields by their paths.
func flatten(into map[string]openSearchMapping, prefix string, fields map[string]openSearchMapping) {
	for name, f := range fields {
		if into[prefix+name] = f; f.Type != "nested" { // its hits are parents
			flatten(into, prefix+name+".", f.Properties)
		}
	}
}

func (t *openSearch) describeFields(d *Description, properties map[string]openSearchMapping) error {
	fields := map[string]openSearchMapping{}
	flatten(fields, "", properties)
	if err := t.describeKey(d, fields); err != nil {
		return err
	}
	var names []string
	for name, f := range fields {
		if f.Type == "knn_vector" && (t.o.Field == "" || t.o.Field == name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	f, known := fields[t.o.Field]
	switch {
	case len(names) == 0 && t.o.Field != "" && known:
		return faultf(Mismatch, "name a field of type knn_vector", "field %s has type %s", clip(t.o.Field),
			clip(cmp.Or(f.Type, "object")))
	case len(names) == 0 && t.o.Field != "":
		return faultf(NotFound, "check its name", "no field %s", clip(t.o.Field))
	case len(names) == 0:
		return fault(Mismatch, "no knn_vector field", "name another index")
	case len(names) > 1:
		return faultf(Mismatch, "name one of them", "several vector fields: %s", strings.Join(names, ", "))
	}
	d.Field = names[0]
	f = fields[d.Field]
	if err := t.describeVectors(d, &f); err != nil {
		return withContext("field "+clip(d.Field), err)
	}
	return nil
}

func (t *openSearch) describeKey(d *Description, fields map[string]openSearchMapping) error {
	if d.KeyField == openSearchID {
		d.TextKeys = !t.o.NumberKeys
		return nil
	}
	f, known := fields[d.KeyField]
	if !known {
		return faultf(NotFound, "check its name, or omit it for _id", "no key field %s", clip(d.KeyField))
	}
	switch f.Type {
	case "long", "integer", "short", "byte":
	case "keyword":
		d.TextKeys = true
	default:
		return faultf(Mismatch, "give a field of whole numbers or of type keyword, or omit it for _id",
			"key field %s has type %s", clip(d.KeyField), clip(cmp.Or(f.Type, "object")))
	}
	return nil
}

// describeVectors reads the dimensions, the element type and the metric from the mapping.
func (t *openSearch) describeVectors(d *Description, f *openSearchMapping) error {
	if f.ModelID != "" {
		return fault(Mismatch, "its index uses a trained model, and the mapping has no metric",
			"search a field whose mapping has a method")
	}
	method := openSearchMethod{Name: "hnsw"} // the plugin's default
	if f.Method != nil {
		method = *f.Method
	}
	elements := map[string]dist.Element{"": dist.Float32, "float": dist.Float32, "byte": dist.Int8, "binary": dist.Bit}
	e, known := elements[strings.ToLower(f.DataType)]
	if !known || f.Dimension < 1 {
		return faultf(Mismatch, "search a field of float, byte or binary vectors",
			"it has vectors that cannot be replayed: %s of %d dims", clip(f.DataType), f.Dimension)
	}
	d.Element, d.Dim, d.Index = e, f.Dimension, clip(method.Name)
	space := cmp.Or(method.SpaceType, f.SpaceType, map[bool]string{false: "l2", true: "hamming"}[e == dist.Bit])
	metric, known := map[string]string{
		"l2": "L2", "innerproduct": "IP", "cosinesimil": "COSINE", "hamming": "HAMMING",
	}[strings.ToLower(space)]
	switch {
	case !known:
		return faultf(Mismatch, "supported: l2, innerproduct, cosinesimil and hamming",
			"its space_type cannot be compared: %s", clip(space))
	case method.Engine == "nmslib", method.Engine == "" && metric == "COSINE":
		return faultf(Mismatch, "search a field whose engine is lucene or faiss",
			"the scores of engine %s cannot be converted to distances reliably",
			clip(cmp.Or(method.Engine, "(default)")))
	case t.o.Metric != "" && t.o.Metric != metric:
		return faultf(Mismatch, "replay with the index's metric", "its metric is %s, not %s", metric, clip(t.o.Metric))
	}
	d.Metric = metric
	return nil
}

// openSearchReads sends requests to an OpenSearch. This package requests only these paths: the server's version and
// health, a mapping, a search.
type openSearchReads struct {
	client         *http.Client
	base, host     string
	user, password string
	deadline       time.Duration
}

// newOpenSearchReads prepares connections without dialing.
func newOpenSearchReads(a *address, o *Options, secure *tls.Config) openSearchReads {
	transport := &http.Transport{
		DialContext: o.Dial, TLSClientConfig: secure, TLSHandshakeTimeout: o.Deadline, IdleConnTimeout: time.Minute,
		DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
	}
	r := openSearchReads{
		host: a.host, base: "http://" + a.host, user: a.user, password: a.password, deadline: o.Deadline,
	}
	if secure != nil {
		r.base = "https://" + a.host
	}
	r.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the target of a redirect would receive the credentials
	}}
	return r
}

// readsOnly reports whether a request modifies nothing, by its method and the end of its path.
func readsOnly(method, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	if method == http.MethodPost {
		return strings.HasSuffix(path, "/_search")
	}
	return method == http.MethodGet &&
		(path == "/" || path == "/_cluster/health" || strings.HasSuffix(path, "/_mapping"))
}

// get sends a request and decodes the response. It returns a *FaultError or the error of ctx.
func (r *openSearchReads) get(ctx context.Context, method, path string, body []byte, limit int64, into any) error {
	if !readsOnly(method, path) {
		return fault(Failed, "not sent: not a read", "")
	}
	bounded, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(bounded, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return fault(Mismatch, "the target's address does not parse",
			"write opensearch://[user:password@]host:port/index")
	}
	request.Header.Set("User-Agent", "kitescope")
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.user != "" {
		request.SetBasicAuth(r.user, r.password)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return r.fault(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return r.fault(ctx, err)
	case int64(len(text)) > limit:
		return faultf(Garbled, "give the port of an OpenSearch, 9200 by default",
			"%s sent more than a response can have", r.host)
	case response.StatusCode != http.StatusOK:
		return r.statusFault(response.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return r.notOpenSearchFault()
	}
	return nil
}

func (r *openSearchReads) notOpenSearchFault() *FaultError {
	return faultf(Garbled, "give the port of an OpenSearch, 9200 by default", "%s does not respond like OpenSearch",
		r.host)
}

// fault returns the reason for a missing response. It does not repeat messages of net/http, because they contain the
// address.
func (r *openSearchReads) fault(ctx context.Context, err error) error {
	if contains(err.Error(), "malformed HTTP", "server's response headers exceeded") && callerError(ctx) == nil {
		return r.notOpenSearchFault()
	}
	return lostFault(ctx, err, "OpenSearch", r.host, r.deadline)
}

// statusFault classifies a response with a status other than 200: {"error": {"type", "reason", "root_cause": []},
// "status"}, or a text.
func (r *openSearchReads) statusFault(status int, text []byte) *FaultError {
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	type cause struct {
		Type, Reason string
	}
	var why struct {
		cause
		Roots []cause `json:"root_cause"`
	}
	first := why.cause
	if json.Unmarshal(text, &answer) == nil && json.Unmarshal(answer.Error, &why) == nil {
		first = why.cause
		if len(why.Roots) > 0 {
			first = why.Roots[0]
		}
	} else {
		_ = json.Unmarshal(answer.Error, &first.Reason) // some errors are plain text
	}
	reason := normalize(first.Reason)
	if reason == "" {
		reason = "HTTP " + http.StatusText(status)
	}
	switch {
	case status == http.StatusUnauthorized:
		return faultf(Denied, "give the user in the address, and the password in KITESCOPE_TARGET_PASSWORD",
			"%s does not accept the credentials", r.host)
	case status == http.StatusForbidden:
		return fault(Denied, "denied: "+reason, "grant the user to read the index and its mapping")
	case first.Type == "index_not_found_exception":
		return fault(NotFound, "not found: "+reason, "check the index's name")
	case status == http.StatusTooManyRequests:
		return fault(Limited, "limited: "+reason, "use fewer sessions, or raise the server's limits")
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return fault(TimedOut, "the server gave up: "+reason, "raise the deadline to wait longer")
	case status == http.StatusServiceUnavailable, status == http.StatusBadGateway:
		return fault(Unreachable, "unavailable: "+reason,
			"check that the index's shards are assigned, and the server is healthy")
	case status >= 300 && status < 400:
		return faultf(Garbled, "give the address of the OpenSearch itself",
			"%s redirects to another address: redirects are not followed", r.host)
	case first.Type == "" && status == http.StatusNotFound:
		return r.notOpenSearchFault()
	}
	return fault(Failed, "refused: "+reason, "")
}
