package recorded

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// broker is a Kafka broker that has the recorded topics, each with one partition, and supports the requests
// that are needed to read offsets.
type broker struct {
	topics  map[string]live.TopicOffsets
	dead    bool // no broker was reachable during the recording
	address string

	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool // nil: closed
}

// add adds a record of offsets.
func (b *broker) add(r *live.Record) {
	if outcome, ok := model.OutcomeOf(r.Outcome); ok && outcome != model.Answered {
		b.dead = true
		return
	}
	var offsets live.QueueOffsets
	if json.Unmarshal(r.Response, &offsets) != nil {
		return
	}
	for _, t := range offsets.Topics {
		b.topics[t.Name] = t
	}
}

func (b *broker) start(ports *ports) error {
	l, address, err := ports.take(b.dead)
	if b.address = address; l == nil {
		return err
	}
	b.listener, b.open = l, map[net.Conn]bool{}
	b.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if b.admit(conn) {
				b.wg.Go(func() { b.serve(conn) })
			}
		}
	})
	return nil
}

// admit registers a connection, so that it can be closed. It returns false if the broker is closed already.
func (b *broker) admit(conn net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		_ = conn.Close()
		return false
	}
	b.open[conn] = true
	return true
}

func (b *broker) close() {
	if b.listener == nil {
		return
	}
	_ = b.listener.Close()
	b.mu.Lock()
	for conn := range b.open {
		_ = conn.Close()
	}
	b.open = nil
	b.mu.Unlock()
	b.wg.Wait()
}

func (b *broker) serve(conn net.Conn) {
	defer func() {
		b.mu.Lock()
		delete(b.open, conn)
		b.mu.Unlock()
		_ = conn.Close()
	}()
	in := bufio.NewReader(conn)
	for {
		answer, ok := b.handle(in)
		if !ok {
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// maxRequest bounds a request, in bytes. Requests for thousands of topics are far below.
const maxRequest = 16 << 20

// handle reads a request and returns its response.
func (b *broker) handle(in *bufio.Reader) (answer []byte, ok bool) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, false
	}
	size := binary.BigEndian.Uint32(head[:])
	const fixed = 10 // key, version, correlation id, length of the client id
	if size < fixed || size > maxRequest {
		return nil, false
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, false
	}
	key, version := int16(binary.BigEndian.Uint16(body)), int16(binary.BigEndian.Uint16(body[2:]))
	serial, rest := body[4:8], body[fixed:]
	if name := int16(binary.BigEndian.Uint16(body[8:])); name > 0 {
		rest = rest[min(len(rest), int(name)):]
	}
	request := requestFor(key)
	if request == nil {
		return nil, false
	}
	request.SetVersion(version)
	if request.IsFlexible() && len(rest) > 0 {
		rest = rest[1:] // no tags
	}
	if request.ReadFrom(rest) != nil {
		return nil, false
	}
	response := b.respond(request)
	response.SetVersion(version)
	answer = append(make([]byte, 4), serial...)
	if request.IsFlexible() && key != kmsg.ApiVersions.Int16() {
		answer = append(answer, 0)
	}
	answer = response.AppendTo(answer)
	binary.BigEndian.PutUint32(answer, uint32(len(answer)-4))
	return answer, true
}

// requestFor returns an empty request for a key, or nil if the broker does not support the key. kmsg's own
// function supports all keys and would link them into the binary.
func requestFor(key int16) kmsg.Request {
	for _, request := range known() {
		if request.Key() == key {
			return request
		}
	}
	return nil
}

func known() []kmsg.Request {
	return []kmsg.Request{
		kmsg.NewPtrApiVersionsRequest(), kmsg.NewPtrMetadataRequest(), kmsg.NewPtrListOffsetsRequest(),
	}
}

const (
	errorUnknownTopic = 3
	nodeID            = 1
	latest            = -1
)

func (b *broker) respond(request kmsg.Request) kmsg.Response {
	switch request := request.(type) {
	case *kmsg.MetadataRequest:
		return b.metadata(request)
	case *kmsg.ListOffsetsRequest:
		return b.offsets(request)
	default:
		r := kmsg.NewPtrApiVersionsResponse()
		for _, request := range known() {
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MaxVersion = request.Key(), request.MaxVersion()
			r.ApiKeys = append(r.ApiKeys, k)
		}
		return r
	}
}

func (b *broker) metadata(request *kmsg.MetadataRequest) kmsg.Response {
	r := kmsg.NewPtrMetadataResponse()
	host, port, _ := net.SplitHostPort(b.address)
	number, _ := strconv.ParseInt(port, 10, 32)
	node := kmsg.NewMetadataResponseBroker()
	node.NodeID, node.Host, node.Port = nodeID, host, int32(number)
	r.Brokers, r.ControllerID = append(r.Brokers, node), nodeID
	for _, wanted := range request.Topics {
		t := kmsg.NewMetadataResponseTopic()
		t.Topic = wanted.Topic
		if wanted.Topic == nil {
			continue
		}
		if _, ok := b.topics[*wanted.Topic]; ok {
			p := kmsg.NewMetadataResponseTopicPartition()
			p.Leader, p.Replicas, p.ISR = nodeID, []int32{nodeID}, []int32{nodeID}
			t.Partitions = append(t.Partitions, p)
		} else {
			t.ErrorCode = errorUnknownTopic
		}
		r.Topics = append(r.Topics, t)
	}
	return r
}

func (b *broker) offsets(request *kmsg.ListOffsetsRequest) kmsg.Response {
	r := kmsg.NewPtrListOffsetsResponse()
	for _, wanted := range request.Topics {
		t := kmsg.NewListOffsetsResponseTopic()
		t.Topic = wanted.Topic
		for _, partition := range wanted.Partitions {
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition = partition.Partition
			switch topic, ok := b.topics[wanted.Topic]; {
			case !ok || partition.Partition != 0:
				p.ErrorCode = errorUnknownTopic
			case partition.Timestamp == latest:
				p.Offset = topic.End
			default:
				p.Offset = topic.First
			}
			t.Partitions = append(t.Partitions, p)
		}
		r.Topics = append(r.Topics, t)
	}
	return r
}
