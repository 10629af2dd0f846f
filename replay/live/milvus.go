package live

import (
	"context"
	"slices"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"google.golang.org/grpc"

	"kitescope/engine"
	"kitescope/replay/load"
)

// milvus is a collection of a Milvus, by way of one of its proxies.
type milvus struct {
	addr     *address
	o        *Options
	pool     *pool
	database string
	version  string
	desc     Description
	level    commonpb.ConsistencyLevel
	budget   budget
}

// levels are what Options.Consistency may say.
func levels() map[string]commonpb.ConsistencyLevel {
	return map[string]commonpb.ConsistencyLevel{
		"strong": commonpb.ConsistencyLevel_Strong, "session": commonpb.ConsistencyLevel_Session,
		"bounded": commonpb.ConsistencyLevel_Bounded, "eventually": commonpb.ConsistencyLevel_Eventually,
		"customized": commonpb.ConsistencyLevel_Customized,
	}
}

func openMilvus(ctx context.Context, a *address, o *Options) (Target, error) {
	m := &milvus{addr: a, o: o, pool: newPool(a, o), database: o.Database}
	m.budget.most = o.MaxRequests
	if err := o.name(a, ""); err != nil {
		return nil, err
	}
	switch {
	case m.database == "":
		m.database = a.database
	case a.database != "" && a.database != m.database:
		return nil, faultf(Mismatch, "name one of them", "two databases are named: %s and %s", clip(a.database), clip(m.database))
	}
	if _, known := levels()[strings.ToLower(o.Consistency)]; o.Consistency != "" && (!known || strings.EqualFold(o.Consistency, "customized")) {
		return nil, faultf(Mismatch, "one of strong, bounded, session, eventually", "unknown consistency level: %s", clip(o.Consistency))
	}
	c, err := m.pool.enter()
	if err != nil {
		return nil, err
	}
	defer m.pool.leave(c)
	if err = m.greet(ctx, c); err == nil {
		m.desc, err = m.describe(ctx, c)
	}
	if err != nil {
		_ = m.pool.close() // nothing was sent that could be lost
		return nil, err
	}
	m.level = levels()[m.desc.Consistency]
	return m, nil
}

// Name is the address without credentials, and the collection.
func (m *milvus) Name() string {
	return m.addr.scheme + "://" + m.addr.host + "/" + strings.TrimPrefix(m.database+"/", "/") + m.desc.Collection
}

// Describe asks the proxy anew.
func (m *milvus) Describe(ctx context.Context) (Description, error) {
	c, err := m.pool.enter()
	if err != nil {
		return Description{}, err
	}
	defer m.pool.leave(c)
	return m.describe(ctx, c)
}

// Close ends the connections.
func (m *milvus) Close() error { return m.pool.close() }

// Server implements Target. The roles of a cluster are processes of their own, of which this is the proxy.
func (m *milvus) Server() Server {
	return Server{Network: "tcp", Address: m.addr.host, Commands: []string{"milvus"}, Whole: func(arguments []string) bool {
		return slices.Contains(arguments, "standalone") || slices.Contains(arguments, "embedded")
	}}
}

// Session takes a place on a connection.
func (m *milvus) Session(context.Context) (load.Session, error) {
	c, err := m.pool.enter()
	if err != nil {
		return nil, err
	}
	return &milvusSession{m: m, c: c}, nil
}

// milvusSession searches, one request at a time.
type milvusSession struct {
	m      *milvus
	c      *connection
	closed bool
	answer load.Answer
	hits   []load.Hit
}

// Close gives its place on the connection free.
func (s *milvusSession) Close() error {
	if !s.closed {
		s.closed = true
		s.m.pool.leave(s.c)
	}
	return nil
}

// Ask searches. Milvus tells no time of its own (Status.extra_info has the cost in units of its own since 2.4, and bytes read
// since 2.6): Answer.Server is 0. It does not tell distances either.
func (s *milvusSession) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if err := s.m.desc.fits(r); err != nil {
		return nil, err
	}
	request, err := s.m.search(r)
	if err != nil {
		return nil, err
	}
	if err := s.m.budget.take(); err != nil {
		return nil, err
	}
	// While a connection is lost, the next request waits for the new one up to its deadline: failing at once would only make a
	// closed loop count fails as fast as it can.
	results, err := s.c.Search(ctx, request, grpc.WaitForReady(true), grpc.MaxCallRecvMsgSize(s.m.desc.largest(r)))
	if err != nil {
		return nil, callFault(ctx, err, s.m.addr.host, s.m.o)
	}
	if err := statusFault(results.GetStatus(), s.m.addr.host); err != nil {
		return nil, err
	}
	if err := s.read(results, r); err != nil {
		return nil, err
	}
	return &s.answer, nil
}

// largest is how many bytes an answer can have: a key that is a number and its score take 14, and servers add a little to each. Text may be
// as long as a varchar is.
func (d *Description) largest(r *load.Request) int {
	if d.TextKeys {
		return largestAnswer
	}
	return int(min(largestAnswer, 1<<20+64*int64(r.Vectors.Rows)*int64(min(r.K, largestAnswer))))
}

// read makes hits of an answer: scores are squared distances for L2, similarities for IP and COSINE, in all versions
// (internal/proxy/task_search.go turns the sign of what nodes return).
func (s *milvusSession) read(results *milvuspb.SearchResults, r *load.Request) error {
	data := results.GetResults()
	s.answer = load.Answer{Hits: s.answer.Hits[:0]}
	s.hits = s.hits[:0]
	scores, topks := data.GetScores(), data.GetTopks()
	numbers, texts := data.GetIds().GetIntId().GetData(), data.GetIds().GetStrId().GetData()
	found := len(numbers) + len(texts)
	if found == 0 && len(scores) == 0 {
		for range r.Vectors.Rows {
			s.answer.Hits = append(s.answer.Hits, nil)
		}
		return nil // no row passed the filter
	}
	switch {
	case len(topks) != r.Vectors.Rows, len(scores) != found, len(numbers) > 0 && len(texts) > 0:
		return fault(Garbled, "inconsistent answer: numbers of vectors, ids and scores differ", "")
	case len(texts) > 0 != s.m.desc.TextKeys:
		return fault(Garbled, "the keys in the answer and the collection differ in type", "")
	}
	for i := range found {
		key := engine.Key{IsText: s.m.desc.TextKeys}
		if key.IsText {
			key.Text = texts[i]
		} else {
			key.Number = numbers[i]
		}
		s.hits = append(s.hits, load.Hit{Key: key, Distance: scores[i]})
	}
	rest := s.hits
	for _, n := range topks {
		if n < 0 || n > int64(len(rest)) || n > int64(r.K) {
			return fault(Garbled, "inconsistent answer: more hits than it declares, or than requested", "")
		}
		s.answer.Hits = append(s.answer.Hits, rest[:n:n])
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return fault(Garbled, "inconsistent answer: fewer hits than it declares", "")
	}
	return nil
}
