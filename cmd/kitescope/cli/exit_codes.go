package cli

// ExitMeaning is the meaning of an exit code, in general and for single commands.
type ExitMeaning struct {
	Code    int
	Meaning string
	// ByCommand holds pairs of a command and its specific meaning, e.g. "diagnose", "findings at or above --fail-on".
	ByCommand [][2]string
}

// ExitCodes returns all exit codes. The help, the README and the reference are generated from them.
func ExitCodes() []ExitMeaning {
	return []ExitMeaning{
		{ExitOK, "done", [][2]string{{"| head", "a reader that closes the pipe ends it silently"}}},
		{ExitFailed, "failed: connection refused, no permission, damaged file", nil},
		{ExitUsage, "wrong usage: unknown flag, resource, column or context", nil},
		{ExitFindings, "findings at or above --fail-on, or differences", [][2]string{
			{"diagnose", "findings at or above --fail-on (error by default)"},
			{"impact", "requests that fail, are refused or hang (see its --fail-on)"},
			{"diff", "there are differences"},
			{"compare", "a metric got worse (see its --fail-on)"},
			{"pgo judge", "not worth a build"},
			{"pgo pack --check", "unfit"},
			{"pgo verify", "no effect"},
			{"pgo trial", "the result matches --fail-on"},
			{"engine verify", "a check failed"},
		}},
		{
			ExitIncomplete, "with --strict: something could not be read or decoded, or a process did not respond",
			[][2]string{{"pgo verify", "the result is unknown"}},
		},
		{ExitInterrupted, "interrupted", [][2]string{
			{"profile pull", "completed profiles are kept"},
			{"profile watch", "measurements so far are reported"},
		}},
	}
}
