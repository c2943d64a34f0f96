//go:build live

package live

import (
	"testing"
	"time"

	"stopgate/live/client"
	"stopgate/live/model"
)

func TestClient(t *testing.T) {
	if skip != "" {
		t.Skip(skip)
	}
	for _, c := range under.Clients {
		t.Run(c.Version, func(t *testing.T) {
			for _, s := range scenarios {
				for _, host := range s.Hosts {
					for _, m := range modes {
						if *onlyFlag != "" && *onlyFlag != m.Name {
							continue
						}
						t.Run(s.Name+"/"+string(host)+"/"+m.Name, func(t *testing.T) {
							t.Parallel()
							play(t, c, s, host, m)
						})
					}
				}
			}
		})
	}
}

func play(t *testing.T, c clientUnderTest, s scenario, host client.Host, m mode) {
	if m.Entries != nil && under.NoHook != "" {
		t.Skip(under.NoHook)
	}
	w := newWorld(t, c, s, host, m)
	defer func() { t.Log("\n" + w.story()) }()
	arrived := func() bool { return len(w.server.Of(s.lead())) > 0 }
	if err := w.session.Send(w.ctx, model.Prompt(s.lead()), arrived); err != nil {
		t.Fatal(err, w.session.Output())
	}
	w.wait("the model is asked", 20*time.Second, arrived)
	w.quiet(time.Second)
	for _, k := range w.shells() {
		w.release(k.Label)
	}
	w.quiet(settled)
	w.ended = w.session.End()
	if left := w.session.Gone(); len(left) > 0 {
		t.Log("left over:", left)
	}
}
