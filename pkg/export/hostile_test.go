package export

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"stopgate/pkg/ledger"
	"stopgate/pkg/otlp"
	"stopgate/pkg/status"
	"stopgate/pkg/telemetry"
	"stopgate/pkg/transcript"
)

// secret is a text that stands wherever a text can stand: with what a terminal takes
// for a command, a line's end, and a direction.
const secret = "SECRET-rm -rf /home/dev/proj\n\x1b[31m\u009b31m\u202e"

// poison puts the secret into every text of a value.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(secret)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Pointer:
		if v.Type().Elem().Kind() != reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			poison(v.Elem())
		}
	default:
	}
}

func poisoned[T any]() T {
	var v T
	poison(reflect.ValueOf(&v).Elem())
	return v
}

// poisonStore writes a session into the folder in whose record every text is a secret,
// and whose transcript holds nothing else.
func (w *world) poisonStore() {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "SECRET.jsonl")
	line, err := json.Marshal(map[string]any{"type": "user", "version": secret, "cwd": secret, "message": map[string]any{"role": "user", "content": secret}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, append(line, '\n'), 0o600); err != nil { //realtime: its time is of no matter
		w.t.Fatal(err)
	}
	err = ledger.Update(w.t.Context(), w.dir, "SECRET session", w.clock.now, func(tx *ledger.Tx) error {
		begun := tx.Session.Begun
		tx.Session = poisoned[ledger.Session]()
		tx.Session.Begun, tx.Session.Ended, tx.Session.LastEventAt, tx.Session.Transcript = begun, w.clock.now, w.clock.now, path
		tx.PutAgent(poisoned[ledger.Agent]())
		learned := ledger.Learned{Launches: []transcript.Launch{poisoned[transcript.Launch]()}, Ends: []transcript.End{poisoned[transcript.End]()}, Deliveries: []transcript.Delivery{poisoned[transcript.Delivery]()}}
		learned.Launches[0].At, learned.Ends[0].At = begun, w.clock.now
		learned.Launches[0].File, learned.Launches[0].Output, learned.Ends[0].Output = path, path, path
		tx.Merge(learned)
		tx.PutCourier(ledger.Courier{Task: secret, AgentID: secret, At: w.clock.now})
		for _, deed := range []ledger.Deed{ledger.Held, ledger.Stood, ledger.Woke, ledger.Stood, ledger.Left, ledger.Fell, ledger.Released, ledger.SwitchedOff, ledger.SwitchedOn, secret} {
			act := poisoned[ledger.Act]()
			act.Deed = deed
			tx.AddAct(act)
		}
		stop := poisoned[ledger.Stop]()
		stop.Time, stop.Held, stop.Duration = w.clock.now, 1e9, 2e9
		tx.AddStop(stop)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// Whatever stands in the record and in the transcripts: of no request of either
// protocol, headers and address included, is one byte of it. With leave it goes out, and
// what a terminal is shown of it holds no command to the terminal.
func TestNoTextOfAnybodysIsInAnyByte(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/json", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			w := recorded(t, session)
			w.poisonStore()
			var mu sync.Mutex
			var sent bytes.Buffer
			srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = io.Copy(&sent, r.Body)
				_ = r.Header.Write(&sent)
				sent.WriteString(r.URL.String())
			}))
			defer srv.Close()
			var targets []otlp.Target
			for _, signal := range otlp.Signals {
				target, err := otlp.Resolve(signal, func(string) string { return "" }, otlp.Settings{Endpoint: srv.URL, Protocol: protocol})
				if err != nil {
					t.Fatal(err)
				}
				targets = append(targets, target)
			}
			to, err := NewHTTP(targets)
			if err != nil {
				t.Fatal(err)
			}
			if r := w.once(to); r.Sessions != 2 || r.Logs < 10 {
				t.Fatalf("too little was sent: %+v", r)
			}
			for _, part := range []string{"SECRET", "rm -rf", "/home/dev", "[31m", "\u202e"} {
				if bytes.Contains(sent.Bytes(), []byte(part)) {
					t.Errorf("%q was sent", part)
				}
			}
		})
	}
	t.Run("with leave, on a terminal", func(t *testing.T) {
		t.Parallel()
		w := recorded(t, session)
		w.poisonStore()
		var shown bytes.Buffer
		e := w.exporter(Lines{&shown})
		e.Teller = telemetry.Teller{Texts: true, Command: func(status.Session, status.Task) string { return secret }}
		if _, err := e.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown.String(), "SECRET") {
			t.Error("nothing of it went out")
		}
		for line := range strings.Lines(shown.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("no JSON: %s", line)
			}
		}
		for _, part := range []string{"\x1b", "\u009b", "\u202e"} {
			if strings.Contains(shown.String(), part) {
				t.Errorf("%q is shown", part)
			}
		}
	})
}
