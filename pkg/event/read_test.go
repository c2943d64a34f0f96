package event

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// patient is an idle limit that no passing test reaches.
const patient = 30 * time.Second

// forever is a total limit that no machine is too slow for.
const forever = time.Hour

// drip gives a few bytes at each reading.
type drip struct {
	text string
	n    int
}

func (d *drip) Read(p []byte) (int, error) {
	if d.text == "" {
		return 0, io.EOF
	}
	n := copy(p, d.text[:min(d.n, len(d.text))])
	d.text = d.text[n:]
	return n, nil
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], e)
	}
	return len(p), nil
}

func TestReading(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		r    io.Reader
		want string
		err  error
	}{
		{"one object", strings.NewReader(example), example, nil},
		{"in pieces of three bytes", &drip{example, 3}, example, nil},
		{"byte by byte", iotest.OneByteReader(strings.NewReader(example)), example, nil},
		{"with the end in the last reading", iotest.DataErrReader(strings.NewReader(example)), example, nil},
		{"two documents", strings.NewReader(`{"a":1}{"b":2}`), `{"a":1}`, nil},
		{"two documents in pieces", &drip{`{"a":1}` + "\n" + `{"b":2}`, 5}, `{"a":1}`, nil},
		{"a document and garbage without end", io.MultiReader(strings.NewReader(`{"a":1}`), endless("x")), `{"a":1}`, nil},
		{"with space around", strings.NewReader(" \r\n{\"a\":1}\r\n"), " \r\n{\"a\":1}", nil},
		{"with a mark of byte order", strings.NewReader("\ufeff{}"), "\ufeff{}", nil},
		{"brackets in strings", strings.NewReader(`{"a":"}\"]"} `), `{"a":"}\"]"}`, nil},
		{"nothing", strings.NewReader(""), "", nil},
		{"space only", strings.NewReader(" \n "), "", nil},
		{"an early end", strings.NewReader(`{"a":`), `{"a":`, nil},
		{"null", strings.NewReader("null\n"), "null", nil},
		{"garbage without end", endless("no brackets here "), "", ErrTooLarge},
		{"a string without end", io.MultiReader(strings.NewReader(`{"a":"`), endless("x")), "", ErrTooLarge},
		{"brackets without end", endless("["), "", ErrTooDeep},
		{"a broken pipe", iotest.ErrReader(io.ErrUnexpectedEOF), "", io.ErrUnexpectedEOF},
		{"breaking in the middle", io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(io.ErrClosedPipe)), "", io.ErrClosedPipe},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Read(c.r, patient, forever)
			if string(got) != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %.60q, %v", got, err)
			}
		})
	}
}

func TestReadingFiveMegabytes(t *testing.T) {
	t.Parallel()
	payload := `{"last_assistant_message":"` + strings.Repeat("x", 5<<20) + `"}`
	if got, err := Read(&drip{payload, 7777}, patient, forever); err != nil || string(got) != payload {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// pipes are what stdin can be: a pipe of the system, which is waited for in the
// kernel, and any other reader.
func pipes(t *testing.T) map[string]func() (io.Reader, io.WriteCloser) {
	t.Helper()
	return map[string]func() (io.Reader, io.WriteCloser){
		"a pipe": func() (io.Reader, io.WriteCloser) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() })
			return r, w
		},
		"another reader": func() (io.Reader, io.WriteCloser) { return io.Pipe() },
	}
}

// An end that never comes is not waited for once the object is whole.
func TestAPipeThatIsNeverClosed(t *testing.T) {
	t.Parallel()
	for name, make := range pipes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := make()
			defer w.Close()
			go func() { _, _ = w.Write([]byte(example)) }()
			if got, err := Read(r, patient, forever); err != nil || string(got) != example {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Nothing for the idle limit is the end of it; a little now and then is not.
func TestIdle(t *testing.T) {
	t.Parallel()
	for name, make := range pipes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := make()
			defer w.Close()
			go func() { _, _ = w.Write([]byte(`{"a":`)) }()
			began := time.Now()
			if got, err := Read(r, 60*time.Millisecond, forever); !errors.Is(err, ErrIdle) {
				t.Errorf("got %q, %v", got, err)
			}
			if took := time.Since(began); took < 60*time.Millisecond || took > 10*time.Second {
				t.Errorf("gave up after %v", took)
			}
			r, w = make()
			go func() {
				// Each pause is far below the limit, all together are beyond it.
				for piece := range strings.SplitSeq(`{"a":|[1,|2,|3]|}`, "|") {
					_, _ = w.Write([]byte(piece))
					time.Sleep(200 * time.Millisecond)
				}
				_ = w.Close()
			}()
			if got, err := Read(r, 700*time.Millisecond, forever); err != nil || string(got) != `{"a":[1,2,3]}` {
				t.Errorf("in pieces: got %q, %v", got, err)
			}
		})
	}
}

// Whoever brings a little for ever is given up too, and whatever has come by then is
// no event.
func TestAPipeThatTricklesForEver(t *testing.T) {
	t.Parallel()
	for name, make := range pipes(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := make()
			defer time.AfterFunc(20*time.Second, func() { _ = w.Close() }).Stop() // else it would never be red
			defer w.Close()
			go func() {
				for err := error(nil); err == nil; time.Sleep(time.Millisecond) {
					_, err = w.Write([]byte(" "))
				}
			}()
			began := time.Now()
			if got, err := Read(r, patient, 200*time.Millisecond); !errors.Is(err, ErrSlow) {
				t.Errorf("got %q, %v", got, err)
			}
			if took := time.Since(began); took < 200*time.Millisecond || took > 10*time.Second {
				t.Errorf("gave up after %v", took)
			}
		})
	}
}

func TestFilesForStdin(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if got, err := Read(null, patient, forever); err != nil || len(got) != 0 {
		t.Errorf("the null device gave %q, %v", got, err)
	}
	path := t.TempDir() + "/payload"
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(file, patient, forever); err != nil || string(got) != example {
		t.Errorf("a file gave %q, %v", got, err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(file, 50*time.Millisecond, forever); err == nil {
		t.Errorf("a closed file gave %q", got)
	}
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if got, err := Read(folder, 50*time.Millisecond, forever); err == nil {
		t.Errorf("a folder gave %q", got)
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("on purpose") }

func TestAReaderThatPanics(t *testing.T) {
	t.Parallel()
	if got, err := Read(panicking{}, patient, forever); err == nil {
		t.Errorf("got %q", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(example), 3)
	f.Add([]byte(`{"a":"\"}"}{`), 1)
	f.Add([]byte("null"), 2)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		n = 1 + (n&0xff)%64
		whole, err1 := Read(bytes.NewReader(data), patient, forever)
		parts, err2 := Read(&drip{string(data), n}, patient, forever)
		if !bytes.Equal(whole, parts) || (err1 == nil) != (err2 == nil) {
			t.Errorf("whole %q %v, in parts %q %v", whole, err1, parts, err2)
		}
		if len(whole) > len(data) {
			t.Errorf("%d bytes became %d", len(data), len(whole))
		}
	})
}
