package model

import "strings"

// EnumWord shortens the name of an enum value, e.g. EnumWord("PCHANNEL_META_STATE_ASSIGNED",
// "PCHANNEL_META_STATE_") is "Assigned".
func EnumWord(name, prefix string) string {
	s := strings.TrimPrefix(name, prefix)
	if s == "" || strings.ToUpper(s) != s {
		return s
	}
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		if part != "" {
			b.WriteString(part[:1] + strings.ToLower(part[1:]))
		}
	}
	return b.String()
}
