package fate

import (
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/transcript"
)

const (
	// QuietEnd is how long a file must have been quiet for its last line to count
	// where nothing else bears it out. A task that prints what looks like the
	// client's last line works on for longer than that only by intent.
	QuietEnd = 5 * time.Second
	// askAfter is how long the last line has stood before it is asked who has the
	// file open, since the notification of a natural end comes sooner; askEvery is
	// the pause before it is asked again.
	askAfter = 500 * time.Millisecond
	askEvery = time.Second
)

// Output is how a task's output file looks.
type Output struct {
	Path string
	// Size is its length in bytes, -1 where there is none.
	Size int64
	// Written is when it was last written, and Quiet how long that is ago, by its
	// own time or by how long one has watched it.
	Written time.Time
	Quiet   time.Duration
	// Mark is what its last line says, and Code the exit code in it.
	Mark transcript.Mark
	Code int
	// Seen is when it was seen to be written like this; zero for one that was so
	// at first.
	Seen time.Time
	// Held tells whether a process has it open for writing, and whether that can be
	// told; nil cannot tell. To look for processes is not cheap.
	Held func() (held, known bool)
	// Next is when it is worth another look though it does not change, as long as
	// the task is not over; zero for never.
	Next time.Time
}

func (o Output) exit() *int {
	code := o.Code
	return &code
}

// Outputs looks at output files, and into one only where it changed.
type Outputs struct {
	Files host.Files
	// Held tells whether a process has a file open for writing, and whether that
	// can be told (docs/client.md: the processes of a background shell). nil cannot tell.
	Held func(path string) (held, known bool)
	// Unmarked tells that the client writes no last line under an output: up to
	// 2.1.220 what looks like one is the command's own.
	Unmarked bool

	known map[string]*seen
}

// seen is an output file as it was last looked at.
type seen struct {
	out Output
	// first is when it was first seen like this.
	first time.Time
	// held and known are what was last found of who has it open, and asked when.
	held, known bool
	asked       time.Time
}

// Look looks at a file at now.
func (o *Outputs) Look(path string, now time.Time) Output {
	if o.known == nil {
		o.known = map[string]*seen{}
	}
	info, err := o.Files.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		delete(o.known, path)
		return Output{Path: path, Size: -1}
	}
	have := o.known[path]
	if have == nil || have.out.Size != info.Size() || !have.out.Written.Equal(info.ModTime()) {
		out := Output{Path: path, Size: info.Size(), Written: info.ModTime()}
		if have != nil {
			out.Seen = now
		}
		if !o.Unmarked {
			out.Mark, out.Code = transcript.OutputMark(o.Files, path)
		}
		have = &seen{out: out, first: now}
		o.known[path] = have
	}
	have.out.Quiet = max(now.Sub(have.out.Written), now.Sub(have.first))
	out := have.out
	if out.Mark == transcript.NoMark {
		return out
	}
	switch {
	case o.Held == nil && out.Quiet < QuietEnd:
		out.Next = now.Add(QuietEnd - out.Quiet)
	case o.Held == nil: // nothing more will come of it
	case out.Quiet < askAfter:
		out.Next = now.Add(askAfter - out.Quiet)
	default:
		out.Next = now.Add(askEvery)
	}
	if o.Held != nil {
		out.Held = func() (bool, bool) { return o.ask(have, now) }
	}
	return out
}

// ask finds out who has the file open, now and then, as long as somebody may.
// Whoever opens it later is no part of the task.
func (o *Outputs) ask(s *seen, now time.Time) (held, known bool) {
	free := s.known && !s.held
	if again := s.asked.IsZero() || now.Sub(s.asked).Abs() >= askEvery; !free && again && s.out.Quiet >= askAfter {
		s.asked = now
		s.held, s.known = o.Held(o.Files.Path(s.out.Path))
	}
	return s.held, s.known
}
