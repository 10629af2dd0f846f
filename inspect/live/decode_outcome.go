package live

import (
	"strings"

	"kitescope/inspect/model"
)

// recordOutcome is how a question ended as its record tells it: by the word of an outcome; in recordings of before there was one, by
// the error, whose code is known where it is UNIMPLEMENTED.
func recordOutcome(r *Record) model.Outcome {
	if o, ok := model.OutcomeOf(r.Outcome); ok {
		return o
	}
	switch {
	case r.Error == "":
		return model.Answered
	case strings.HasPrefix(r.Error, "UNIMPLEMENTED"):
		return model.Unimplemented
	}
	return textOutcome(r.Error)
}
