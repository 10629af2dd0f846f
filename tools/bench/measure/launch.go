package measure

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// launched is the report of Launch.
type launched struct {
	Started time.Time
	Cost
}

// Launch runs a command line on the standard streams of this process, writes its cost as JSON to report and
// returns its exit code, or 127 if the command or the report failed.
func Launch(args []string, report io.Writer) int {
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it ends when the program ends
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	l := launched{Started: time.Now()}
	err := cmd.Run()
	l.Wall = time.Since(l.Started)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		_, _ = io.WriteString(os.Stderr, err.Error()) // the exit code reports it too
		return 127
	}
	l.CPU, l.PeakRSS = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), peakRSS(cmd.ProcessState)
	if err := json.NewEncoder(report).Encode(l); err != nil {
		_, _ = io.WriteString(os.Stderr, err.Error())
		return 127
	}
	return cmd.ProcessState.ExitCode()
}
