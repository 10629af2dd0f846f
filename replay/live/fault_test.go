package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestNormalizedMessages(t *testing.T) {
	for _, pair := range [][2]string{
		{"segment 446912345678 lacks on 0xc000123", "segment 446999999999 lacks on 0xc000456"},
		{"took 12.5ms, limit 10s", "took 7ms, limit 10s"},
		{"a\nb\tc", "a b c"},
		{"trace 0123456789abcdef0123 lost", "trace fedcba98765432100000 lost"},
	} {
		if normalize(pair[0]) != normalize(pair[1]) {
			t.Errorf("%q and %q become %q and %q", pair[0], pair[1], normalize(pair[0]), normalize(pair[1]))
		}
	}
	if normalize("nq 10 topk 16385") == normalize("nq 12 topk 16385") {
		t.Error("small numbers mean something")
	}
	for _, text := range []string{strings.Repeat("ü", 5000), "\x1b[31mred\xff", strings.Repeat("x ", 9000)} {
		if got := normalize(text); len(got) > maxMessage || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "\x1b\n") {
			t.Errorf("%.20q became %q", text, got)
		}
	}
}

// legacyStatus returns a status of Milvus before 2.3.
//
//nolint:staticcheck // SA1019: older servers have no other
func legacyStatus(code commonpb.ErrorCode, reason string) *commonpb.Status {
	return &commonpb.Status{ErrorCode: code, Reason: reason}
}

// TestStatuses classifies statuses that real servers sent, or that their source code builds.
func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		status *commonpb.Status
		want   Kind
	}{
		{&commonpb.Status{Code: 100, Reason: "can't find collection[database=default][collection=x]"}, NotFound},
		{&commonpb.Status{Code: 101, Reason: "collection not loaded[collection=446]"}, NotLoaded},
		{
			&commonpb.Status{
				Code: 8, Reason: "request is rejected by grpc RateLimiter middleware: rate limit exceeded[rate=0.1]",
			},
			Limited,
		},
		{legacyStatus(commonpb.ErrorCode_RateLimit, "req type: Search is rejected"), Limited},
		{legacyStatus(commonpb.ErrorCode_ForceDeny, "force to deny"), Limited},
		{
			legacyStatus(commonpb.ErrorCode_UnexpectedError,
				"collection:x or partition:[] not loaded into memory when search"),
			NotLoaded,
		},
		{
			legacyStatus(commonpb.ErrorCode_UnexpectedError,
				"collection x has not been loaded to memory or load failed"),
			NotLoaded,
		},
		{
			legacyStatus(commonpb.ErrorCode_UnexpectedError, "DescribeCollection failed: can't find collection: x"),
			NotFound,
		},
		{legacyStatus(commonpb.ErrorCode_UnexpectedError, "fail to search: context deadline exceeded"), TimedOut},
		{&commonpb.Status{Code: 1100, Reason: "topk [20000] is invalid"}, Mismatch},
		{&commonpb.Status{Code: 1401, Reason: "privilege not permitted"}, Denied},
		{&commonpb.Status{Code: 65535, Reason: "what"}, Failed},
	} {
		var f *FaultError
		if err := statusFault(c.status, "h:1"); !errors.As(err, &f) || f.Kind != c.want {
			t.Errorf("%v: %+v, want %s", c.status, err, c.want)
		}
	}
	if err := statusFault(&commonpb.Status{}, "h:1"); err != nil {
		t.Errorf("success: %v", err)
	}
	if err := statusFault(nil, "h:1"); err != nil {
		t.Errorf("no status, as 2.1 sends for success: %v", err)
	}
}

func TestCallFaults(t *testing.T) {
	for _, c := range []struct {
		code    codes.Code
		message string
		want    Kind
	}{
		{codes.DeadlineExceeded, "context deadline exceeded", TimedOut},
		{codes.DeadlineExceeded, "context deadline exceeded, " +
			`last connection error: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`, Unreachable},
		{codes.Unavailable, "error reading from server: EOF", Unreachable},
		{codes.Unavailable, `connection error: desc = "error reading server preface: http2: frame too large"`, Garbled},
		{codes.Unauthenticated, "auth check failure, please check username and password are correct", Denied},
		{codes.Unknown, "auth check failure, please check api key is correct", Denied},
		{codes.PermissionDenied, "PrivilegeSearch: permission deny", Denied},
		{codes.ResourceExhausted, "request is rejected by grpc RateLimiter middleware, please retry later", Limited},
		{codes.ResourceExhausted, "grpc: received message larger than max (300000000 vs. 268435456)", Garbled},
		{codes.Unimplemented, "unknown service milvus.proto.milvus.MilvusService", Garbled},
	} {
		var f *FaultError
		if err := callFault(t.Context(), status.Error(c.code, c.message), "h:1", &Options{}); !errors.As(err, &f) ||
			f.Kind != c.want || f.Hint() == "" {
			t.Errorf("%s %s: %+v, want %s", c.code, c.message, err, c.want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("enough")
	cancel(gone)
	if err := callFault(ctx, status.Error(codes.Canceled, "context canceled"), "h:1", &Options{}); !errors.Is(err,
		gone) {
		t.Errorf("a caller who gave up is told %v", err)
	}
}

// TestFaultsRedacted checks that no fault contains secrets of a server's configuration, regardless of the
// function that creates it from a server message.
func TestFaultsRedacted(t *testing.T) {
	const planted = `cannot reach minio: secretAccessKey="PLANTED-a", password: PLANTED-b, token=PLANTED-c, http://root:PLANTED-d@minio:9000/`
	p := &postgres{addr: &address{host: "h:5432"}, o: &Options{}}
	faults := map[string]error{
		"worded": faultByMessage("permission deny: "+planted, "h"),
		"tls":    tlsFault("remote error: tls: "+planted, "h"),
		"about":  withContext("describe", fault(Failed, normalize(planted), "")),
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		faults["call "+code.String()] = callFault(t.Context(), status.Error(code, planted), "h:19530", &Options{})
	}
	for _, code := range []int32{1, 4, 8, 100, 101, 1100, 1400, 1401, 65535} {
		faults[fmt.Sprint("status ", code)] = statusFault(&commonpb.Status{Code: code, Reason: planted}, "h:19530")
	}
	for _, state := range []string{"28P01", "3D000", "42501", "42P01", "57014", "53300", "57P01", "XX000"} {
		faults["postgres "+state] = p.serverFault(&pgconn.PgError{
			Code: state, Message: planted, Detail: planted, Hint: planted,
		})
	}
	told := 0
	for name, err := range faults {
		text := err.Error()
		if f, ok := errors.AsType[*FaultError](err); ok {
			text += " " + f.Hint()
		}
		if strings.Contains(text, "PLANTED") {
			t.Errorf("%s: %s", name, text)
		}
		if strings.Contains(text, "cannot reach minio") {
			told++
		}
	}
	if told < 15 {
		t.Errorf("only %d of %d faults have the server's words", told, len(faults))
	}
}
