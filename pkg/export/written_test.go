package export

import (
	"context"
	"testing"

	"stopgate/pkg/otlp"
)

// looking is a sender that looks what is written down when something is sent.
type looking struct {
	t *testing.T
	w *world
}

func (l looking) Send(_ context.Context, signal otlp.Signal, message any) (otlp.Rejected, error) {
	c, err := readCursor(l.w.dir.Cursor("otlp"), l.w.clock.Now())
	if err != nil || c.Pending == nil {
		l.t.Errorf("%s are sent, and what would be sent again after a crash is not written down: %v", signal, err)
		return otlp.Rejected{}, nil
	}
	for pending, kept := range c.Pending.Messages() {
		a, _ := otlp.JSON(kept)
		b, _ := otlp.JSON(message)
		if pending == signal && string(a) != string(b) {
			l.t.Errorf("%s are sent as %s, and written down as %s", signal, b, a)
		}
	}
	return otlp.Rejected{}, nil
}

// A process that is killed while it sends leaves what it sends behind.
func TestWhatIsSentIsWrittenDownBefore(t *testing.T) {
	t.Parallel()
	w := recorded(t, session)
	if r := w.once(looking{t, w}); r.Spans == 0 {
		t.Error("nothing was sent")
	}
}
