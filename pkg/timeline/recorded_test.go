package timeline

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"stopgate/pkg/replay/replaytest"
	"stopgate/pkg/status"
)

const captures = "../replay/testdata/captures"

// recorded is the timeline of a recorded session, at its last event.
func recorded(t testing.TB, name string, args ...string) Timeline {
	t.Helper()
	_, play := replaytest.Played(t, filepath.Join(captures, filepath.FromSlash(name)), args...)
	return Build(read(t, status.Source{Dir: play.State, Files: play.Files, Now: play.Clock().Now(), Env: func(string) string { return "" }})).In(time.UTC)
}

// read gathers the record of the one session of a source.
func read(t testing.TB, src status.Source) Record {
	t.Helper()
	st, err := src.Load(context.Background(), status.Filter{All: true})
	if err != nil || len(st.Sessions) != 1 {
		t.Fatalf("loaded %d sessions: %v", len(st.Sessions), err)
	}
	r, err := Source{Dir: src.Dir, Files: src.Files, Now: src.Now}.Read(context.Background(), st.Sessions[0])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func page(t testing.TB, line Timeline) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Layout(line).HTML(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
