package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// FuzzProxyAnswer checks that every response of a proxy leads to a tunnel or a failure.
func FuzzProxyAnswer(f *testing.F) {
	f.Add(true, []byte("\x05\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50rest"))
	f.Add(true, []byte("\x05\x02\x01\x00\x05\x05\x00\x03\x02ab\x00\x50"))
	f.Add(false, []byte("HTTP/1.1 200 OK\r\n\r\nrest"))
	f.Add(false, []byte("HTTP/1.1 200 OK\nContent-Length: 2\n\nrest"))
	f.Add(false, []byte("HTTP/1.1 407 No\r\nContent-Length: 3\r\n\r\nabc"))
	f.Fuzz(func(t *testing.T, socks bool, answer []byte) {
		r := through(t, map[bool]string{true: "socks5", false: "http"}[socks]+"://u:p@proxy:1", answer)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		conn, err := r.dial(ctx, "10.0.0.1:80")
		if (conn == nil) != (err != nil) || err != nil && err.Error() == "" {
			t.Fatalf("%v, %v", conn, err)
		}
		if err != nil {
			return
		}
		defer conn.Close()
		// The tunnel has the bytes after the header, and nothing of the header.
		rest, _ := io.ReadAll(conn)
		head, found := bytes.CutSuffix(answer, rest)
		if !found || !socks && !bytes.HasSuffix(head, []byte("\n\n")) && !bytes.HasSuffix(head, []byte("\n\r\n")) {
			t.Errorf("tunnel begins with %q", rest)
		}
	})
}

// FuzzBroker checks that every response of a broker leads to offsets or a failure.
func FuzzBroker(f *testing.F) {
	f.Add([]byte(
		"\x00\x00\x00\x16\x00\x00\x00\x01\x00\x00\x00\x00\x00\x02\x00\x03\x00\x00\x00\x0c\x00\x02\x00\x00\x00\x07",
	))
	f.Add([]byte(tlsAlertBytes))
	f.Add([]byte("\x7f\xff\xff\xff\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := &dialer{routes: routes{}, timeout: time.Second}
		d.connect = func(context.Context, string) (net.Conn, error) { return served(answer), nil }
		k := &kafka{dialer: d, timeout: time.Second}
		topics, err := k.offsets(ctx, []string{"10.0.0.1:9092"}, []string{"t"})
		var known *failure
		if err != nil && errors.As(err, &known) && known.reason == "" || err == nil && len(topics) > 1 {
			t.Errorf("%v, %v", topics, err)
		}
	})
}

// FuzzCheckStatus checks that a status that cannot be read leads to a failure.
func FuzzCheckStatus(f *testing.F) {
	f.Add("/milvus.proto.query.QueryNode/GetDataDistribution", []byte("\x0a\x00"))
	f.Add("/milvus.proto.query.QueryNode/GetComponentStates", []byte("\x1a\x03\x18\x88\x07"))
	f.Fuzz(func(t *testing.T, method string, answer []byte) {
		if f := checkStatus(method, answer); f != nil && (f.outcome == model.Answered || f.outcome == model.NotAsked) {
			t.Errorf("%s", f.outcome)
		}
	})
}

// FuzzSettings checks that settings reads the same values as a full decoder.
func FuzzSettings(f *testing.F) {
	pair := func(key, value string) *commonpb.KeyValuePair { return &commonpb.KeyValuePair{Key: key, Value: value} }
	for _, pairs := range [][]*commonpb.KeyValuePair{
		nil,
		{pair("common.metricsPort", "1"), pair("commonmetricsport", "2"), pair("COMMON_METRICS_PORT", "3")},
		{pair("mq.type", "kafka"), pair("", "")},
	} {
		b, err := proto.Marshal(
			&internalpb.ShowConfigurationsResponse{Status: &commonpb.Status{}, Configuations: pairs},
		)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		const key = "commonmetricsport"
		got, found := settings(answer, []string{key})[key]
		config := new(internalpb.ShowConfigurationsResponse)
		if proto.Unmarshal(answer, config) != nil || len(answer) > maxProse {
			return
		}
		want, known := "", false
		for _, p := range config.GetConfiguations() {
			if model.FoldConfigKey(p.GetKey()) != key || known && p.GetKey() != key {
				continue
			}
			want, known = p.GetValue(), true
		}
		if got != want || found != known {
			t.Errorf("%q, %v; want %q, %v", got, found, want, known)
		}
	})
}

const tlsAlertBytes = "\x15\x03\x03\x00\x02\x02\x28"
