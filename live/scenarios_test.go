//go:build live

package live

import (
	"stopgate/live/client"
	"stopgate/live/model"
)

// scenario is a story that a session plays, on some hosts.
type scenario struct {
	Name  string
	About string
	Hosts []client.Host
	Since string // the oldest client that can play it
	Smoke bool
	Env   []string
	Args  []string
	// Register changes the hook's registrations.
	Register func([]entry) []entry
	// Lead is the script of the coordinator, "lead" if empty.
	Lead    string
	Scripts func(w *world) map[string]model.Script
	// Turns is how often each script is asked at most.
	Turns int
}

func (s scenario) lead() string {
	if s.Lead != "" {
		return s.Lead
	}
	return "lead"
}

var everywhere = []client.Host{client.Print, client.SDK, client.Terminal}

var scenarios = []scenario{
	{
		Name: "fg", About: "a foreground subagent leaves a shell", Hosts: everywhere, Smoke: true,
		Scripts: func(w *world) map[string]model.Script {
			return map[string]model.Script{
				"lead": steps("lead", []model.Block{agent("leaver", false)}),
				"leaver": w.obeying("leaver",
					[]model.Block{w.shell("own")}),
			}
		},
	},
}
