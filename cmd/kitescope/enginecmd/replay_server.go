package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/usage"
	"kitescope/replay"
	"kitescope/replay/live"
	"kitescope/replay/load"
)

// localServer is the process of a target on this machine, with its resource usage so far.
type localServer struct {
	process *usage.Process
	last    usage.Reading
	readErr error // the first read error; no values are known after it
}

// findServer returns the process that serves a target, or nil if it is on another machine. It returns an error
// if the usage of the process cannot be read.
func findServer(ctx context.Context, a *cli.App, target live.Target) (*localServer, error) {
	server := target.Server()
	p, err := usage.OpenListener(server.Network, server.Address, server.Commands, a.Now)
	switch {
	case errors.Is(err, usage.ErrNotLocal):
		return nil, nil //nolint:nilnil // there is none here
	case err != nil:
		return nil, err
	}
	if server.SingleProcess != nil && !server.SingleProcess(p.Arguments()) {
		return nil, fmt.Errorf("%s forwards to several processes: watch them with kitescope profile watch", p.Name())
	}
	s := &localServer{process: p}
	s.read(ctx)
	return s, s.readErr
}

// read reads the usage of the process. After an error it keeps the last values.
func (s *localServer) read(ctx context.Context) {
	if s.readErr != nil {
		return
	}
	r, err := s.process.Read(ctx)
	if err == nil && !r.Values.Known(usage.CPU) {
		err = errors.New("it does not report its CPU use")
	}
	if err != nil {
		s.readErr = fmt.Errorf("%s: %w", s.process.Name(), err)
		return
	}
	s.last = r
}

// setClocks sets the clocks of a plan to the usage of the server, until ctx ends.
func (s *localServer) setClocks(ctx context.Context, p *load.Plan) {
	p.CPU = func() time.Duration {
		s.read(ctx)
		return time.Duration(s.last.Values[usage.CPU] * float64(time.Second))
	}
	if v := &s.last.Values; v.Known(usage.Voluntary) && v.Known(usage.Involuntary) {
		p.Switches = func() (voluntary, involuntary int64) { // from the reading that p.CPU took just before
			return int64(s.last.Values[usage.Voluntary]), int64(s.last.Values[usage.Involuntary])
		}
	}
}

// noteCPU adds a note to a result that names the process whose CPU was measured. If reading the process failed, it
// removes the figures instead. Read errors after ctx has ended are ignored because the measurement was over.
func (s *localServer) noteCPU(ctx context.Context, r *replay.Result) {
	if s.readErr == nil || ctx.Err() != nil {
		r.Notes = append(r.Notes,
			"CPU and context switches are from "+s.process.Name()+" and its children, including other work meanwhile")
		return
	}
	r.Notes = append(r.Notes, "CPU and context switches of the server are unknown: "+s.readErr.Error())
	for i := range r.Points {
		p := &r.Points[i]
		p.CPUPerQuery, p.SwitchesPerQuery, p.VoluntaryPerQuery, p.InvoluntaryPerQuery = 0, 0, 0, 0
		for j := range p.Repeats {
			p.Repeats[j].CPU = 0
		}
	}
}
