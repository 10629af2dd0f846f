package faulttest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// method holds the message types of a call. Calls are keyed by the last part of their name.
type method struct{ request, response string }

func methods() map[string]method {
	const q, d, m, i = "milvus.proto.query.", "milvus.proto.data.", "milvus.proto.milvus.", "milvus.proto.internal."
	metrics := method{m + "GetMetricsRequest", m + "GetMetricsResponse"}
	loaded := method{q + "ShowCollectionsRequest", q + "ShowCollectionsResponse"}
	return map[string]method{
		"GetComponentStates": {m + "GetComponentStatesRequest", m + "ComponentStates"},
		"ShowConfigurations": {i + "ShowConfigurationsRequest", i + "ShowConfigurationsResponse"},
		"GetMetrics":         metrics, "GetProxyMetrics": metrics,
		"GetDataDistribution": {q + "GetDataDistributionRequest", q + "GetDataDistributionResponse"},
		"ShowCollections":     loaded, "ShowLoadCollections": loaded, // renamed in 2.6
		"GetReplicas":           {m + "GetReplicasRequest", m + "GetReplicasResponse"},
		"GetShardLeaders":       {q + "GetShardLeadersRequest", q + "GetShardLeadersResponse"},
		"ListResourceGroups":    {m + "ListResourceGroupsRequest", m + "ListResourceGroupsResponse"},
		"DescribeResourceGroup": {q + "DescribeResourceGroupRequest", q + "DescribeResourceGroupResponse"},
		"CheckBalanceStatus":    {q + "CheckBalanceStatusRequest", q + "CheckBalanceStatusResponse"},
		"ListCheckers":          {q + "ListCheckersRequest", q + "ListCheckersResponse"},
		"ListQueryNode":         {q + "ListQueryNodeRequest", q + "ListQueryNodeResponse"},
		"GetRecoveryInfoV2":     {d + "GetRecoveryInfoRequestV2", d + "GetRecoveryInfoResponseV2"},
		"GetSegmentInfo":        {d + "GetSegmentInfoRequest", d + "GetSegmentInfoResponse"},
	}
}

// methodOf returns the last part of a record's method: "GetDataDistribution", "GET /metrics".
func methodOf(r *live.Record) string {
	if strings.HasPrefix(r.Method, "/") {
		return r.Method[strings.LastIndexByte(r.Method, '/')+1:]
	}
	return r.Method
}

func sessionName(r *live.Record) string { return fmt.Sprintf("%s-%d", r.Role, r.Node) }

// recordsOf returns the records of a session ("querynode-3"), of a role ("querynode") or of all ("*").
func (w *World) recordsOf(node string) ([]*live.Record, error) {
	var found []*live.Record
	for i := range w.records {
		if r := &w.records[i]; node == "*" || node == r.Role || node == sessionName(r) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the recording has nothing of %s", node)
	}
	return found, nil
}

// calls returns the records of METHOD, or of METHOD@ABOUT if the request mentions ABOUT.
func (w *World) calls(node, call string) ([]*live.Record, error) {
	list, err := w.recordsOf(node)
	if err != nil {
		return nil, err
	}
	name, about, _ := strings.Cut(call, "@")
	name = strings.ReplaceAll(name, "_", " ") // GET_/metrics: a word has no space
	list = slices.DeleteFunc(slices.Clone(list), func(r *live.Record) bool {
		return methodOf(r) != name || about != "" && !mentions(r, about)
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("the recording has no %s of %s", call, node)
	}
	return list, nil
}

// mentions reports whether a field of a record's request has the value.
func mentions(r *live.Record, value string) bool {
	m, err := newMessage(methods()[methodOf(r)].request)
	if err != nil || proto.Unmarshal(r.Request, m) != nil {
		return false
	}
	found := false
	m.ProtoReflect().Range(func(_ protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		found = found || v.String() == value
		return true
	})
	return found
}

// response decodes a record's response.
func response(r *live.Record) (proto.Message, error) {
	x, ok := methods()[methodOf(r)]
	if !ok {
		return nil, fmt.Errorf("the answer of %s is no message that can be edited", r.Method)
	}
	if r.Error != "" {
		return nil, fmt.Errorf("%s of %s was not answered: %s", methodOf(r), sessionName(r), r.Error)
	}
	m, err := newMessage(x.response)
	if err != nil {
		return nil, err
	}
	return m, proto.Unmarshal(r.Response, m)
}

// rewrite edits a record's response. It returns errNoChange if the edit changes nothing.
func rewrite(r *live.Record, edit func(proto.Message) error) error {
	m, err := response(r)
	if err != nil {
		return err
	}
	if err := edit(m); err != nil {
		return fmt.Errorf("%s of %s: %w", methodOf(r), sessionName(r), err)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err
	}
	if bytes.Equal(b, r.Response) {
		return fmt.Errorf("%s of %s: %w", methodOf(r), sessionName(r), errNoChange)
	}
	r.Response = b
	return nil
}

// answer implements "answer NODE METHOD[@ABOUT] CHANGE...": it edits recorded responses.
func (w *World) answer(args []word) error {
	list, err := w.calls(args[0].text, args[1].text)
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := rewrite(r, func(m proto.Message) error { return w.change(m, args[2:]) }); err != nil {
			return err
		}
	}
	return nil
}

// reply implements "reply NODE METHOD `PROTOTEXT`" and "reply NODE GET_PATH `JSON`": it adds a response to a
// call, or replaces the recorded one.
func (w *World) reply(args []word) error {
	list, err := w.recordsOf(args[0].text)
	if err != nil {
		return err
	}
	if path, page := strings.CutPrefix(args[1].text, "GET_"); page {
		w.replaceCalls(live.Record{
			Role: list[0].Role, Node: list[0].Node, Address: list[0].Address, Method: "GET " + path,
			Response: []byte(args[2].text), Outcome: model.Answered.String(), At: w.now,
		})
		return nil
	}
	x, ok := methods()[args[1].text]
	if !ok {
		return fmt.Errorf("unknown method %s", args[1].text)
	}
	m, err := newMessage(x.response)
	if err != nil {
		return err
	}
	if err := fill(m, args[2].text, w.now); err != nil {
		return err
	}
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	like := *list[0]
	like.Method = like.Method[:strings.LastIndexByte(like.Method, '/')+1] + args[1].text
	like.Request, like.Response, like.Error, like.Outcome = nil, b, "", ""
	w.replaceCalls(like)
	return nil
}

// replaceCalls adds a record and removes the session's other records of the same call.
func (w *World) replaceCalls(x live.Record) {
	w.records = slices.DeleteFunc(w.records, func(r live.Record) bool {
		return r.Method == x.Method && r.Role == x.Role && r.Node == x.Node
	})
	w.records = append(w.records, x)
}

// config implements "config NODE KEY=VALUE": it edits the effective configuration in ShowConfigurations.
func (w *World) config(args []word) error {
	list, err := w.calls(args[0].text, "ShowConfigurations")
	if err != nil {
		return err
	}
	key, value, ok := strings.Cut(args[1].text, "=")
	if !ok {
		return errors.New("config wants KEY=VALUE")
	}
	hits := 0
	for _, r := range list {
		if r.Error != "" {
			continue // the role does not implement the call
		}
		if err := rewrite(r, func(m proto.Message) error { return setConfig(m.ProtoReflect(), key, value) }); err !=
			nil {
			return err
		}
		hits++
	}
	if hits == 0 {
		return fmt.Errorf("%s does not tell its configuration", args[0].text)
	}
	return nil
}

// setConfig sets a key in every spelling that Milvus reports, dotted and folded.
func setConfig(m protoreflect.Message, key, value string) error {
	list := m.Mutable(m.Descriptor().Fields().ByName("configuations")).List()
	hits := 0
	for i := range list.Len() {
		pair := list.Get(i).Message()
		name, text := pair.Descriptor().Fields().ByName("key"), pair.Descriptor().Fields().ByName("value")
		if foldKey(pair.Get(name).String()) == foldKey(key) {
			pair.Set(text, protoreflect.ValueOfString(value))
			hits++
		}
	}
	if hits == 0 {
		return fmt.Errorf("no key %s", key)
	}
	return nil
}

func foldKey(key string) string {
	return strings.NewReplacer("/", "", "_", "", ".", "").Replace(strings.ToLower(key))
}
