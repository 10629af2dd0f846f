package live

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"kitescope/inspect/model"
)

// readJSON decodes the JSON response of a page into a value. The parameter what is a noun for error messages,
// e.g. "a list of clients".
func readJSON(body []byte, what string, begin byte, into any) *failure {
	start := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(start) == 0:
		return newFailure(model.Garbled, "the answer is empty")
	case start[0] == '<':
		return newFailure(model.Garbled, "the answer is an HTML page, not %s: check what is in front of the process",
			what)
	}
	if f := checkSize(decodedJSONSize(body)); f != nil {
		return f
	}
	if said, ok := embeddedError(body); ok {
		return newFailure(model.Failed, "%s", said)
	}
	if start[0] != begin {
		return newFailure(model.Garbled, "the answer is not %s", what)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return newFailure(model.Garbled, "the answer is not %s", what)
	}
	return nil
}

// embeddedError returns the error text of a response that holds only an error, whatever its HTTP status: {"msg":
// "..."} from the management pages, or {"code": 1800, "message": "..."} from the console
// (internal/http/constant.go: HTTPReturnMessage).
func embeddedError(body []byte) (text string, ok bool) {
	if len(body) > maxTrouble {
		return "", false
	}
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return "", false
	}
	for _, key := range []string{"msg", "message", "error", "reason"} {
		if said, is := fields[key].(string); is && said != "OK" {
			text = cmp.Or(text, said)
		}
		delete(fields, key)
	}
	if delete(fields, "status"); len(fields) > 1 || len(fields) == 1 && fields["code"] == nil {
		return "", false // the response holds other fields
	}
	if code, is := fields["code"].(float64); is && text != "" && code != 0 {
		text = fmt.Sprintf("%s (code %.0f)", text, code)
	}
	return text, text != ""
}
