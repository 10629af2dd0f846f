package live

import (
	"context"
	"slices"
	"strings"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// callFault says why a call to host has no answer. The caller's own end of ctx is told as it is.
func callFault(ctx context.Context, err error, host string, o *Options) error {
	if err == nil {
		return nil
	}
	if gone := ended(ctx); gone != nil {
		return gone
	}
	s := status.Convert(err)
	message := s.Message()
	switch s.Code() {
	case codes.DeadlineExceeded:
		// While there is no connection, grpc tells the last reason behind the deadline.
		if _, why, waited := strings.Cut(message, "last connection error: "); waited {
			return lost(why, host)
		}
		return late(ctx, o.Deadline)
	case codes.Canceled:
		return fault(Failed, "the target was closed", "")
	case codes.Unimplemented:
		return faultf(Garbled, "give the port of a Milvus proxy, 19530 by default", "%s is not Milvus: it does not know the call", host)
	case codes.Unauthenticated:
		return unauthenticated(host)
	case codes.PermissionDenied:
		return faultf(Denied, "grant the user the privileges to search and describe the collection", "permission denied by %s: %s", host, said(message))
	case codes.ResourceExhausted:
		if strings.Contains(message, "larger than max") {
			return fault(Garbled, "the answer is larger than requested, or than 256 MiB", "lower k, or send fewer vectors per request")
		}
		return limited(said(message))
	case codes.Unavailable:
		return lost(message, host)
	default:
	}
	if f := worded(message, host); f != nil {
		return f
	}
	if strings.Contains(message, "unexpected HTTP status code") || strings.Contains(message, "malformed header") || strings.Contains(message, "unmarshal") {
		return garbled(host)
	}
	return faultf(Failed, "", "%s: %s", s.Code(), said(message))
}

// lost says why there is no connection, by grpc's words: it keeps no error of those below.
func lost(message, host string) *FaultError {
	if f := tlsFault(message, host); f != nil {
		return f
	}
	has := func(signs ...string) bool {
		return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(message, sign) })
	}
	switch {
	case has("no such host"):
		return faultf(Unreachable, "check the address", "no such host: %s", host)
	case has("connection refused"):
		return faultf(Unreachable, "check the port, and that the server is running", "connect %s: connection refused", host)
	case has("no route to host", "network is unreachable"):
		return faultf(Unreachable, "check the address and the route", "connect %s: no route to host", host)
	case has("Error while dialing") && has("i/o timeout", "deadline exceeded"):
		return faultf(Unreachable, "check the address and firewalls", "connect %s: no connection in time", host)
	case has("looked like an HTTP/1.1 header", "unexpected HTTP status code", "frame too large"):
		return garbled(host)
	case has("server preface"):
		return faultf(Garbled, "it may require TLS, or not be Milvus; the proxy's default port is 19530",
			"%s closes connections without a gRPC response", host)
	}
	return faultf(Unreachable, "check that the server is still running", "the connection to %s was lost", host)
}

func garbled(host string) *FaultError {
	return faultf(Garbled, "give the port of a Milvus proxy, 19530 by default (9091 is metrics)", "%s is not a gRPC server, so not Milvus", host)
}

func unauthenticated(host string) *FaultError {
	return faultf(Denied, "put user and password into the address, or give a token", "%s rejects the credentials, or requires some", host)
}

func limited(why string) *FaultError {
	return fault(Limited, "limited: "+why, "the server's quotaAndLimits settings limit it; use a lower rate")
}

// Codes of statuses, of Milvus 2.3 on (pkg/util/merr/errors.go); before there was commonpb.ErrorCode alone.
const (
	codeNotReady         = 1
	codeUnavailable      = 2
	codeTooMany          = 4
	codeRateLimit        = 8
	codeQuota            = 9
	codeTickDelay        = 11
	codeNoCollection     = 100
	codeNotLoaded        = 101
	codePartlyLoaded     = 103
	codeRecovering       = 106
	codeNoPartition      = 200
	codePartNotLoaded    = 201
	codePartPartly       = 202
	codeNoIndex          = 700
	codeNoDatabase       = 800
	codeParameter        = 1100
	codeNotAuthenticated = 1400
	codeNotPermitted     = 1401
	codeNeedAuthenticate = 1800
)

// olderCode is all that Milvus before 2.3 tells.
//
//nolint:staticcheck // SA1019: older servers have no other
func olderCode(s *commonpb.Status) commonpb.ErrorCode { return s.GetErrorCode() }

// statusFault is what a status says that an answer carries, nil if all is well.
func statusFault(s *commonpb.Status, host string) error {
	code, old := s.GetCode(), olderCode(s)
	if code == 0 && old == commonpb.ErrorCode_Success {
		return nil
	}
	reason := said(s.GetReason())
	switch code {
	case codeRateLimit, codeQuota, codeTooMany, codeTickDelay:
		return limited(reason)
	case codeNoCollection, codeNoDatabase, codeNoPartition:
		return notFound(reason)
	case codeNotLoaded, codePartlyLoaded, codeRecovering, codePartNotLoaded, codePartPartly:
		return notLoaded()
	case codeNotAuthenticated, codeNeedAuthenticate:
		return unauthenticated(host)
	case codeNotPermitted:
		return denied(reason, host)
	case codeNotReady, codeUnavailable:
		return fault(Failed, "not ready: "+reason, "wait until the server is healthy")
	case codeParameter:
		return refused(reason)
	}
	switch old {
	case commonpb.ErrorCode_RateLimit, commonpb.ErrorCode_ForceDeny, commonpb.ErrorCode_TimeTickLongDelay,
		commonpb.ErrorCode_MemoryQuotaExhausted, commonpb.ErrorCode_DiskQuotaExhausted:
		return limited(reason)
	case commonpb.ErrorCode_CollectionNotExists, commonpb.ErrorCode_CollectionNameNotFound:
		return notFound(reason)
	case commonpb.ErrorCode_PermissionDenied:
		return denied(reason, host)
	default:
	}
	if f := worded(s.GetReason(), host); f != nil {
		return f
	}
	return fault(Failed, "refused: "+reason, "")
}

// worded knows faults by their words: Milvus before 2.3 tells most of them under UnexpectedError, and interceptors as plain
// errors of gRPC.
func worded(message, host string) *FaultError {
	lower := strings.ToLower(message)
	for _, known := range []struct {
		sign string
		made func() *FaultError
	}{
		{"auth check failure", func() *FaultError { return unauthenticated(host) }},
		{"unauthenticated", func() *FaultError { return unauthenticated(host) }},
		{"permission deny", func() *FaultError { return denied(said(message), host) }},
		{"permissiondenied", func() *FaultError { return denied(said(message), host) }},
		{"not loaded", notLoaded},
		{"not been loaded", notLoaded},
		{"not fully loaded", notLoaded},
		{"can't find collection", func() *FaultError { return notFound(said(message)) }},
		{"collection not found", func() *FaultError { return notFound(said(message)) }},
		{"database not found", func() *FaultError { return notFound(said(message)) }},
		{"rate limit", func() *FaultError { return limited(said(message)) }},
		{"force to deny", func() *FaultError { return limited(said(message)) }},
		{"queue is full", func() *FaultError { return limited(said(message)) }},
		{"deadline exceeded", func() *FaultError { return fault(TimedOut, "the server gave up at its deadline", "") }},
	} {
		if strings.Contains(lower, known.sign) {
			return known.made()
		}
	}
	return nil
}

func notFound(reason string) *FaultError {
	return fault(NotFound, "not found: "+reason, "check the names of collection and database")
}

func notLoaded() *FaultError {
	return fault(NotLoaded, "the collection is not loaded", "load it first: a replay never does")
}

func denied(reason, host string) *FaultError {
	return faultf(Denied, "grant the user the privileges to search and describe the collection", "permission denied by %s: %s", host, reason)
}

func refused(reason string) *FaultError {
	return fault(Mismatch, "refused: "+reason, "")
}
