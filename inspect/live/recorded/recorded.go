// Package recorded replays the processes of a cluster from a recording: one gRPC server for each recorded
// address, one HTTP server for each process, and a Kafka broker if they use one, all on loopback. For all that
// was recorded, clients cannot distinguish them from the processes. They are directed to no other address,
// because the configurations name these servers.
//
//  1. Start reads the records into tables: by address, method and request.
//  2. Each server returns the recorded response byte for byte if the call is for its node and its
//     cluster. Otherwise it refuses the call as Milvus does.
//  3. Address returns the current address for a recorded one, for the sessions in etcd.
package recorded

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// Options hold the data that a recording does not contain.
type Options struct {
	// Metrics holds the texts of /metrics by the gRPC address of the process, for recordings that have none:
	// see MetricsByAddress.
	Metrics map[string][]byte
	// Profiles holds the pages below /debug/pprof/ of the process at a recorded HTTP address, by the last part
	// of the path: "profile", "heap".
	Profiles map[string]map[string][]byte
	// Cluster is the name of the cluster (common.chanNamePrefix.cluster). Calls with another name are refused
	// as by Milvus; "" accepts all.
	Cluster string
	// Recorded is the time of the recording. If it is set, the counters and histograms of each process increase
	// at their average rate up to the recording, so that two scrapes yield rates. If it is zero, /metrics is
	// served unchanged.
	Recorded time.Time
	// Now is the clock of the scraping client, by which the counters increase. It must be the client's own
	// clock: if the client's clock stands still, counters on another clock would add minutes in no time. nil
	// means time.Now.
	Now func() time.Time
	// TLS makes the gRPC servers speak TLS; nil means plaintext.
	TLS *tls.Config
	// Authorization is the required value of the metadata key "authorization"; "" requires none.
	Authorization string
}

// MetricsByAddress returns texts of /metrics by the address of a session, for recordings that have the texts
// only by session.
func MetricsByAddress(answers []live.Record) map[string][]byte {
	addresses := make(map[string]string)
	session := func(r *live.Record) string { return r.Node.Name(r.Role) }
	for i := range answers {
		if a := &answers[i]; a.Address != "" && a.Role != "" {
			addresses[session(a)] = a.Address
		}
	}
	texts := make(map[string][]byte)
	for i := range answers {
		if a := &answers[i]; a.Method == "GET /metrics" && a.Address == "" {
			if address := addresses[session(a)]; address != "" {
				texts[address] = a.Response
			}
		}
	}
	return texts
}

// Servers are the servers of a recording.
type Servers struct {
	grpc   map[string]*grpcServer // by recorded address
	http   map[string]*httpServer // by recorded address
	broker *broker
	ports  ports
}

// Start starts the servers. The caller must close them.
func Start(records []live.Record, opts Options) (*Servers, error) {
	s := &Servers{
		grpc: map[string]*grpcServer{}, http: map[string]*httpServer{},
		broker: &broker{topics: map[string]live.TopicOffsets{}},
	}
	for i := range records {
		r := &records[i]
		switch {
		case r.Method == live.MethodKafka:
			s.broker.add(r)
		case r.Address == "" || r.Role == "" || r.Method == live.MethodPulsar:
			continue // a note, not a call
		case strings.HasPrefix(r.Method, "GET "):
			s.httpAt(r.Address).add(r)
		case strings.HasPrefix(r.Method, "/"):
			s.grpcAt(r.Address, &opts).add(r)
		}
	}
	if len(s.grpc) == 0 {
		return nil, errors.New("start the servers of a recording: it holds no answer of any process")
	}
	if err := s.start(&opts); err != nil {
		s.Close()
		return nil, fmt.Errorf("start the servers of a recording: %w", err)
	}
	return s, nil
}

func (s *Servers) grpcAt(address string, opts *Options) *grpcServer {
	if s.grpc[address] == nil {
		s.grpc[address] = &grpcServer{
			opts: opts, responses: map[string]*recordedResponse{}, nodes: map[model.NodeID]bool{},
			methods: map[string]bool{},
		}
	}
	return s.grpc[address]
}

func (s *Servers) httpAt(address string) *httpServer {
	if s.http[address] == nil {
		s.http[address] = &httpServer{pages: map[string][]page{}, served: map[string]int{}}
	}
	return s.http[address]
}

// start first starts the servers that the gRPC servers name.
func (s *Servers) start(opts *Options) error {
	brokers := false
	for _, address := range slices.Sorted(maps.Keys(s.grpc)) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("address %q: %w", address, err)
		}
		brokers = brokers || len(s.grpc[address].configValues(brokerList)) > 0
		for _, port := range s.grpc[address].configValues(metricsPort) {
			web := s.httpAt(net.JoinHostPort(host, port))
			if text, ok := opts.Metrics[address]; ok && len(web.pages["/metrics"]) == 0 {
				web.pages["/metrics"], web.pages["/healthz"] = []page{{body: text}}, []page{{body: []byte("OK")}}
			}
		}
	}
	for address, served := range opts.Profiles {
		s.httpAt(address).profiles = &profiles{served: served}
	}
	for _, web := range s.http {
		if web.recorded, web.now = opts.Recorded, opts.Now; web.now == nil {
			web.now = time.Now
		}
		if err := web.start(&s.ports); err != nil {
			return err
		}
	}
	if brokers {
		if err := s.broker.start(&s.ports); err != nil {
			return err
		}
	}
	for address, server := range s.grpc {
		host, _, _ := net.SplitHostPort(address)
		server.rewrite(metricsPort, func(port string) string {
			_, now, _ := net.SplitHostPort(s.http[net.JoinHostPort(host, port)].address)
			return now
		})
		server.rewrite(brokerList, func(string) string { return s.broker.address })
		if err := server.start(&s.ports); err != nil {
			return err
		}
	}
	return nil
}

// Address returns the current address of a recorded gRPC or HTTP address.
func (s *Servers) Address(recorded string) (string, bool) {
	if server := s.grpc[recorded]; server != nil {
		return server.address, true
	}
	if server := s.http[recorded]; server != nil {
		return server.address, true
	}
	return "", false
}

// Close stops all servers.
func (s *Servers) Close() {
	for _, server := range s.grpc {
		server.close()
	}
	for _, server := range s.http {
		server.close()
	}
	s.broker.close()
	s.ports.release()
}
