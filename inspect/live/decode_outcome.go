package live

import (
	"strings"

	"kitescope/inspect/model"
)

// recordOutcome returns the outcome in a record: by its word, or, in recordings by other programs, by "CODE:
// details" of the gRPC error.
func recordOutcome(r *Record) model.Outcome {
	if o, ok := model.OutcomeOf(r.Outcome); ok {
		return o
	}
	if r.Error == "" {
		return model.Answered
	}
	code, details, found := strings.Cut(r.Error, ":")
	if !found {
		details = r.Error
	}
	if o := milvusFailure(r.Error); o != nil {
		return o.outcome
	}
	switch strings.ToUpper(strings.NewReplacer("_", "", " ", "").Replace(code)) {
	case "UNIMPLEMENTED":
		return model.Unimplemented
	case "UNAVAILABLE":
		return unavailable(details)
	case "DEADLINEEXCEEDED":
		return model.TimedOut
	case "UNAUTHENTICATED", "PERMISSIONDENIED":
		return model.Denied
	case "CANCELLED", "CANCELED":
		return model.CutOff
	case "RESOURCEEXHAUSTED":
		if strings.Contains(details, "larger than max") {
			return model.TooLarge
		}
	case "INTERNAL", "DATALOSS":
		return internalFailure(details).outcome
	}
	return textOutcome(details)
}

// unavailable returns the outcome for gRPC's UNAVAILABLE, by the words that its Go and C++ libraries use for
// errors of the operating system.
func unavailable(details string) model.Outcome {
	details = strings.ToLower(details)
	for _, known := range []struct {
		outcome model.Outcome
		signs   []string
	}{
		{model.Refused, []string{"connection refused"}},
		{model.Denied, []string{"certificate", "tls", "ssl_error"}},
		{model.CutOff, []string{"socket closed", "reset by peer", "eof", "goaway", "stream removed", "broken pipe"}},
	} {
		for _, sign := range known.signs {
			if strings.Contains(details, sign) {
				return known.outcome
			}
		}
	}
	return model.Unreachable
}
