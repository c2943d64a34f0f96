package transcript

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stopgate/pkg/host"
	"stopgate/pkg/host/hosttest"
)

func TestAnInbox(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		text string
		want []Mail
		ok   bool
	}{
		"empty":                 {`[]`, nil, true},
		"as the client writes":  {`[{"from":"lead","text":"hello","timestamp":"2026-03-01T12:00:00.000Z","type":"message","read":true},{"from":"lead","text":"go","summary":"s","timestamp":"2026-03-01T12:00:00.000Z","type":"message","read":false}]`, []Mail{{At: at, Read: true}, {At: at}}, true},
		"without a time":        {`[{"from":"lead","text":"hello"}]`, []Mail{{}}, true},
		"that somebody is idle": {`[{"from":"ping","text":"{\"type\":\"idle_notification\",\"from\":\"ping\"}","timestamp":"2026-03-01T12:00:00Z"}]`, []Mail{{At: at, Idle: true}}, true},
		"a wish to shut down":   {`[{"from":"lead","text":"{\"type\":\"shutdown_request\"}","timestamp":"2026-03-01T12:00:00Z"}]`, []Mail{{At: at}}, true},
		"text about being idle": {`[{"from":"lead","text":"idle_notification","timestamp":"2026-03-01T12:00:00Z"}]`, []Mail{{At: at}}, true},
		"no entries":            {`[1,null,"x",[],{},{"text":7},{"from":"lead"}]`, nil, true},
		"half written":          {`[{"from":"lead","text":"hel`, nil, false},
		"no list":               {`{"from":"lead","text":"x"}`, nil, false},
		"nothing":               {``, nil, false},
		"nested without end":    {strings.Repeat("[", 200_000), nil, false},
		"too long":              {`["` + strings.Repeat("x", maxInbox) + `"]`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ping.json")
			hosttest.Write(t, at, path, test.text)
			mail, err := Inbox(host.Files{}, path)
			if (err == nil) != test.ok || !slices.EqualFunc(mail, test.want, func(a, b Mail) bool {
				return a.At.Equal(b.At) && a.Read == b.Read && a.Idle == b.Idle
			}) {
				t.Errorf("%+v, %v", mail, err)
			}
		})
	}
	if _, err := Inbox(host.Files{}, t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}
