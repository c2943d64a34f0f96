package fate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"stopgate/pkg/host/hosttest"
	"stopgate/pkg/transcript"
)

func TestAnOutputFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "b1.output")
	outputs := Outputs{}
	look := func(at time.Time) Output { return outputs.Look(path, at) }
	if o := look(noon); o.Size != -1 || o.Mark != transcript.NoMark || o.Path != path {
		t.Errorf("one that is missing: %+v", o)
	}
	hosttest.Write(t, noon, path, "working\n")
	if o := look(noon); o.Size != 8 || o.Mark != transcript.NoMark || !o.Seen.IsZero() || !o.Next.IsZero() {
		t.Errorf("one without a mark: %+v", o)
	}
	hosttest.Append(t, noon.Add(time.Second), path, "[exited with code 3]\n")
	o := look(noon.Add(2 * time.Second))
	if o.Mark != transcript.MarkExited || o.Code != 3 || !o.Written.Equal(noon.Add(time.Second)) || o.Quiet != time.Second || !o.Seen.Equal(noon.Add(2*time.Second)) || !o.Next.Equal(noon.Add(6*time.Second)) {
		t.Errorf("one with a mark: %+v", o)
	}
	if o := look(noon.Add(6 * time.Second)); o.Quiet != QuietEnd || !o.Next.IsZero() || !o.Seen.Equal(noon.Add(2*time.Second)) {
		t.Errorf("one that was quiet: %+v", o)
	}
	// Its own time may be wrong: then it is quiet since it was first seen so.
	hosttest.Append(t, noon.Add(time.Hour), path, "\n[killed]\n")
	look(noon.Add(10 * time.Second))
	if o := look(noon.Add(15 * time.Second)); o.Mark != transcript.MarkKilled || o.Quiet != QuietEnd {
		t.Errorf("one of the future: %+v", o)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if o := look(noon); o.Size != -1 || o.Mark != transcript.NoMark {
		t.Errorf("one that is gone: %+v", o)
	}
	if o := outputs.Look(filepath.Dir(path), noon); o.Size != -1 {
		t.Errorf("a folder: %+v", o)
	}
	if o := outputs.Look("", noon); o.Size != -1 {
		t.Errorf("no file: %+v", o)
	}
}

// A client that writes no last line has no say in what a command prints.
func TestAnOutputOfAnOldClient(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"[exited with code 0]\n", "[killed]\n"} {
		path := filepath.Join(t.TempDir(), "b1.output")
		hosttest.Write(t, noon, path, line)
		if o := (&Outputs{Unmarked: true}).Look(path, noon.Add(time.Hour)); o.Mark != transcript.NoMark || o.Size != int64(len(line)) {
			t.Errorf("%q: %+v", line, o)
		}
	}
}

// Who has the file open is asked when the notification has had its time, and then
// now and then as long as somebody has.
func TestWhoHasAnOutputOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "b1.output")
	hosttest.Write(t, noon, path, "[exited with code 0]\n")
	asked, held := 0, true
	outputs := Outputs{Held: func(p string) (bool, bool) {
		if asked++; p != path {
			t.Errorf("asked of %s", p)
		}
		return held, true
	}}
	for _, step := range []struct {
		after       time.Duration
		leave       bool
		asked       int
		known, held bool
		next        time.Duration
	}{
		{after: 100 * time.Millisecond, next: 500 * time.Millisecond},
		{after: 500 * time.Millisecond, asked: 1, known: true, held: true, next: 1500 * time.Millisecond},
		{after: 900 * time.Millisecond, asked: 1, known: true, held: true, next: 1900 * time.Millisecond},
		{after: 1500 * time.Millisecond, asked: 2, known: true, held: true, next: 2500 * time.Millisecond},
		{after: 20 * time.Second, asked: 3, known: true, held: true, next: 21 * time.Second},
		{after: 21 * time.Second, leave: true, asked: 4, known: true, next: 22 * time.Second},
		{after: 30 * time.Second, asked: 4, known: true, next: 31 * time.Second},
	} {
		held = held && !step.leave
		o := outputs.Look(path, noon.Add(step.after))
		if before := asked; o.Held == nil || before != asked {
			t.Fatalf("after %s: asked without need: %+v", step.after, o)
		}
		isHeld, known := o.Held()
		next := time.Time{}
		if step.next > 0 {
			next = noon.Add(step.next)
		}
		if asked != step.asked || known != step.known || isHeld != step.held || !o.Next.Equal(next) {
			t.Errorf("after %s: asked %d times, %+v", step.after, asked, o)
		}
	}
	hosttest.Append(t, noon.Add(time.Minute), path, "more\n")
	if o := outputs.Look(path, noon.Add(time.Hour)); asked != 4 || o.Held != nil {
		t.Errorf("without a mark: asked %d times, %+v", asked, o)
	}
}

// Where it cannot be told for a file, its quiet decides.
func TestAnOutputOfWhichNobodyCanTell(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "b1.output")
	hosttest.Write(t, noon, path, "[exited with code 0]\n")
	outputs := Outputs{Held: func(string) (bool, bool) { return false, false }}
	for after, over := range map[time.Duration]bool{time.Second: false, QuietEnd: true} {
		if f := Judge(Signs{Output: outputs.Look(path, noon.Add(after)), Launched: noon}); f.Over() != over {
			t.Errorf("after %s: %+v", after, f)
		}
	}
}
